//! Validation of a policy: every rule must agree with its own examples, and every name must be known.

use std::collections::BTreeSet;

use types::{
    Access, Condition, Contract, Permission, PermitRule, Phase, Policy, Remedy, RoleId, RuleId,
    Tester,
};

use crate::command::Pattern;
use crate::condition::{self, holds};
use crate::manifest;
use crate::permit::is_example;
use crate::profile;
use crate::reading::Reading;

/// The problems of a policy; none if it can be used.
#[must_use]
pub fn problems(policy: &Policy) -> Vec<String> {
    let mut found = Vec::new();
    for rule in &policy.admission {
        patterns(&rule.id, &rule.when, policy, &mut found);
        let holds = |text: &String| holds(&rule.when, policy, &Reading::of_text(text));
        examples(&rule.id, holds, &rule.matches, &rule.not_matches, &mut found);
    }
    routing(policy, &mut found);
    project_types(policy, &mut found);
    permissions(policy, &mut found);
    // A single agent has no plan and no gates.
    if !is_solo(policy) {
        crew(policy, &mut found);
    }
    contracts(policy, &mut found);
    manifest::problems(policy, &mut found);
    profile::problems(policy, &mut found);
    budget(policy, &mut found);
    if policy.limits.parallel_tasks == 0 {
        found.push("limits.parallel_tasks is 0, so no task would ever run".to_owned());
    }
    failures(policy, &mut found);
    gates(policy, &mut found);
    twice(policy, &mut found);
    found
}

/// Reports impossible shares.
fn budget(policy: &Policy, found: &mut Vec<String>) {
    for (phase, percent) in &policy.budget.phases {
        let word = phase.as_str();
        if !matches!(phase, Phase::Planning | Phase::Execution) {
            found.push(format!("budget.phases.{word}: only planning and execution use the budget"));
        }
        if *percent == 0 || *percent > 100 {
            found.push(format!("budget.phases.{word} is {percent}; it must be between 1 and 100"));
        }
    }
    if policy.budget.estimate_percent == Some(0) {
        found.push("budget.estimate_percent is 0, so no task could start".to_owned());
    }
    if policy.verify.tests.iter().any(|pattern| pattern.trim_matches('/').is_empty()) {
        found.push("verify.tests has an empty pattern, which matches no file".to_owned());
    }
}

/// Whether a policy is for a single agent.
#[must_use]
pub fn is_solo(policy: &Policy) -> bool {
    policy.roles.contains_key(&RoleId::solo())
}

/// Whether a policy is of the strict kind (document 002), whose planner replies with the plan alone.
#[must_use]
pub fn is_strict(policy: &Policy) -> bool {
    let planner = policy.roles.get(&RoleId::fixed("planner"));
    planner.and_then(|role| role.reply).is_some_and(|reply| reply.contract == Contract::Plan)
}

/// Reports missing roles and gates of a crew.
fn crew(policy: &Policy, found: &mut Vec<String>) {
    let needed = match &policy.intent {
        Some(intent) => [intent.product.clone(), intent.dev.clone()],
        None => ["planner", "coder"].map(RoleId::fixed),
    };
    if policy.verify.tester == Tester::Always && !policy.roles.contains_key(&RoleId::tester()) {
        found.push("verify.tester needs a role tester".to_owned());
    }
    for role in needed {
        if !policy.roles.contains_key(&role) {
            found.push(format!("there is no role {role}"));
        }
    }
    for phase in Phase::ALL {
        if !policy.gates.iter().any(|gate| gate.phase == phase) {
            found.push(format!("there is no gate at the end of {}", phase.as_str()));
        }
    }
}

/// Reports a reviewer without a report or verdict contract, and an adviser without one for advice.
fn contracts(policy: &Policy, found: &mut Vec<String>) {
    let contract = |role: &RoleId| Some(policy.roles.get(role)?.reply?.contract);
    if let Some(role) = policy.review.as_ref().map(|review| &review.role)
        && !matches!(contract(role), Some(Contract::Report | Contract::Verdict))
    {
        found.push(format!("review.role is {role}, which has no contract for reports or verdicts"));
    }
    if let Some(role) = policy.adviser.as_ref().map(|adviser| &adviser.role)
        && contract(role) != Some(Contract::Advice)
    {
        found.push(format!(
            "adviser.role is {role}, which needs reply = {{ contract = \"advice\" }} in [roles.{role}]"
        ));
    }
}

/// Overlays permissions: the overlay's rules come first, because the first match wins, and replace those with the same
/// ids. An overlay with a `default` also drops the rules below it that allow commands; denials stay, unless one of its
/// own rules allows the command.
#[must_use]
pub fn laid_over(
    others: Vec<PermitRule>,
    own: Vec<PermitRule>,
    default: Option<Permission>,
) -> Vec<PermitRule> {
    let overruled = |rule: &PermitRule| {
        default.is_some()
            && rule.verdict == Permission::Allow
            && (rule.access.is_empty() || rule.access.contains(&Access::Execute))
    };
    let replaced = |rule: &PermitRule| own.iter().any(|new| new.id == rule.id);
    let kept = others.into_iter().filter(|rule| !overruled(rule) && !replaced(rule));
    let kept: Vec<PermitRule> = kept.collect();
    own.into_iter().chain(kept).collect()
}

fn routing(policy: &Policy, found: &mut Vec<String>) {
    // A policy without gates routes nothing.
    if policy.routing.is_empty() && !policy.gates.is_empty() {
        found.push("there are no routing rules, so no request could be routed".to_owned());
    }
    for rule in &policy.routing {
        patterns(&rule.id, &rule.when, policy, found);
        let holds = |text: &String| holds(&rule.when, policy, &Reading::of_text(text).prose());
        examples(&rule.id, holds, &rule.matches, &rule.not_matches, found);
        match &rule.to {
            Some(to) if !policy.roles.contains_key(to) => {
                found.push(format!("rule {} routes to {to}, which is not a role", rule.id));
            }
            Some(_) if rule.category.is_none() => {
                found.push(format!("rule {} has a destination, but no category", rule.id));
            }
            Some(_) | None => {}
        }
    }
}

fn patterns(id: &RuleId, when: &Condition, policy: &Policy, found: &mut Vec<String>) {
    for (text, cause) in condition::problems(when, &policy.words) {
        found.push(format!("rule {id} has the pattern {text:?}, which {cause}"));
    }
}

fn project_types(policy: &Policy, found: &mut Vec<String>) {
    for known in &policy.project_types {
        for text in &known.any_phrase {
            if let Some(cause) = condition::problem(text, &policy.words) {
                let name = &known.name;
                found.push(format!("project type {name} has the pattern {text:?}, which {cause}"));
            }
        }
    }
}

fn permissions(policy: &Policy, found: &mut Vec<String>) {
    for rule in &policy.permissions {
        let id = &rule.id;
        for text in rule.commands.iter().filter(|text| Pattern::parse(text).is_none()) {
            found.push(format!("rule {id} has the pattern {text:?}, which names no program"));
        }
        let holds = |line: &String| is_example(rule, line);
        examples(id, holds, &rule.matches, &rule.not_matches, found);
    }
}

fn examples(
    id: &RuleId,
    holds: impl Fn(&String) -> bool,
    matches: &[String],
    not_matches: &[String],
    found: &mut Vec<String>,
) {
    for example in matches.iter().filter(|example| !holds(example)) {
        found.push(format!("rule {id} does not match its own example {example:?}"));
    }
    for example in not_matches.iter().filter(|example| holds(example)) {
        found.push(format!("rule {id} matches {example:?}, which is in its not_matches"));
    }
}

fn failures(policy: &Policy, found: &mut Vec<String>) {
    for rule in &policy.failures {
        let id = &rule.id;
        let other = [Some(rule.action), rule.then].contains(&Some(Remedy::Alternative));
        if other && rule.role.is_none() && rule.model.is_none() {
            found.push(format!("rule {id} needs a role or a model for its alternative"));
        }
        if let Some(role) = rule.role.as_ref().filter(|role| !policy.roles.contains_key(role)) {
            found.push(format!("rule {id} names {role}, which is not a role"));
        }
        if rule.max_executions == 0 {
            found.push(format!("rule {id} has max_executions = 0; the minimum is 1"));
        }
    }
}

fn gates(policy: &Policy, found: &mut Vec<String>) {
    for gate in &policy.gates {
        let id = &gate.id;
        if gate.min_score > 100 || gate.conditional_below.is_some_and(|below| below > 100) {
            found.push(format!("rule {id} requires a score above 100, which no gate can reach"));
        }
        if gate.conditional_below.is_some_and(|below| below <= gate.min_score) {
            found.push(format!("rule {id} has a conditional_below that is not above min_score"));
        }
        if !gate.measures.is_empty() && gate.measures.values().all(|weight| *weight == 0) {
            found.push(format!("rule {id} gives all measures a weight of 0"));
        }
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
    let models = policy.model_failures.iter().map(|rule| &rule.id);
    let gates = policy.gates.iter().map(|rule| &rule.id);
    let requests = admission.chain(routing).chain(context);
    requests.chain(permissions).chain(failures).chain(models).chain(gates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::crew;

    #[test]
    fn the_preset_can_be_used() {
        assert_eq!(problems(&crew()), Vec::<String>::new());
    }

    #[test]
    fn a_rule_that_does_not_hold_for_its_own_examples_is_named() {
        let mut policy = crew();
        let vague = policy.admission.iter_mut().find(|rule| rule.id.as_str() == "intake.too_vague");
        let vague = vague.expect("the preset has it");
        vague.matches.push("Build a whole castle".to_owned());
        vague.not_matches.push("fix it".to_owned());
        assert_eq!(
            problems(&policy),
            [
                "rule intake.too_vague does not match its own example \"Build a whole castle\"",
                "rule intake.too_vague matches \"fix it\", which is in its not_matches",
            ]
        );
    }

    #[test]
    fn gates_and_failures_that_cannot_be_meant_are_named() {
        let mut policy = crew();
        policy.failures[0].then = Some(Remedy::Alternative);
        let transient =
            |rule: &&mut types::FailureRule| rule.id.as_str() == "failure.transient_retry";
        let rule = policy.failures.iter_mut().find(transient).expect("the crew has it");
        rule.role = Some(RoleId::fixed("nobody"));
        policy.gates[0].min_score = 101;
        policy.gates[1].conditional_below = Some(10);
        policy.gates[2].measures.values_mut().for_each(|weight| *weight = 0);
        let found = problems(&policy).join("\n");
        for part in [
            "failure.plan_invalid needs a role or a model for its alternative",
            "failure.transient_retry names nobody, which is not a role",
            "gate.initiation requires a score above 100",
            "gate.planning has a conditional_below that is not above min_score",
            "gate.execution gives all measures a weight of 0",
        ] {
            assert!(found.contains(part), "{part} is not in:\n{found}");
        }
    }

    #[test]
    fn names_that_are_not_there_or_there_twice_are_problems() {
        let mut policy = crew();
        policy.roles.remove(&RoleId::fixed("planner"));
        policy.roles.remove(&RoleId::tester());
        policy.verify.tester = Tester::Always;
        policy.gates.retain(|gate| gate.phase != Phase::Closure);
        policy.limits.parallel_tasks = 0;
        policy.context.push(policy.context[0].clone());
        let found = problems(&policy).join("\n");
        for part in [
            "rule route.goal routes to planner, which is not a role",
            "there is no role planner",
            "verify.tester needs a role tester",
            "there is no gate at the end of closure",
            "limits.parallel_tasks is 0",
            "there are two rules with the id context.agents_file",
        ] {
            assert!(found.contains(part), "{part} is not in:\n{found}");
        }
    }
}
