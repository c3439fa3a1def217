//! Results that try to evade the trials: by silence, by slowness, or behind a failure that was accepted.

use super::doubt::excuses;
use super::tests::{level, red, said};
use super::whole::fails_more;
use crate::testing::{proving, run_with};

/// Code under test can keep its runner from printing. A check that reports failures reports those of altered tests, too.
#[test]
fn a_check_that_reported_failures_and_reports_none_any_more_is_in_doubt() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0");
    let events = said(&mut bench, "check altered:T1.1/0 exits 1");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    let asked = format!("{:?}", bench.machine.view(bench.now).questions);
    assert!(asked.contains("printed no report"), "{asked}");
}

/// A result could slow its own check down until there is no time for the trial that it would fail.
#[test]
fn a_slow_result_is_not_proven_without_altered_tests() {
    let mut policy = proving();
    policy.verify.trial_percent = 100;
    let mut bench = run_with(policy);
    bench
        .tell("begin Build a CLI\ncheck base/0 exits 1 passed=1 failing=a,b\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py src/tests/test_a.py\ncheck T1.1/0 took 31");
    let events = said(&mut bench, "check old:T1.1/0 took 31");
    assert!(events.contains("task.verified T1.1"), "{events}");
    let (level, because) = level(&bench).expect("a level");
    assert_eq!(level, types::Level::Unproven, "{because:?}");
    assert!(because.iter().any(|why| why.contains("took too long")), "{because:?}");
}

/// By default every trial fits that takes about as long as the check.
#[test]
fn a_slow_check_is_tried_in_every_way() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py src/tests/test_a.py\ncheck T1.1/0 took 100");
    let events = said(&mut bench, "check old:T1.1/0 took 110");
    assert!(events.contains("with altered tests"), "{events}");
}

/// The end of a check that failed, with these failing tests in its report.
fn failed(failing: &[&str]) -> types::CheckEnd {
    let shown = types::Shown::default();
    let mut end = types::CheckEnd::new(types::Ended::Exited(1), shown, types::Millis(7));
    let failing: Vec<String> = failing.iter().map(|name| (*name).to_owned()).collect();
    let tests = types::Tests {
        complete: true,
        failed: u32::try_from(failing.len()).expect("few"),
        failing,
        ..types::Tests::default()
    };
    end.tests = (tests.failed > 0).then(|| Box::new(tests));
    end
}

/// What a person accepted for one task excuses no other: only a report shows that nothing else fails.
#[test]
fn an_accepted_failure_excuses_none_without_a_report() {
    assert!(excuses(&failed(&["a", "b"]), &failed(&["a"])));
    assert!(!excuses(&failed(&["a"]), &failed(&["a", "b"])));
    assert!(!excuses(&failed(&["a"]), &failed(&[])));
    assert!(!excuses(&failed(&[]), &failed(&["a"])));
    assert!(excuses(&failed(&[]), &failed(&[])));
}

/// A check that fails on the merged tree anyway does not notice that a task is missing.
#[test]
fn a_check_that_fails_anyway_notices_nothing() {
    let shown = types::Shown::default();
    let passed = types::CheckEnd::new(types::Ended::Exited(0), shown, types::Millis(7));
    assert!(fails_more(Some(&passed), &failed(&[])));
    assert!(!fails_more(Some(&failed(&[])), &failed(&[])));
    assert!(!fails_more(Some(&failed(&["a"])), &failed(&[])));
    assert!(!fails_more(Some(&failed(&["a"])), &failed(&["a"])));
    assert!(fails_more(Some(&failed(&["a"])), &failed(&["a", "b"])));
}

#[test]
fn new_files_among_the_tests_are_taken_away_once() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py +src/tests/helper.py");
    let events = said(&mut bench, "check T1.1/0 exits 0 passed=3 mended=2");
    assert!(events.contains("check.started T1.1 with the tests of before/0"), "{events}");
    let events = said(&mut bench, "check old:T1.1/0 exits 1 passed=1 failing=a,b");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
}

/// A sign that the policy does not ask about stands beside the level, or beside another doubt.
#[test]
fn a_sign_that_nobody_is_asked_about_is_a_note() {
    let note = "it weakens a test in src/a.py";
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py !weak_test\ncheck T1.1/0 exits 0");
    said(&mut bench, "check altered:T1.1/0 exits 1 failing=a");
    let (_, because) = level(&bench).expect("a level");
    assert_eq!(because.first(), Some(&format!("to look at: {note}")), "{because:?}");
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py !weak_test\ncheck T1.1/0 exits 0");
    let events = said(&mut bench, "check altered:T1.1/0 exits 0 unnoticed=a");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    let asked = bench.machine.view(bench.now).questions.pop().expect("a question");
    let package = asked.terms.and_then(|terms| terms.package).expect("a package");
    assert!(!asked.text.contains(note) && package.fault.evidence.contains(note), "{package:?}");
    assert!(asked.text.starts_with("the result of T1 (T1) is in doubt: "), "{}", asked.text);
}
