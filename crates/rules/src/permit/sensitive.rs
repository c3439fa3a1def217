//! Calls on paths that are more than files of the project. Places for keys and our own settings are written by nobody,
//! whatever a policy says. Settings by which other programs run something, and files with passwords, take a yes: where no
//! rule of the policy speaks of them, a person is asked. A plan that names a file by its own path has said yes to it; one
//! that names a folder around it has not.

use globset::GlobBuilder;
use types::{Access, CallFacts, Decision, Permission, Policy, RuleId, Scope, Sensitive, WorkPath};

use super::Permit;

/// What no policy allows, with the path that it is about.
pub(super) fn never(facts: &CallFacts) -> Option<(Decision, &WorkPath)> {
    if facts.access != Access::Write {
        return None;
    }
    facts.paths.iter().find_map(|path| {
        let (rule, kind) = match Sensitive::of(path)? {
            kind @ Sensitive::OwnSettings => ("permit.own_settings", kind),
            kind @ Sensitive::Credentials => ("permit.credentials", kind),
            Sensitive::EnvFile | Sensitive::Settings => return None,
        };
        let reason =
            format!("{path} {}; no agent may write it, and no policy allows it", kind.says());
        Some((Decision::new(RuleId::fixed(rule), reason), path))
    })
}

/// Whether a call is about a path of one of these kinds that the scope does not name itself.
pub(super) fn touches(kinds: &[Sensitive], scope: &Scope, facts: &CallFacts) -> bool {
    touched(kinds, scope, facts).is_some()
}

/// The first such path.
pub(super) fn touched<'a>(
    kinds: &[Sensitive],
    scope: &Scope,
    facts: &'a CallFacts,
) -> Option<&'a WorkPath> {
    if facts.access == Access::Execute {
        return None;
    }
    let of_kind = |path: &&WorkPath| Sensitive::of(path).is_some_and(|kind| kinds.contains(&kind));
    facts.paths.iter().filter(of_kind).find(|path| !names(scope, path))
}

/// Whether a scope names a file by its own path.
pub fn names(scope: &Scope, path: &WorkPath) -> bool {
    scope.0.iter().any(|artifact| !artifact.whole_folder && artifact.path == *path)
}

/// A verdict of a rule is not meant for paths of a kind that it does not speak of (`meant`): where it allows, a person is
/// asked.
pub(super) fn at_least_asked(
    policy: &Policy,
    scope: &Scope,
    facts: &CallFacts,
    meant: &[Sensitive],
    permit: Permit,
) -> Permit {
    if permit.verdict != Permission::Allow {
        return permit;
    }
    let kinds: &[Sensitive] = match facts.access {
        Access::Write => &[Sensitive::Settings, Sensitive::EnvFile],
        Access::Read => &[Sensitive::EnvFile],
        _ => return permit,
    };
    let kinds: Vec<Sensitive> =
        kinds.iter().copied().filter(|kind| !meant.contains(kind)).collect();
    let Some(path) = touched(&kinds, scope, facts) else { return permit };
    let Some(kind) = Sensitive::of(path) else { return permit };
    if facts.access == Access::Read && is_readable(&policy.sandbox.readable, path) {
        return permit;
    }
    let rule = match kind {
        Sensitive::EnvFile => "permit.env_file",
        _ => "permit.settings",
    };
    let reason = format!("{path} {}, so a person is asked first", kind.says());
    let decision = Decision { rule: RuleId::fixed(rule), reason, ..permit.decision };
    Permit { verdict: Permission::Ask, decision, parts: permit.parts }
}

/// Whether a policy lets a file with passwords be read; the sandbox reads the same globs in the same way.
fn is_readable(globs: &[String], path: &WorkPath) -> bool {
    globs.iter().any(|glob| {
        let glob = GlobBuilder::new(glob).literal_separator(true).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(path.as_str()))
    })
}
