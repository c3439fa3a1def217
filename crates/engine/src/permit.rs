//! May this call be made? The first rule that matches says so; a call that no rule speaks of is not made.

use types::{Access, CallFacts, Decision, Permission, PermitRule, Policy, RuleId, Scope};

/// What the rules say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    pub verdict: Permission,
    pub decision: Decision,
    /// What they say about each part of its command; nothing for a call that runs none.
    pub parts: Vec<PartPermit>,
}

/// What the rules say about one part of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPermit {
    /// The part in one line.
    pub command: String,
    /// Its words, as far as they are known before it runs.
    pub words: Vec<String>,
    pub verdict: Permission,
    pub rule: RuleId,
    pub reason: String,
}

/// Judges one call. The strictest of its parts decides.
#[must_use]
pub fn judge(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    let rules = &policy.permissions;
    let seen = seen(tool, facts);
    match rules.iter().find(|rule| matches(rule, scope, facts)) {
        Some(rule) => Permit {
            verdict: rule.verdict,
            decision: Decision::new(rule.id.clone(), reason(rule, scope, facts)).seeing(seen),
            parts: vec![],
        },
        None => {
            let reason = format!("no rule permits {tool} to do this");
            let decision = Decision::new(RuleId::fixed("permit.no_rule"), reason).seeing(seen);
            Permit { verdict: Permission::Deny, decision, parts: vec![] }
        }
    }
}

fn matches(rule: &PermitRule, scope: &Scope, facts: &CallFacts) -> bool {
    let starts = |word: &String| {
        facts
            .command
            .as_deref()
            .is_some_and(|command| command.split_whitespace().next() == Some(word.as_str()))
    };
    (rule.access.is_empty() || rule.access.contains(&facts.access))
        && rule.in_scope.is_none_or(|wanted| in_scope(scope, facts) == wanted)
        && (rule.commands.is_empty() || rule.commands.iter().any(starts))
}

/// A command may write anywhere in its workspace, so it is in scope only for a task that may write at all.
fn in_scope(scope: &Scope, facts: &CallFacts) -> bool {
    match facts.access {
        Access::Execute => !scope.0.is_empty(),
        // A write that does not say where could be anywhere.
        Access::Write => {
            !facts.paths.is_empty() && facts.paths.iter().all(|path| scope.allows(path))
        }
        Access::Read | Access::Submit | Access::Network | Access::Ask => {
            facts.paths.iter().all(|path| scope.allows(path))
        }
    }
}

fn reason(rule: &PermitRule, scope: &Scope, facts: &CallFacts) -> String {
    let outside = facts.paths.iter().find(|path| !scope.allows(path));
    match (rule.verdict, facts.access, outside) {
        (Permission::Deny, Access::Write, Some(path)) => {
            format!("{}: {path} is not in ({scope})", rule.reason)
        }
        _ => rule.reason.clone(),
    }
}

fn seen(tool: &str, facts: &CallFacts) -> String {
    let paths: Vec<&str> = facts.paths.iter().map(types::WorkPath::as_str).collect();
    let command = facts.command.as_deref().map(|c| c.chars().take(200).collect::<String>());
    format!("{tool} {}", command.unwrap_or_else(|| paths.join(" "))).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{Inspection, Repeat};

    use crate::testing::{crew, talk};

    /// The rule that decides about a call, for a task that may write to these places.
    fn rule(call: &str, scope: &[&str]) -> String {
        let scope = Scope(scope.iter().map(|a| a.parse().expect("an artifact")).collect());
        let (call, inspection) = talk::call(call, 0);
        let Inspection::Would(facts) = inspection else { panic!("a call that can be made") };
        let permit = judge(&crew(), &scope, &call.tool, &facts);
        let verdict = if permit.verdict == Permission::Allow { "allow" } else { "deny" };
        format!("{verdict} {}", permit.decision.rule)
    }

    #[test]
    fn reading_and_handing_in_are_always_allowed() {
        assert_eq!(rule("read_file anything.rs", &[]), "allow permit.read");
        assert_eq!(rule("submit", &[]), "allow permit.submit");
    }

    #[test]
    fn writing_is_allowed_only_to_the_tasks_artifacts() {
        assert_eq!(rule("write_file src/a.rs", &["src/"]), "allow permit.artifact");
        assert_eq!(rule("write_file srcx/a.rs", &["src/"]), "deny permit.outside_artifacts");
        assert_eq!(rule("write_file a.rs", &[]), "deny permit.outside_artifacts");
    }

    #[test]
    fn a_refused_write_says_what_would_have_been_allowed() {
        let scope = Scope(vec!["src/".parse().expect("an artifact")]);
        let (_, Inspection::Would(facts)) = talk::call("write_file b.rs", 0) else {
            panic!("a call that can be made")
        };
        let permit = judge(&crew(), &scope, "write_file", &facts);
        let reason = "a task may write only to its artifacts: b.rs is not in (src/)";
        assert_eq!(permit.decision.reason, reason);
        assert_eq!(permit.decision.seen, ["write_file b.rs"]);
    }

    #[test]
    fn a_write_that_does_not_say_where_is_not_in_scope() {
        let facts =
            CallFacts { access: Access::Write, paths: vec![], command: None, repeat: Repeat::Safe };
        let scope = Scope(vec!["./".parse().expect("an artifact")]);
        let permit = judge(&crew(), &scope, "write_file", &facts);
        assert_eq!(permit.decision.rule.as_str(), "permit.outside_artifacts");
    }

    #[test]
    fn commands_are_for_tasks_that_may_write_and_never_version_control() {
        assert_eq!(rule("shell make", &["src/"]), "allow permit.command");
        assert_eq!(rule("shell make", &[]), "deny permit.read_only_role");
        assert_eq!(rule("shell git push", &["src/"]), "deny permit.version_control");
        assert_eq!(rule("shell gitk", &["src/"]), "allow permit.command");
    }

    #[test]
    fn a_call_that_no_rule_speaks_of_is_not_made() {
        let (_, Inspection::Would(facts)) = talk::call("read_file a", 0) else {
            panic!("a call that can be made")
        };
        let permit = judge(
            &Policy { permissions: vec![], ..crew() },
            &Scope::default(),
            "read_file",
            &facts,
        );
        assert_eq!(permit.verdict, Permission::Deny);
        assert_eq!(permit.decision.rule.as_str(), "permit.no_rule");
    }
}
