//! Working folders: whether an agent may work in one. The wrong folder would hand it everything below: keys, shell
//! start-up files, Bosun's own settings and journal. Decided by the path alone; the file system is not read.

use std::path::{Path, PathBuf};

use types::{Decision, RuleId, Sensitive};

/// Protected folders of a machine, as canonical paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineFolders {
    /// The home folder of the user.
    pub home: Option<PathBuf>,
    /// The folders of Bosun's journal, worktrees and settings.
    pub own: Vec<PathBuf>,
    /// Policies that were named: agents may read them, and not change them.
    pub policies: Vec<PathBuf>,
}

/// System folders, refused with everything below them.
const SYSTEM: [&str; 11] = [
    "/etc", "/boot", "/proc", "/sys", "/dev", "/bin", "/sbin", "/lib", "/lib64", "/run", "/System",
];
/// Folders that are refused themselves; folders below them are not.
const SHARED: [&str; 11] = [
    "/usr",
    "/var",
    "/opt",
    "/home",
    "/root",
    "/Users",
    "/srv",
    "/mnt",
    "/media",
    "/run/media",
    "/nix",
];

/// Why a folder is refused, if it is. `home_allowed`: a person has confirmed a home folder.
#[must_use]
pub fn refusal(folder: &Path, machine: &MachineFolders, home_allowed: bool) -> Option<Decision> {
    let shown = folder.display();
    let no = |rule: &'static str, why: String| Some(Decision::new(RuleId::fixed(rule), why));
    let is_home = machine.home.as_deref() == Some(folder);
    if folder.parent().is_none() {
        return no(
            "folder.root",
            format!("{shown} is the root of the file system; use a project folder"),
        );
    }
    let mounted = folder.starts_with("/run/media");
    if !mounted && SYSTEM.iter().any(|system| folder.starts_with(system)) {
        return no("folder.system", format!("{shown} is a system folder; use a project folder"));
    }
    if is_home && !home_allowed {
        let why = format!(
            "{shown} is a home folder: an agent could read and change the files of all your programs there. Use a folder \
             below it, or pass --here-anyway; keys and Bosun's own state remain inaccessible even then"
        );
        return no("folder.home", why);
    }
    let above_home = machine.home.as_deref().is_some_and(|home| home.starts_with(folder));
    if !is_home && (above_home || SHARED.iter().any(|shared| Path::new(shared) == folder)) {
        let why =
            format!("{shown} contains folders of other users or programs; use a project folder");
        return no("folder.shared", why);
    }
    // In a confirmed home folder the sandbox hides Bosun's own folders; no command runs there unsandboxed.
    let ours = |own: &&PathBuf| folder.starts_with(own) || (own.starts_with(folder) && !is_home);
    if let Some(own) = machine.own.iter().find(ours) {
        let why = format!(
            "{shown} overlaps with Bosun's own state or settings ({}); use another folder, or move those with --home",
            own.display()
        );
        return no("folder.own_state", why);
    }
    match kind(folder) {
        Some(kind @ (Sensitive::Credentials | Sensitive::OwnSettings)) => {
            no("folder.credentials", format!("{shown} {}; agents may not work there", kind.says()))
        }
        _ => None,
    }
}

/// The kind of a folder by its name, or by that of one above it.
fn kind(folder: &Path) -> Option<Sensitive> {
    Sensitive::of_text(folder.to_string_lossy().trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> MachineFolders {
        let own = ["/people/me/.local/state/bosun", "/people/me/.config/bosun", "/data/state"];
        let own = own.map(PathBuf::from).to_vec();
        MachineFolders { home: Some("/people/me".into()), own, policies: vec![] }
    }

    fn rule(folder: &str, home_allowed: bool) -> Option<String> {
        refusal(Path::new(folder), &machine(), home_allowed).map(|no| no.rule.to_string())
    }

    #[test]
    fn places_that_are_no_project_are_refused_with_the_reason() {
        for (folder, id) in [
            ("/", "folder.root"),
            ("/etc", "folder.system"),
            ("/etc/nginx", "folder.system"),
            ("/usr", "folder.shared"),
            ("/home", "folder.shared"),
            ("/root", "folder.shared"),
            ("/people/me", "folder.home"),
            ("/people/me/.ssh", "folder.credentials"),
            ("/people/me/.ssh/sub", "folder.credentials"),
            ("/people/me/code/.bosun", "folder.credentials"),
            ("/people/me/.config", "folder.own_state"),
            ("/people/me/.config/bosun", "folder.own_state"),
            ("/people/me/.local/state/bosun/worktrees", "folder.own_state"),
            ("/data", "folder.own_state"),
            ("/data/state", "folder.own_state"),
        ] {
            assert_eq!(rule(folder, false).as_deref(), Some(id), "{folder}");
        }
        for folder in [
            "/people/me/code",
            "/projects/repo",
            "/usr/src/app",
            "/run/media/me/disk/repo",
            "/people/you/x",
            "/tmp/x",
            "/data2",
        ] {
            assert_eq!(rule(folder, false), None, "{folder}");
        }
    }

    #[test]
    fn only_a_home_folder_can_be_meant() {
        assert_eq!(rule("/people/me", true), None);
        for folder in ["/", "/etc", "/home", "/people/me/.ssh", "/data/state", "/people/me/.config"]
        {
            assert!(rule(folder, true).is_some(), "{folder}");
        }
    }
}
