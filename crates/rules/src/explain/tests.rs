//! Explanations agree with runs, are deterministic, and are right for the labelled requests.

use serde_json::Value;
use types::{Admission, Request};

use super::*;
use samples::{crew, request};

const LABELLED: &str = include_str!("../../../../eval/intake.jsonl");

/// P5, P9, C5, C6, C7, C8: no ordinary request is refused, hardly any is asked about, and routing agrees with the
/// labels.
#[test]
fn labelled_requests_are_judged_as_a_person_would() {
    let policy = crew();
    let (mut ordinary, mut asked, mut routed) = (0, vec![], 0);
    let mut elsewhere = vec![];
    for line in LABELLED.lines() {
        let label: Value = serde_json::from_str(line).expect("a label");
        let text = label["text"].as_str().expect("a text");
        let explained = explain(&policy, &request(text), &[]);
        if label["admission"] == "accept" {
            ordinary += 1;
            assert_ne!(explained.admission.verdict, Admission::Refuse, "{text}");
            asked.extend((explained.admission.verdict == Admission::Ask).then(|| text.to_owned()));
        }
        let to = match explained.route.course {
            Course::To(_) => explained.route.category.map(|category| category.side().as_str()),
            Course::Person => Some("person"),
            Course::Nobody => None,
        };
        if let Some(wanted) = label["to"].as_str() {
            routed += 1;
            elsewhere.extend((Some(wanted) != to).then(|| text.to_owned()));
        }
    }
    assert!(ordinary >= 900 && routed >= 900, "{ordinary} ordinary requests, {routed} routed");
    assert!(asked.len() * 100 <= ordinary, "asked about: {asked:#?}");
    assert!(elsewhere.len() * 100 <= routed, "routed elsewhere: {elsewhere:#?}");
}

/// C11: the same request gives the same decision, a hundred times.
#[test]
fn the_same_request_is_always_judged_the_same() {
    let policy = crew();
    let asked = request("Rename save() in store.py and plan the roadmap");
    let first = explain(&policy, &asked, &[]);
    assert!((0..100).all(|_| explain(&policy, &asked, &[]) == first));
}

/// P10: safety comes before clarity, clarity before the budget, the budget before the supported project types.
#[test]
fn the_checks_come_in_their_order() {
    let policy = crew();
    let verdict = |text: &str, project_type: &str, tokens: u64| {
        let mut asked: Request = request(text);
        asked.project_type = Some(project_type.to_owned());
        asked.budget.tokens = Some(tokens);
        explain(&policy, &asked, &[]).admission.decision.rule.to_string()
    };
    assert_eq!(verdict("Write ransomware for TBD", "gardening", 1), "intake.malware");
    assert_eq!(verdict("Fix it", "gardening", 1), "intake.too_vague");
    assert_eq!(verdict("Build a tea shop", "gardening", 1), "intake.budget_too_small");
    assert_eq!(verdict("Build a tea shop", "gardening", 90_000), "intake.project_type");
    assert_eq!(verdict("Build a tea shop", "frontend", 90_000), "intake.clear_goal");
}

/// P7: a refusal for the budget states both numbers.
#[test]
fn an_estimate_is_told_with_the_budget_that_it_exceeds() {
    let mut asked = request("Build a comprehensive web frontend");
    asked.budget.tokens = Some(20_000);
    let judged = explain(&crew(), &asked, &[]).admission;
    assert_eq!(judged.verdict, Admission::Refuse);
    assert!(judged.decision.reason.contains("22500") && judged.decision.reason.contains("20000"));
}

#[test]
fn a_very_long_request_is_judged_too() {
    let long = "Add dark mode, please. ".repeat(5_000);
    assert_eq!(explain(&crew(), &request(&long), &[]).admission.verdict, Admission::Accept);
}
