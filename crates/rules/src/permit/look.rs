//! Explanations of permits: why each rule matched a call or did not. Evaluates the same conditions as the decision, one
//! by one.

use std::slice;

use types::{Access, CallFacts, PermitRule, Policy, Scope};

use super::{CompiledRule, in_scope, names, names_parts, only_wraps, sensitive};
use crate::command::{self, Part};
use crate::looked::Looked;

/// Every rule up to the first that matches the call, or each part of its command.
#[must_use]
pub fn look(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Vec<Looked> {
    if let Some((decision, path)) = sensitive::never(facts) {
        let about = Some(path.to_string());
        let (rule, because, says) = (decision.rule, vec![decision.reason], "deny".to_owned());
        return vec![Looked { about, rule, says, matched: true, because }];
    }
    match (facts.access, facts.command.as_deref()) {
        (Access::Execute, Some(line)) => {
            let parts = command::read(line);
            parts.iter().flat_map(|part| of_part(policy, scope, tool, facts, part)).collect()
        }
        _ => {
            let misses = |rule: &PermitRule| {
                let mut misses = of_call(rule, scope, tool, facts);
                if names_parts(rule) {
                    misses.push("applies only to commands".to_owned());
                }
                misses
            };
            until_match(policy, None, misses)
        }
    }
}

fn of_part(
    policy: &Policy,
    scope: &Scope,
    tool: &str,
    facts: &CallFacts,
    part: &Part,
) -> Vec<Looked> {
    let about: String = part.shown().chars().take(super::SHOWN).collect();
    let names = names(slice::from_ref(part));
    let misses = |rule: &PermitRule| {
        let mut misses = of_call(rule, scope, tool, facts);
        let compiled = CompiledRule::new(rule, &names);
        if misses.is_empty() && !compiled.matches(part) {
            misses.push(not_like(rule));
        }
        misses
    };
    let looked = until_match(policy, Some(&about), misses);
    // A part that only starts another one needs no rule, so none is missing.
    let matched = looked.last().is_some_and(|last| last.matched);
    if only_wraps(part) && !matched { vec![] } else { looked }
}

fn until_match(
    policy: &Policy,
    about: Option<&str>,
    misses: impl Fn(&PermitRule) -> Vec<String>,
) -> Vec<Looked> {
    let mut looked = Vec::new();
    for rule in &policy.permissions {
        let misses = misses(rule);
        let matched = misses.is_empty();
        looked.push(Looked {
            about: about.map(str::to_owned),
            rule: rule.id.clone(),
            says: rule.verdict.as_str().to_owned(),
            matched,
            because: if matched { vec![rule.reason.clone()] } else { misses },
        });
        if matched {
            break;
        }
    }
    looked
}

/// Why a rule does not match a call, regardless of its command.
fn of_call(rule: &PermitRule, scope: &Scope, tool: &str, facts: &CallFacts) -> Vec<String> {
    let mut misses = Vec::new();
    let plain = facts.tool.as_deref().unwrap_or(tool);
    if !rule.tools.is_empty() && !rule.tools.iter().any(|name| name == plain) {
        misses.push(format!("applies only to {}", rule.tools.join(", ")));
    }
    if !rule.access.is_empty() && !rule.access.contains(&facts.access) {
        let words: Vec<&str> = rule.access.iter().map(|access| word(*access)).collect();
        misses.push(format!(
            "applies only to calls that {}; this one would {}",
            words.join(" or "),
            word(facts.access)
        ));
    }
    if !rule.touches.is_empty() && sensitive::touched(&rule.touches, scope, facts).is_none() {
        let kinds: Vec<&str> = rule.touches.iter().map(|kind| kind.says()).collect();
        misses.push(format!(
            "applies only to a path that {}, unless the scope names it",
            kinds.join(" or ")
        ));
    }
    match rule.in_scope {
        Some(true) if !in_scope(scope, facts) => {
            misses.push(format!("applies only inside the task's scope ({scope})"));
        }
        Some(false) if in_scope(scope, facts) => {
            misses.push(format!("applies only outside the task's scope ({scope})"));
        }
        _ => {}
    }
    misses
}

fn not_like(rule: &PermitRule) -> String {
    let risks: Vec<&str> = rule.does.iter().map(|risk| risk.says()).collect();
    match (rule.commands.as_slice(), risks.is_empty()) {
        ([], _) => format!("applies only to a command that {}", risks.join(", or ")),
        ([only], _) => format!("the command does not match {only:?}"),
        (several, _) => format!("the command matches none of the {} patterns", several.len()),
    }
}

const fn word(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Execute => "run a command",
        Access::Submit => "submit the result",
        Access::Network => "use the network",
        Access::Ask => "ask a person",
        Access::Agent => "start agents",
    }
}
