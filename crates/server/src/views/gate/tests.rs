//! Gates of recorded runs.

use super::*;
use crate::views::testing::recorded;

#[test]
fn a_gate_shows_its_evidence_and_how_far_each_task_is_proven() {
    let gates = gates(&recorded("verify/new_tests", None));
    let phases: Vec<Phase> = gates.iter().map(|gate| gate.phase).collect();
    assert_eq!(phases, Phase::ALL);
    let (first, last) = (&gates[0], &gates[4]);
    assert!(first.go && first.proven.is_empty(), "nothing was made yet");
    assert!(last.evidence.iter().all(|one| one.met) && !last.evidence.is_empty());
    assert_eq!((last.proven.len(), last.proven[0].level), (1, Level::Proven));
    assert!(!last.proven[0].how.is_empty());
    assert!(last.score.is_some_and(|score| score >= last.threshold.unwrap_or(0)));
}

#[test]
fn a_no_go_says_what_is_missing() {
    let gates = gates(&recorded("gate/merged_checks_fail", None));
    let shut = gates.iter().find(|gate| !gate.go).expect("a no-go");
    assert!(!shut.issues.is_empty() && shut.evidence.iter().any(|one| !one.met), "{shut:?}");
    let missing = shut.evidence.iter().find(|one| !one.met).expect("something");
    assert!(missing.what.as_ref().is_some_and(|what| !what.is_empty()));
}

#[test]
fn findings_are_those_of_the_last_attempt() {
    let recorded = recorded("verify/accepted", None);
    let sealed = recorded.lines.iter().filter_map(|line| match &line.event {
        Event::AttemptSealed { findings, .. } => Some(findings.0.len()),
        _ => None,
    });
    let found: usize = sealed.sum();
    let gates = gates(&recorded);
    let last = gates.last().expect("a gate");
    assert_eq!(last.findings.len(), found);
}

#[test]
fn reports_of_several_checks_are_added_up() {
    let count = |runner: &str, passed| TestCounts {
        runner: runner.to_owned(),
        complete: true,
        passed,
        won: vec![format!("{runner} new")],
        ..TestCounts::default()
    };
    let reports = BTreeMap::from([(0, count("pytest", 3)), (1, count("jest", 4))]);
    let sum = sum(&reports).expect("a sum");
    assert_eq!((sum.passed, sum.runner.as_str(), sum.won.len()), (7, "pytest, jest", 2));
    assert_eq!(super::sum(&BTreeMap::new()), None);
}
