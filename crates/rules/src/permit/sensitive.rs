//! Sensitive paths. No policy lets an agent write credentials or Bosun's own settings. Settings that make other
//! programs run something, and files with passwords, need approval: if no rule of the policy covers them, a person is
//! asked. A plan that names such a file by its own path approves it; one that names a folder around it does not.

use globset::GlobBuilder;
use types::{Access, CallFacts, Decision, Policy, RuleId, Scope, Sensitive, WorkPath};

/// The refusal that no policy overrides, with its path.
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
        let reason = format!("{path} {}; agents may not write it under any policy", kind.says());
        Some((Decision::new(RuleId::fixed(rule), reason), path))
    })
}

/// The first path of one of these kinds that a call touches and the scope does not name itself.
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
#[must_use]
pub fn names(scope: &Scope, path: &WorkPath) -> bool {
    scope.0.iter().any(|artifact| !artifact.whole_folder && artifact.path == *path)
}

/// The decision to ask a person although a rule allows the call, because it touches a sensitive path of a kind that the
/// rule does not cover.
pub(super) fn must_ask(
    policy: &Policy,
    scope: &Scope,
    facts: &CallFacts,
    covered: &[Sensitive],
) -> Option<Decision> {
    let kinds: &[Sensitive] = match facts.access {
        Access::Write => &[Sensitive::Settings, Sensitive::EnvFile],
        Access::Read => &[Sensitive::EnvFile],
        _ => return None,
    };
    let kinds: Vec<Sensitive> =
        kinds.iter().copied().filter(|kind| !covered.contains(kind)).collect();
    let path = touched(&kinds, scope, facts)?;
    let kind = Sensitive::of(path)?;
    if facts.access == Access::Read && is_readable(&policy.sandbox.readable, path) {
        return None;
    }
    let rule = match kind {
        Sensitive::EnvFile => "permit.env_file",
        _ => "permit.settings",
    };
    let reason = format!("{path} {}, so a person must approve", kind.says());
    Some(Decision::new(RuleId::fixed(rule), reason))
}

/// Whether a policy allows reading a file with passwords; the sandbox interprets the same globs in the same way.
fn is_readable(globs: &[String], path: &WorkPath) -> bool {
    globs.iter().any(|glob| {
        let glob = GlobBuilder::new(glob).literal_separator(true).build();
        glob.is_ok_and(|glob| glob.compile_matcher().is_match(path.as_str()))
    })
}
