//! May this call be made? The first rule that matches says so; a call that no rule speaks of is not made.

use types::{Access, CallFacts, Decision, Permission, PermitRule, RuleId, Scope};

/// What the rules say about a call.
pub(crate) struct Permit {
    pub(crate) verdict: Permission,
    pub(crate) decision: Decision,
}

pub(crate) fn judge(rules: &[PermitRule], scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    let seen = seen(tool, facts);
    match rules.iter().find(|rule| matches(rule, scope, facts)) {
        Some(rule) => Permit {
            verdict: rule.verdict,
            decision: Decision::new(rule.id.clone(), reason(rule, scope, facts)).seeing(seen),
        },
        None => {
            let reason = format!("no rule permits {tool} to do this");
            let decision = Decision::new(RuleId::fixed("permit.no_rule"), reason).seeing(seen);
            Permit { verdict: Permission::Deny, decision }
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
        && (rule.command_starts.is_empty() || rule.command_starts.iter().any(starts))
}

/// A command may write anywhere in its workspace, so it is in scope only for a task that may write at all.
fn in_scope(scope: &Scope, facts: &CallFacts) -> bool {
    match facts.access {
        Access::Execute => !scope.0.is_empty(),
        Access::Read | Access::Write | Access::Submit => {
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
