//! Effective tools of a role: its tools without those that its manifest does not permit. No manifest can grant the
//! whole network.

use types::{NetworkLeave, Policy, Role};

/// The permission that a tool needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Network,
    Filesystem,
}

/// Tools that need a permission. Searching lines (`grep`) and showing changes (`git_diff`) need none; reading whole
/// files or folders and any writing do.
const NEEDS: &[(&str, Needs)] = &[
    ("web_fetch", Needs::Network),
    ("web_search", Needs::Network),
    ("read_file", Needs::Filesystem),
    ("write_file", Needs::Filesystem),
    ("edit_file", Needs::Filesystem),
    ("apply_patch", Needs::Filesystem),
    ("delete_file", Needs::Filesystem),
    ("move_file", Needs::Filesystem),
    ("list_dir", Needs::Filesystem),
    ("glob", Needs::Filesystem),
    ("git", Needs::Filesystem),
    ("git_commit", Needs::Filesystem),
    ("git_clone", Needs::Filesystem),
    ("git_clone", Needs::Network),
    ("shell", Needs::Filesystem),
    ("process", Needs::Filesystem),
];

/// The tools of a role that its manifest permits.
#[must_use]
pub fn effective_tools(role: &Role) -> Vec<String> {
    let Some(manifest) = &role.manifest else { return role.tools.clone() };
    let hosts = matches!(&manifest.network, NetworkLeave::Hosts(hosts) if !hosts.is_empty());
    let has = |needs: Needs| match needs {
        Needs::Network => hosts,
        Needs::Filesystem => manifest.filesystem,
    };
    let may = |tool: &&String| {
        NEEDS.iter().filter(|(name, _)| name == tool).all(|(_, needs)| has(*needs))
    };
    role.tools.iter().filter(may).cloned().collect()
}

/// Reports manifests that grant more than the operator does.
pub(crate) fn problems(policy: &Policy, found: &mut Vec<String>) {
    for (id, role) in &policy.roles {
        let Some(manifest) = &role.manifest else { continue };
        let NetworkLeave::Hosts(hosts) = &manifest.network else { continue };
        for host in hosts.iter().filter(|host| !policy.sandbox.network.contains(host)) {
            found.push(format!(
                "the manifest of {id} names {host}, which sandbox.network does not grant"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(text: &str) -> Role {
        let role = format!("prompt = 'p'\nmax_turns = 1\nmax_output_tokens = 1\n{text}");
        toml::from_str(&role).expect("a role")
    }

    /// C58: effective tools are computed; a request for the whole network is not granted.
    #[test]
    fn a_role_keeps_only_the_tools_for_which_it_has_leave() {
        let tools = "tools = ['read_file', 'grep', 'web_fetch', 'submit']";
        let with = |manifest: &str| effective_tools(&role(&format!("{tools}\n{manifest}")));
        assert_eq!(with(""), ["read_file", "grep", "web_fetch", "submit"]);
        assert_eq!(with("manifest = { filesystem = false }"), ["grep", "submit"]);
        assert_eq!(with("manifest = { network = true }"), ["grep", "submit"]);
        let git = role(
            "tools = ['git_diff', 'git_commit', 'git_clone']\nmanifest = { filesystem = false }",
        );
        assert_eq!(effective_tools(&git), ["git_diff"]);
        assert_eq!(
            with("manifest = { network = ['a.test'], filesystem = true }"),
            ["read_file", "grep", "web_fetch", "submit"]
        );
    }

    /// C23: a manifest that grants more than the operator does is refused before anything starts.
    #[test]
    fn a_manifest_beyond_what_the_operator_grants_is_a_problem() {
        let mut policy = samples::audited();
        assert_eq!(crate::policy::problems(&policy), Vec::<String>::new());
        let dev = policy.roles.get_mut(&types::RoleId::fixed("dev")).expect("it is there");
        let hosts = NetworkLeave::Hosts(vec!["a.test".to_owned()]);
        dev.manifest = Some(types::Manifest { network: hosts, filesystem: true });
        let found = crate::policy::problems(&policy).join("\n");
        assert!(found.contains("the manifest of dev names a.test"), "{found}");
    }
}
