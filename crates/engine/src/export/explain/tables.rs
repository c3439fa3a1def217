//! The tables of a policy, evaluated rule by rule until one matches, with the conditions that hold or do not.

use serde::Serialize;
use types::{Admission, Condition, FailureRule, Fault, GateRule, Phase, Policy, RuleId};

use crate::stages::failure::covers;
use rules::condition::clauses::clauses;
use rules::looked::Looked;
use rules::reading::Reading;

pub(super) fn admission(policy: &Policy, reading: &Reading) -> Vec<Looked> {
    let insists = reading.facts.insists.is_some() && policy.insist;
    let mut looked = Vec::new();
    let mut rest = policy.admission.as_slice();
    loop {
        let rules =
            rest.iter().map(|rule| (&rule.id, rule.verdict.as_str().to_owned(), &rule.when));
        looked.extend(until_one_holds(rules, policy, reading));
        let Some(last) = looked.last_mut().filter(|last| last.matched) else { return looked };
        let place = rest.iter().position(|rule| rule.id == last.rule).unwrap_or_default();
        let rule = &rest[place];
        if !insists || !rule.insist || rule.verdict == Admission::Accept {
            return looked;
        }
        last.matched = false;
        last.because.push("overridden: the person who started the run insists".to_owned());
        rest = &rest[place + 1..];
    }
}

pub(super) fn routing(policy: &Policy, reading: &Reading) -> Vec<Looked> {
    let rules = policy.routing.iter().map(|rule| {
        let to = rule.to.as_ref().map_or_else(|| "a person".to_owned(), ToString::to_string);
        (&rule.id, format!("to {to}"), &rule.when)
    });
    until_one_holds(rules, policy, reading)
}

/// The rules for a failure, by class and code. How often a rule applies is counted elsewhere.
pub(super) fn failures(policy: &Policy, fault: &Fault) -> Vec<Looked> {
    let mut looked = Vec::new();
    for rule in &policy.failures {
        let mut misses = Vec::new();
        if !covers(&FailureRule { codes: vec![], ..rule.clone() }, fault) {
            let classes: Vec<&str> = rule.classes.iter().map(|class| class.as_str()).collect();
            misses.push(format!("applies only to {}", classes.join(", ")));
        }
        if !covers(&FailureRule { classes: vec![], ..rule.clone() }, fault) {
            misses.push(format!("applies only to {}", rule.codes.join(", ")));
        }
        let matched = covers(rule, fault);
        let says = written(&rule.action);
        let because = if matched { vec![rule.reason.clone()] } else { misses };
        looked.push(Looked { about: None, rule: rule.id.clone(), says, matched, because });
        if matched {
            break;
        }
    }
    looked
}

/// The rules of a phase's gate; the decision's inputs have the result of each piece of evidence.
pub(super) fn gates(policy: &Policy, phase: Phase) -> Vec<Looked> {
    let look = |rule: &GateRule| {
        let matched = rule.phase == phase;
        let needs: Vec<String> = rule.requires.iter().map(written).collect();
        let because = if matched {
            format!("requires {}", needs.join(", "))
        } else {
            format!("applies at the end of {}", rule.phase.as_str())
        };
        let says = "go or no-go".to_owned();
        Looked { about: None, rule: rule.id.clone(), says, matched, because: vec![because] }
    };
    policy.gates.iter().map(look).collect()
}

/// A value as a policy spells it.
fn written(word: &impl Serialize) -> String {
    let value = serde_json::to_value(word).unwrap_or_default();
    value.as_str().map_or_else(|| value.to_string(), |word| word.replace('_', " "))
}

fn until_one_holds<'a>(
    rules: impl Iterator<Item = (&'a RuleId, String, &'a Condition)>,
    policy: &Policy,
    reading: &Reading,
) -> Vec<Looked> {
    let mut looked = Vec::new();
    for (id, says, condition) in rules {
        let clauses = clauses(condition, policy, reading);
        let matched = clauses.iter().all(|clause| clause.holds);
        let told = clauses.into_iter().filter(|clause| clause.holds == matched);
        let mut because: Vec<String> = told.map(|clause| clause.says).collect();
        if because.is_empty() {
            because.push("applies to every request".to_owned());
        }
        looked.push(Looked { about: None, rule: id.clone(), says, matched, because });
        if matched {
            break;
        }
    }
    looked
}
