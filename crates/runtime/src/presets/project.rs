//! The policy of a project, in `.bosun/` at its top. It comes with the code, perhaps from an untrusted author: picked
//! up automatically, it may choose how the work is done, but not weaken the sandbox, spend more, or work in the
//! person's own files. Naming the file with `--policy` lifts that.

use std::path::{Path, PathBuf};

use types::{Budget, Inherit, Permission, PermitRule, Policy, SandboxPolicy, WorkPath};

use super::{PolicyError, names, preset, read_with};
use crate::prompts::Prompts;

/// The path of a project's policy, from its top.
pub const POLICY: &str = ".bosun/policy.toml";
/// The largest policy file that is read.
pub(super) const MOST: u64 = 4 * 1024 * 1024;

/// The top of the project around a folder: its repository's root, or else the folder itself.
#[must_use]
pub fn top(folder: &Path) -> PathBuf {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let found = whole.ancestors().find(|above| sandbox::is_root(above));
    found.map_or_else(|| whole.clone(), Path::to_owned)
}

/// The policy of a project, with its file; `None` without one.
pub fn project(top: &Path, prompts: &Prompts) -> Result<Option<(PathBuf, Policy)>, PolicyError> {
    let path = top.join(POLICY);
    let name = path.display().to_string();
    let unreadable = |cause: String| PolicyError::unreadable(&name, 1, cause);
    let inside: WorkPath =
        POLICY.parse().map_err(|error: types::BadPath| unreadable(error.to_string()))?;
    let text = sandbox::text(top, &inside, MOST).map_err(|error| unreadable(error.chain()))?;
    let Some(text) = text else { return Ok(None) };
    let policy = read_with(&name, &text, prompts)?;
    refuse_too_much(&path, &policy)?;
    Ok(Some((path, policy)))
}

/// Refuses settings that a project may not decide, in any of its files.
pub fn refuse_too_much(path: &Path, policy: &Policy) -> Result<(), PolicyError> {
    let shipped = preset("crew")?;
    let mut opened = opened(&shipped.sandbox, &policy.sandbox);
    // A project's set-up runs in the sandbox, without a network; only the person can grant access.
    let workspace = &policy.workspace;
    opened.extend((!workspace.network.is_empty()).then_some("workspace.network"));
    opened.extend((!workspace.visible.is_empty()).then_some("workspace.visible"));
    let most = shipped.workspace.max_mb;
    opened.extend((workspace.max_mb > most).then_some("workspace.max_mb"));
    let cached = policy.budget.cached_percent < shipped.budget.cached_percent;
    let more = cached || more(shipped.budget.ceiling(), policy.budget.ceiling());
    opened.extend(more.then_some("budget"));
    opened.extend(policy.tools.search_url.is_some().then_some("tools.search_url"));
    opened.extend(rules::policy::is_solo(policy).then_some("the role solo"));
    opened.extend(loosened(policy)?.then_some("permissions"));
    if opened.is_empty() {
        return Ok(());
    }
    Err(PolicyError::TooMuch { name: path.display().to_string(), what: opened.join(", ") })
}

/// Whether the second budget allows more than the first.
fn more(shipped: Budget, own: Budget) -> bool {
    fn above<T: Ord>(own: Option<T>, most: Option<T>) -> bool {
        most.is_some_and(|most| own.is_none_or(|own| own > most))
    }
    above(own.tokens, shipped.tokens)
        || above(own.time_ms, shipped.time_ms)
        || above(own.money, shipped.money)
        || above(own.calls, shipped.calls)
}

/// The parts of the sandbox that `own` opens and `shipped` keeps closed.
fn opened(shipped: &SandboxPolicy, own: &SandboxPolicy) -> Vec<&'static str> {
    let inherits = |inherit: Inherit| match inherit {
        Inherit::None => 0,
        Inherit::Core => 1,
        Inherit::All => 2,
    };
    let without = |these: &[String], those: &[String]| !these.iter().all(|one| those.contains(one));
    // Exhaustive, so that new fields must be handled here.
    let SandboxPolicy {
        require,
        network,
        // A person who is asked decides.
        ask_hosts: _,
        allow_private,
        resolve,
        hidden,
        readable,
        home_folder,
        inherit,
        variables,
        processes,
        memory_mb,
        file_mb,
        temp_mb,
        disk_mb,
    } = own;
    [
        (*require < shipped.require, "require"),
        (without(network, &shipped.network), "network"),
        (*allow_private && !shipped.allow_private, "allow_private"),
        (*resolve != shipped.resolve, "resolve"),
        (without(&shipped.hidden, hidden), "hidden"),
        (without(readable, &shipped.readable), "readable"),
        (*home_folder && !shipped.home_folder, "home_folder"),
        (inherits(*inherit) > inherits(shipped.inherit), "inherit"),
        (without(variables, &shipped.variables), "variables"),
        (*processes > shipped.processes, "processes"),
        (*memory_mb > shipped.memory_mb, "memory_mb"),
        (*file_mb > shipped.file_mb, "file_mb"),
        (*temp_mb > shipped.temp_mb, "temp_mb"),
        (*disk_mb > shipped.disk_mb, "disk_mb"),
    ]
    .into_iter()
    .filter_map(|(opens, what)| opens.then_some(what))
    .collect()
}

/// Whether the permissions are looser than those of every preset. A project may ask or deny where a preset allows; it may
/// not allow an operation that a preset asks about or denies. Rule order matters, since the first match wins.
fn loosened(policy: &Policy) -> Result<bool, PolicyError> {
    for name in names() {
        let shipped = preset(name)?;
        let default = strictness(policy.default) >= strictness(shipped.default);
        if default && keeps(&shipped.permissions, &policy.permissions) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn strictness(permission: Permission) -> u8 {
    match permission {
        Permission::Allow => 0,
        Permission::Ask => 1,
        Permission::Deny => 2,
    }
}

/// Whether the rules are those of the preset, in its order, interspersed only with rules that ask or deny; rules of the
/// preset that allow something may be missing.
fn keeps(shipped: &[PermitRule], own: &[PermitRule]) -> bool {
    let mut left = shipped.iter();
    for rule in own {
        let is_shipped = shipped.contains(rule);
        if !is_shipped {
            let replaces = shipped.iter().any(|known| known.id == rule.id);
            if rule.verdict == Permission::Allow || replaces {
                return false;
            }
            continue;
        }
        // Preset rules before this one may only be missing if they allow something.
        loop {
            match left.next() {
                Some(next) if next == rule => break,
                Some(next) if next.verdict == Permission::Allow => {}
                Some(_) | None => return false,
            }
        }
    }
    left.all(|rule| rule.verdict == Permission::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_with(text: &str) -> Result<Option<(PathBuf, Policy)>, PolicyError> {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join(".bosun")).expect("a folder");
        std::fs::write(dir.path().join(POLICY), text).expect("a file");
        project(dir.path(), &Prompts::default())
    }

    #[test]
    fn a_project_may_bring_its_own_rules() {
        let (path, policy) =
            project_with("[limits]\nparallel_tasks = 1\n").expect("fine").expect("there");
        assert!(path.ends_with(POLICY));
        assert_eq!(policy.limits.parallel_tasks, 1);
        let (_, policy) = project_with("[workspace]\nsetup = [\"npm ci\"]\nbring = [\"vendor\"]\n")
            .expect("fine")
            .expect("there");
        assert_eq!(policy.workspace.setup, ["npm ci"]);
        let none = tempfile::tempdir().expect("a folder");
        assert!(project(none.path(), &Prompts::default()).expect("fine").is_none());
    }

    #[test]
    fn a_project_may_start_from_a_preset_for_a_crew() {
        for name in ["crew", "audited", "strict"] {
            let text = super::super::text(name).expect("it ships");
            assert!(project_with(text).expect("it may").is_some(), "{name}");
        }
    }

    #[test]
    fn a_project_may_not_open_the_walls() {
        for (text, what) in [
            ("[sandbox]\nrequire = \"none\"\n", "require"),
            ("[sandbox]\nnetwork = [\"evil.test\"]\n", "network"),
            ("[sandbox]\nvariables = [\"API_KEY\"]\n", "variables"),
            ("[sandbox]\nreadable = [\"**/.env\"]\n", "readable"),
            ("[sandbox]\nhome_folder = true\n", "home_folder"),
            ("[sandbox]\ninherit = \"inherit_all\"\n", "inherit"),
            ("[sandbox]\nprocesses = 100000\n", "processes"),
            ("[sandbox]\nmemory_mb = 1000000\n", "memory_mb"),
            ("[sandbox]\nfile_mb = 1000000\n", "file_mb"),
            ("[sandbox]\ntemp_mb = 1000000\n", "temp_mb"),
            ("[workspace]\nnetwork = [\"registry.npmjs.org\"]\n", "workspace.network"),
            ("[workspace]\nvisible = [\"~/.rbenv\"]\n", "workspace.visible"),
            ("[workspace]\nmax_mb = 1000000\n", "workspace.max_mb"),
            ("[budget]\ntokens = 900000000\n", "budget"),
            ("default = \"allow\"\n", "permissions"),
            (
                "[[permissions]]\nid = \"mine.a\"\nverdict = \"allow\"\nreason = \"r\"\ncommands = [\"sudo\"]\n",
                "permissions",
            ),
            (
                "[[permissions]]\nid = \"permit.privileges\"\nverdict = \"ask\"\nreason = \"r\"\ncommands = [\"sudo\"]\n",
                "permissions",
            ),
            (super::super::text("solo").expect("it ships"), "the role solo"),
        ] {
            let error = project_with(text).expect_err("it opens the sandbox").to_string();
            assert!(error.contains(what) && error.contains("--policy"), "{error}");
        }
    }

    #[test]
    fn a_policy_that_is_a_link_or_too_large_is_not_read() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join(".bosun")).expect("a folder");
        let path = dir.path().join(POLICY);
        let refused = || project(dir.path(), &Prompts::default()).expect_err("read").to_string();
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        assert!(refused().contains("link"), "{}", refused());
        std::fs::remove_file(&path).expect("it was there");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(MOST + 1).expect("a size");
        assert!(refused().contains("4194305 bytes"), "{}", refused());
    }

    #[test]
    fn the_top_is_where_the_repository_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let below = dir.path().join("a/b");
        std::fs::create_dir_all(&below).expect("a folder");
        assert_eq!(top(&below), below);
        let git = dir.path().join(".git");
        std::fs::create_dir(&git).expect("a folder");
        assert_eq!(top(&below), below, "an empty folder is no repository");
        for name in ["objects", "refs"] {
            std::fs::create_dir(git.join(name)).expect("a folder");
        }
        assert_eq!(top(&below), below, "nor is one without a head");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        assert_eq!(top(&below), dir.path());
    }
}
