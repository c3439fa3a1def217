//! Is a policy fit to be used? Every rule must hold for its own examples, and every name must be known.

use std::collections::BTreeSet;

use types::{Condition, Phase, Policy, RoleId, RuleId};

use crate::condition::{Reading, holds};

/// What is wrong with a policy; nothing when it can be used.
#[must_use]
pub fn problems(policy: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    for rule in &policy.admission {
        examples(&rule.id, &rule.when, &rule.matches, &rule.not_matches, &mut found);
    }
    for rule in &policy.routing {
        examples(&rule.id, &rule.when, &rule.matches, &rule.not_matches, &mut found);
        if !policy.roles.contains_key(&rule.to) {
            found.push(format!("rule {} routes to {}, which is not a role", rule.id, rule.to));
        }
    }
    for role in ["planner", "coder"].map(RoleId::fixed) {
        if !policy.roles.contains_key(&role) {
            found.push(format!("there is no role {role}"));
        }
    }
    for phase in Phase::ALL {
        if !policy.gates.iter().any(|gate| gate.phase == phase) {
            found.push(format!("there is no gate at the end of {}", phase.word()));
        }
    }
    if policy.limits.parallel_tasks == 0 {
        found.push("limits.parallel_tasks is 0, so nothing would ever run".to_owned());
    }
    twice(policy, &mut found);
    found
}

fn examples(
    id: &RuleId,
    when: &Condition,
    matches: &[String],
    not_matches: &[String],
    found: &mut Vec<String>,
) {
    let text = |example: &String| holds(when, &Reading::of_text(example));
    for example in matches.iter().filter(|example| !text(example)) {
        found.push(format!("rule {id} does not match its own example {example:?}"));
    }
    for example in not_matches.iter().filter(|example| text(example)) {
        found.push(format!("rule {id} matches {example:?}, which it says it does not"));
    }
}

fn twice(policy: &Policy, found: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for id in ids(policy) {
        if !seen.insert(id) {
            found.push(format!("there are two rules with the id {id}"));
        }
    }
}

/// The ids of all rules, in the order of the file.
pub fn ids(policy: &Policy) -> impl Iterator<Item = &RuleId> {
    let admission = policy.admission.iter().map(|rule| &rule.id);
    let routing = policy.routing.iter().map(|rule| &rule.id);
    let context = policy.context.iter().map(|rule| &rule.id);
    let permissions = policy.permissions.iter().map(|rule| &rule.id);
    let failures = policy.failures.iter().map(|rule| &rule.id);
    let gates = policy.gates.iter().map(|rule| &rule.id);
    admission.chain(routing).chain(context).chain(permissions).chain(failures).chain(gates)
}
