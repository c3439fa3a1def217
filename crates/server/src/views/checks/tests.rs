//! Checks of recorded runs.

use super::*;
use crate::views::testing::{recorded, recorded_after};

#[test]
fn every_tree_that_was_checked_is_there_with_what_came_of_it() {
    let checks = checks(&recorded("verify/new_tests", None));
    let told: Vec<(CheckedTree, CheckStatus)> =
        checks.iter().map(|one| (one.kind, one.status)).collect();
    let wanted = [
        (CheckedTree::Base, CheckStatus::Passed),
        (CheckedTree::Attempt, CheckStatus::Passed),
        (CheckedTree::Trial, CheckStatus::Passed),
        (CheckedTree::Trial, CheckStatus::Failed),
        (CheckedTree::Trial, CheckStatus::Failed),
        (CheckedTree::Merged, CheckStatus::Passed),
    ];
    assert_eq!(told, wanted);
    assert_eq!((checks[1].check.as_str(), checks[1].exit), ("T1.1#1", Some(0)));
    assert_eq!(checks[2].on, "T1.1 with the tests of before");
    assert_eq!(checks[3].on, "T1.1 without its code");
    assert_eq!(checks[2].task.as_ref().map(TaskId::as_str), Some("T1"));
}

#[test]
fn a_check_that_goes_on_is_running() {
    let recorded = recorded_after("verify/new_tests", "check.started", "merged");
    let checks = checks(&recorded);
    let last = checks.last().expect("a check");
    assert_eq!((last.status, last.exit, last.duration_ms), (CheckStatus::Running, None, None));
}

#[test]
fn a_trial_that_could_not_be_made_did_not_pass() {
    let checks = checks(&recorded("spec/done", None));
    let trial = checks.iter().find(|one| one.status == CheckStatus::NotTried).expect("a trial");
    assert_eq!(trial.exit, None);
    assert!(trial.ended.as_ref().is_some_and(|ended| ended.starts_with("not tried")));
}

#[test]
fn only_the_end_of_an_output_is_shown() {
    let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let shown = tail(&text);
    assert!(shown.starts_with("line 60\n") && shown.ends_with("line 99"));
    assert_eq!(tail(&"ä".repeat(20_000)).chars().count(), TAIL_CHARS);
}
