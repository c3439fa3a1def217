//! Which trials are made for which change, and their consequences.

use crate::Run;
use crate::testing::{Bench, only, proving, run_with, same};

const SEEN: [&str; 6] = ["check", "task", "gate", "question", "run", "attempt"];

/// A run whose check failed on the untouched tree, with two named tests.
pub(super) fn red() -> Bench<Run> {
    begun("check base/0 exits 1 passed=1 failing=a,b")
}

fn green() -> Bench<Run> {
    begun("check base/0 exits 0 passed=3")
}

fn begun(base: &str) -> Bench<Run> {
    let mut bench = run_with(proving());
    bench.tell(&format!("begin Build a CLI\n{base}"));
    let events = bench.tell("plan.1 plans T1 src/");
    assert!(events.contains("plan.adopted"), "{events}");
    bench
}

pub(super) fn said(bench: &mut Bench<Run>, lines: &str) -> String {
    only(&bench.tell(lines), &SEEN)
}

#[test]
fn checks_run_on_the_untouched_tree_before_anything_is_planned() {
    let mut bench = run_with(proving());
    let events = bench.tell("begin Build a CLI");
    assert!(events.contains("check.started base/0 tests"), "{events}");
    assert!(!events.contains("attempt.started"), "{events}");
    let events = bench.tell("check base/0 exits 1 passed=1 failing=a");
    assert!(events.contains("attempt.started plan.1 planner"), "{events}");
    let told = format!("{:?}", bench.asked());
    assert!(told.contains("Failing before any change") && told.contains("- a"), "{told}");
}

#[test]
fn a_check_that_cannot_run_is_a_question_before_anything_is_spent() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI");
    same(
        &said(&mut bench, "check base/0 exits 127 cannot"),
        "check.finished base/0 exit 127
         question.asked 0 baseline.cannot_run",
    );
    // Another command replaces it, and is run in turn.
    let events = said(&mut bench, "answer 0 check sh test.sh");
    assert!(events.contains("check.started base/0 sh test.sh"), "{events}");
    let events = said(&mut bench, "check base/0 exits 0 passed=2");
    assert!(events.contains("attempt.started plan.1"), "{events}");
}

#[test]
fn a_check_can_be_put_right_or_left_out() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 exits 127 cannot");
    let events = said(&mut bench, "answer 0 again");
    assert!(events.contains("check.started base/0 tests"), "{events}");
    bench.tell("check base/0 exits 127 cannot");
    let events = said(&mut bench, "answer 1 leave");
    // The person knows that no check is left; the gate will report it again.
    assert!(!events.contains("question.asked"), "{events}");
    assert!(events.contains("attempt.started plan.1"), "{events}");
}

#[test]
fn where_nobody_can_be_asked_the_run_goes_on_and_the_gate_decides() {
    let mut policy = proving();
    policy.headless = true;
    let mut bench = run_with(policy);
    let events = bench.tell("begin Build a CLI\ncheck base/0 exits 127 cannot");
    assert!(events.contains("attempt.started plan.1"), "{events}");
}

#[test]
fn a_change_of_code_that_turns_failing_tests_is_proven_once_altered_tests_are_noticed() {
    let mut bench = red();
    same(
        &said(&mut bench, "T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 mended=2"),
        "attempt.finished T1.1 submitted
         check.started T1.1/0 tests
         check.finished T1.1/0 exit 0
         check.started T1.1 with altered tests/0 tests",
    );
    let events = said(&mut bench, "check altered:T1.1/0 exits 1 passed=1 failing=a,b");
    assert!(events.contains("task.verified T1.1 verify.checks_passed"), "{events}");
    let view = bench.machine.view(bench.now);
    assert_eq!(view.tasks[0].evidence.as_ref().map(|one| one.level), Some(types::Level::Proven));
}

#[test]
fn altered_tests_that_nobody_notices_are_put_to_a_person_who_may_accept() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 mended=2");
    same(
        &said(&mut bench, "check altered:T1.1/0 exits 0 passed=3 unnoticed=a"),
        "check.finished T1.1 with altered tests/0 exit 0
         task.rejected T1.1 semantic
         question.asked 0 failure.semantic",
    );
    let events = said(&mut bench, "answer 0 accept");
    assert!(events.contains("task.verified T1.1 person.accept"), "{events}");
}

#[test]
fn changed_tests_are_tried_as_they_were_before() {
    let mut bench = red();
    let events = said(
        &mut bench,
        "T1.1 hands in src/a.py src/tests/test_a.py\ncheck T1.1/0 exits 0 passed=3 mended=2",
    );
    assert!(events.contains("check.started T1.1 with the tests of before/0"), "{events}");
    let events = said(&mut bench, "check old:T1.1/0 exits 1 passed=1 failing=a,b");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    let asked = format!("{:?}", bench.machine.view(bench.now).questions);
    assert!(asked.contains("as they were before, it fails with the new code"), "{asked}");
}

#[test]
fn new_tests_must_fail_without_the_change() {
    for (without, level) in [("exits 1", types::Level::Proven), ("exits 0", types::Level::Unproven)]
    {
        let mut bench = green();
        bench.tell("T1.1 hands in src/a.py +src/test_b.py");
        bench.tell("check T1.1/0 exits 0 passed=4");
        let events = said(&mut bench, "check old:T1.1/0 exits 0 passed=3");
        assert!(events.contains("check.started T1.1 without its code/0"), "{events}");
        said(&mut bench, &format!("check new:T1.1/0 {without}"));
        said(&mut bench, "check altered:T1.1/0 exits 1 passed=3 failing=b");
        if level == types::Level::Unproven {
            said(&mut bench, "check mutated:T1.1/0 exits 0 unnoticed=x");
        }
        let view = bench.machine.view(bench.now);
        assert_eq!(view.tasks[0].evidence.as_ref().map(|one| one.level), Some(level));
    }
}

/// If tests failed before, new tests are seen to fail only if another failure appears.
#[test]
fn what_failed_before_says_nothing_about_new_tests() {
    for (failing, level) in [("a,b", types::Level::Unproven), ("a,b,c", types::Level::Proven)] {
        let mut bench = red();
        bench.tell("T1.1 hands in src/a.py +src/test_b.py");
        said(&mut bench, "check T1.1/0 exits 1 passed=2 failing=a,b excused=a,b");
        bench.tell("check old:T1.1/0 exits 1 passed=1 failing=a,b");
        said(&mut bench, &format!("check new:T1.1/0 exits 1 passed=1 failing={failing}"));
        said(&mut bench, "check altered:T1.1/0 exits 1 passed=1 failing=a,b,c");
        if level == types::Level::Unproven {
            said(&mut bench, "check mutated:T1.1/0 exits 1 failing=a,b unnoticed=x");
        }
        bench.tell("merge T1 lands");
        said(&mut bench, "check merged/0 exits 1 passed=2 failing=a,b excused=a,b");
        let view = bench.machine.view(bench.now);
        assert_eq!(view.tasks[0].evidence.as_ref().map(|one| one.level), Some(level), "{failing}");
        assert!(view.tasks[0].checks[0].excused && view.merged_checks[0].excused);
        let checks = view.gates.iter().flat_map(|gate| &gate.card).flat_map(|card| &card.criteria);
        let low = checks.filter(|one| one.measure == types::Measure::Checks && one.value < 100);
        assert_eq!(low.count(), 0, "they are not held against it");
    }
}

/// A run in which the exit code alone decides.
fn by_exit_code(base: &str) -> Bench<Run> {
    let mut policy = proving();
    policy.verify.decides = types::Decides::ExitCode;
    let mut bench = run_with(policy);
    bench.tell(&format!("begin Build a CLI\n{base}\nplan.1 plans T1 src/"));
    bench
}

#[test]
fn where_the_exit_code_decides_evidence_is_only_recorded() {
    let passes = "check T1.1/0 exits 0 passed=3";
    for (given, why) in [
        (format!("T1.1 hands in src/a.py !early_exit\n{passes}"), "may end the process"),
        (format!("T1.1 hands in src/a.py\n{passes}\ncheck altered:T1.1/0 exits 0"), "still passes"),
        ("T1.1 hands in\ncheck T1.1/0 exits 0".to_owned(), "changes no code"),
    ] {
        let mut bench = by_exit_code("check base/0 exits 0 passed=3");
        bench.tell(&format!("{given}\nmerge T1 lands"));
        let events = said(&mut bench, "check merged/0 exits 0 passed=3");
        assert!(events.contains("run.finished done"), "{given}: {events}");
        let evidence = bench.machine.view(bench.now).tasks[0].evidence.clone().expect("evidence");
        assert!(evidence.because.join("; ").contains(why), "{evidence:?}");
    }
}

#[test]
fn where_the_exit_code_decides_nothing_excuses_a_failure() {
    let mut bench = by_exit_code("check base/0 exits 1 passed=1 failing=a,b");
    let events = said(
        &mut bench,
        "T1.1 hands in src/a.py\ncheck T1.1/0 exits 1 passed=2 failing=a,b excused=a,b",
    );
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
}

#[test]
fn a_change_without_code_needs_no_test_of_its_own() {
    let mut bench = green();
    bench.tell("T1.1 hands in src/README.md\ncheck T1.1/0 exits 0 passed=3");
    bench.tell("check altered:T1.1/0 exits 1 failing=a\nmerge T1 lands");
    let events = said(&mut bench, "check merged/0 exits 0 passed=3");
    assert!(events.contains("run.finished done"), "{events}");
}

#[test]
fn a_runner_that_does_not_report_to_its_end_has_not_passed() {
    for end in ["exits 0 passed=1 incomplete", "exits 0 passed=0"] {
        let mut bench = red();
        bench.tell("T1.1 hands in src/a.py");
        let events = said(&mut bench, &format!("check T1.1/0 {end}"));
        assert!(events.contains("task.rejected T1.1 check_failed"), "{end}: {events}");
    }
}

pub(super) fn level(bench: &Bench<Run>) -> Option<(types::Level, Vec<String>)> {
    let weighed = bench.machine.task_states()[0].evidence.clone()?;
    Some((weighed.level, weighed.because))
}

#[test]
fn a_missing_report_lowers_the_level_and_rejects_nothing() {
    // Failed before, with a report; or always prints nothing when it passes, cut off or not.
    for (base, end) in [
        ("exits 1 passed=1 failing=a", "exits 0"),
        ("exits 1 passed=1 failing=a", "exits 0 passed=2 mended=1 quiet"),
    ] {
        let mut bench = begun(&format!("check base/0 {base}"));
        bench.tell("T1.1 hands in src/a.py");
        let events = said(&mut bench, &format!("check T1.1/0 {end}"));
        assert!(events.contains("with altered tests"), "{end}: {events}");
        let events = said(&mut bench, "check altered:T1.1/0 exits 1 failing=a");
        assert!(events.contains("task.verified T1.1 verify.checks_passed"), "{end}: {events}");
        let (level, because) = level(&bench).expect("a level");
        assert_eq!(level, types::Level::Covered, "{end}: {because:?}");
        let says = "tests counts by its exit code alone: its test runner printed no report";
        assert!(because.iter().any(|one| one == says), "{because:?}");
        // On the merged tree it is as quiet, and that is no failure either.
        let events = said(&mut bench, &format!("merge T1 lands\ncheck merged/0 {end}"));
        assert!(events.contains("run.finished done"), "{end}: {events}");
    }
}

#[test]
fn a_quiet_check_that_nothing_shows_to_fail_is_no_proof() {
    // It cannot fail any more.
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0");
    let events = said(&mut bench, "check altered:T1.1/0 exits 0 unnoticed=x");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    // Nothing could be altered: it fails without the change, but that proves nothing about it now.
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0");
    bench.tell("check altered:T1.1/0 exits 0 untried\ncheck mutated:T1.1/0 exits 0 untried");
    assert_eq!(level(&bench).map(|(level, _)| level), Some(types::Level::Unproven));
    // A report that it had when it passed is gone.
    let mut bench = green();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0");
    let events = said(&mut bench, "check altered:T1.1/0 exits 1 failing=a");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    let choices = bench.log.iter().rev().find_map(|(event, _)| match event {
        types::Event::QuestionAsked { terms: Some(terms), .. } => Some(terms.choices.clone()),
        _ => None,
    });
    let choices = choices.expect("a question");
    let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
    assert_eq!(ids, ["retry", "accept", "drop", "skip", "stop"]);
}

#[test]
fn a_check_that_never_reports_to_its_end_is_taken_as_it_is() {
    let mut bench = begun("check base/0 exits 0 passed=3 incomplete");
    bench.tell("T1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 exits 0 passed=3 incomplete");
    assert!(events.contains("with altered tests"), "{events}");
}

#[test]
fn a_dropped_check_is_not_run_again() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 mended=2");
    bench.tell("check altered:T1.1/0 exits 0 passed=3 unnoticed=a");
    let events = said(&mut bench, "answer 0 drop\nmerge T1 lands");
    assert!(events.contains("task.verified T1.1 person.drop"), "{events}");
    assert!(!events.contains("check.started"), "{events}");
    assert!(events.contains("gate.passed monitoring"), "{events}");
    assert!(events.contains("run.finished done"), "{events}");
}

#[test]
fn tests_that_failed_before_and_are_about_other_files_are_not_held_against_a_task() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 exits 1 passed=2 failing=b mended=1 excused=b");
    assert!(events.contains("with altered tests"), "{events}");
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 exits 1 passed=2 failing=b mended=1");
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
}

#[test]
fn a_check_that_rewrites_tracked_files_is_put_to_a_person() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 exits 0 passed=3 mended=2 rewrote=tests/test_a.py");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    // A side effect that the check already had is not reported.
    let mut bench = begun("check base/0 exits 1 passed=1 failing=a rewrote=Cargo.lock");
    bench.tell("T1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 exits 0 passed=2 mended=1 rewrote=Cargo.lock");
    assert!(events.contains("with altered tests"), "{events}");
}

#[test]
fn signs_in_the_diff_are_asked_about_only_when_the_checks_pass() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py !early_exit");
    let events = said(&mut bench, "check T1.1/0 exits 1 failing=a,b");
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py !early_exit");
    let events = said(&mut bench, "check T1.1/0 exits 0 passed=3 mended=2");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
}

#[test]
fn nothing_done_goes_back_and_an_untouched_file_is_said_once() {
    let mut bench = red();
    bench.tell("T1.1 hands in");
    let view = bench.machine.view(bench.now);
    assert!(view.tasks[0].fault.as_ref().is_some_and(|what| what.contains("changes nothing")));
}

#[test]
fn what_the_goal_names_and_nobody_made_is_asked_about() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 mended=2");
    bench.tell("check altered:T1.1/0 exits 1 passed=1 failing=a,b\nmerge T1 lands");
    let events = said(&mut bench, "check merged/0 exits 0 passed=3 leftout=restock");
    assert!(events.contains("question.asked"), "{events}");
}

#[test]
fn a_task_that_nothing_proves_alone_is_taken_out_of_the_whole() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 exits 0 passed=3\nplan.1 plans T1 src/a.py; T2 src/test_a.py after T1");
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3\ncheck altered:T1.1/0 exits 1 failing=x");
    bench.tell("check mutated:T1.1/0 exits 0 unnoticed=x\nmerge T1 lands");
    bench.tell("T2.1 hands in +src/test_a.py");
    bench.tell(
        "check T2.1/0 exits 0 passed=4\ncheck altered:T2.1/0 exits 1 failing=x\nmerge T2 lands",
    );
    let events = said(&mut bench, "check merged/0 exits 0 passed=4");
    assert!(events.contains("check.started without T1/0 tests"), "{events}");
    let mut missed = bench.clone();
    let events = said(&mut bench, "check without:T1/0 exits 1 failing=y");
    assert!(events.contains("run.finished done"), "{events}");
    let events = said(&mut missed, "check without:T1/0 exits 0 passed=4");
    assert!(events.contains("gate.blocked monitoring"), "{events}");
}

#[test]
fn a_document_does_not_mend_tests_that_fail() {
    let mut bench = red();
    bench.tell("T1.1 hands in src/README.md");
    bench.tell("check T1.1/0 exits 1 passed=1 failing=a,b excused=a,b\nmerge T1 lands");
    let events = said(&mut bench, "check merged/0 exits 1 passed=1 failing=a,b excused=a,b");
    assert!(events.contains("gate.blocked monitoring"), "{events}");
    assert!(events.contains("question.asked"), "{events}");
}

#[test]
fn a_file_that_the_task_has_on_the_branch_need_not_be_written_again() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 exits 0 passed=3");
    bench.tell("plan.1 plans T1 src/a.py,src/b.py");
    bench.tell("T1.1 hands in src/a.py src/b.py\ncheck T1.1/0 exits 0 passed=3");
    bench.tell("check altered:T1.1/0 exits 1 failing=x");
    bench.tell("check mutated:T1.1/0 exits 0 unnoticed=x\nmerge T1 lands");
    let events = said(&mut bench, "check merged/0 exits 1 failing=y");
    assert!(events.contains("gate.blocked monitoring"), "{events}");
    let events = said(&mut bench, "answer 0 retry");
    assert!(events.contains("attempt.started T1.2"), "{events}");
    let events = said(&mut bench, "T1.2 hands in src/a.py");
    assert!(events.contains("check.started T1.2/0") && !events.contains("rejected"), "{events}");
}
