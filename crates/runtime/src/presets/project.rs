//! The rules that a project brings along, in `.bosun/` at its top. They come with the code, perhaps from a stranger, so
//! what is found there by itself may choose how the work is done, but not open the walls around it, spend more, or work
//! in the person's own files; who wants that names the file.

use std::path::{Path, PathBuf};

use types::{Budget, Inherit, Policy, SandboxPolicy};

use super::{PolicyError, preset, read_with};
use crate::prompts::Prompts;

/// Where a project keeps its policy, from its top.
pub const POLICY: &str = ".bosun/policy.toml";
/// Where it keeps its own prompts.
pub const PROMPTS: &str = ".bosun/prompts";
/// The largest policy that is read.
const MOST: u64 = 4 * 1024 * 1024;

/// The top of the project that a folder lies in: where its repository is, or else the folder itself.
#[must_use]
pub fn top(folder: &Path) -> PathBuf {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let found = whole.ancestors().find(|above| above.join(".git").exists());
    found.map_or_else(|| whole.clone(), Path::to_owned)
}

/// The policy of a project, with the file that it stands in; nothing, where there is none.
pub fn project(top: &Path, prompts: &Prompts) -> Result<Option<(PathBuf, Policy)>, PolicyError> {
    let path = top.join(POLICY);
    let name = path.display().to_string();
    let unreadable = |cause: String| PolicyError::Unreadable { name: name.clone(), line: 1, cause };
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(file) if file.len() > MOST => {
            return Err(unreadable(format!("it has {} bytes; {MOST} are the most", file.len())));
        }
        Ok(_) | Err(_) => {}
    }
    let text = std::fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
    let policy = read_with(&name, &text, prompts)?;
    let shipped = preset("crew")?;
    let mut opened = opened(&shipped.sandbox, &policy.sandbox);
    opened.extend(more(shipped.budget.limits(), policy.budget.limits()).then_some("budget"));
    opened.extend(engine::policy::is_solo(&policy).then_some("the role solo"));
    if opened.is_empty() {
        return Ok(Some((path, policy)));
    }
    Err(PolicyError::TooMuch { name, what: opened.join(", ") })
}

/// Whether more may be spent by the one budget than by the other.
fn more(shipped: Budget, own: Budget) -> bool {
    fn above<T: Ord>(own: Option<T>, most: Option<T>) -> bool {
        most.is_some_and(|most| own.is_none_or(|own| own > most))
    }
    above(own.tokens, shipped.tokens)
        || above(own.time_ms, shipped.time_ms)
        || above(own.money, shipped.money)
        || above(own.calls, shipped.calls)
}

/// What of the walls a policy opens that the other keeps shut.
fn opened(shipped: &SandboxPolicy, own: &SandboxPolicy) -> Vec<&'static str> {
    let inherits = |inherit: Inherit| match inherit {
        Inherit::None => 0,
        Inherit::Core => 1,
        Inherit::All => 2,
    };
    let granted = |hosts: &[String]| !hosts.iter().all(|host| shipped.network.contains(host));
    let named = |names: &[String]| !names.iter().all(|name| shipped.variables.contains(name));
    [
        (own.require < shipped.require, "require"),
        (granted(&own.network), "network"),
        (own.allow_private && !shipped.allow_private, "allow_private"),
        (own.resolve != shipped.resolve, "resolve"),
        (!shipped.hidden.iter().all(|glob| own.hidden.contains(glob)), "hidden"),
        (inherits(own.inherit) > inherits(shipped.inherit), "inherit"),
        (named(&own.variables), "variables"),
    ]
    .into_iter()
    .filter_map(|(opens, what)| opens.then_some(what))
    .collect()
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
            ("[sandbox]\ninherit = \"inherit_all\"\n", "inherit"),
            ("[budget]\ntokens = 900000000\n", "budget"),
            (super::super::text("solo").expect("it ships"), "the role solo"),
        ] {
            let error = project_with(text).expect_err("it opens the walls").to_string();
            assert!(error.contains(what) && error.contains("--policy"), "{error}");
        }
    }

    #[test]
    fn the_top_is_where_the_repository_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let below = dir.path().join("a/b");
        std::fs::create_dir_all(&below).expect("a folder");
        assert_eq!(top(&below), below);
        std::fs::create_dir(dir.path().join(".git")).expect("a folder");
        assert_eq!(top(&below), dir.path());
    }
}
