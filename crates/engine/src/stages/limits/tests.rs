//! The time that checks get, and what follows if it is not enough.

use types::{Effect, Millis};

use crate::Run;
use crate::testing::{Bench, only, proving, run_with, same};

const SEEN: [&str; 7] = ["check", "task", "gate", "question", "run.f", "attempt", "retry"];

fn said(bench: &mut Bench<Run>, lines: &str) -> String {
    only(&bench.tell(lines), &SEEN)
}

/// A run with a plan, whose check took so many seconds on the untouched tree.
fn after(seconds: u64) -> Bench<Run> {
    let mut bench = run_with(proving());
    bench.tell(&format!("begin Build a CLI\ncheck base/0 took {seconds}\nplan.1 plans T1 src/"));
    bench
}

/// The limit of the running check.
fn limit(bench: &Bench<Run>) -> Option<Millis> {
    bench.asked().into_iter().find_map(|effect| match effect {
        Effect::RunCheck { what, .. } => what.timeout_ms,
        _ => None,
    })
}

#[test]
fn a_check_gets_a_multiple_of_what_it_took_on_the_untouched_tree() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI");
    assert_eq!(limit(&bench), Some(Millis::seconds(1_800)), "the untouched tree");
    for (took, given) in [(1, 120), (60, 300), (1_200, 1_800)] {
        let mut bench = after(took);
        bench.tell("T1.1 hands in src/a.py");
        assert_eq!(limit(&bench), Some(Millis::seconds(given)), "{took}");
        bench.tell("check T1.1/0 took 100");
        let trial = given.max(500);
        assert_eq!(limit(&bench), Some(Millis::seconds(trial)), "a trial after {took}");
    }
}

#[test]
fn a_check_that_breaks_off_on_the_untouched_tree_tells_nothing_about_its_time() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 exits 101\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py");
    assert_eq!(limit(&bench), Some(Millis::seconds(1_800)));
}

#[test]
fn a_limit_of_the_checks_own_is_kept_and_only_a_person_changes_it() {
    let mut policy = proving();
    policy.checks = vec![types::Check {
        timeout_ms: Some(Millis::seconds(9)),
        ..types::Check::new("tests", "make test")
    }];
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\ncheck base/0 took 1\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py");
    assert_eq!(limit(&bench), Some(Millis::seconds(9)));
    let events = said(&mut bench, "check T1.1/0 hangs");
    assert!(events.contains("question.asked 0 verify.timed_out"), "{events}");
    bench.tell("answer 0 again");
    assert_eq!(limit(&bench), Some(Millis::seconds(18)));
}

#[test]
fn a_check_that_times_out_gets_twice_the_time_and_then_a_person_decides() {
    let mut bench = after(60);
    same(
        &said(&mut bench, "T1.1 hands in src/a.py\ncheck T1.1/0 hangs\ncheck T1.1/0 hangs"),
        "attempt.finished T1.1 submitted
         check.started T1.1/0 tests
         check.finished T1.1/0 timed out
         check.started T1.1/0 tests, up to 10 min 00 s, verify.longer_limit
         check.finished T1.1/0 timed out
         task.rejected T1.1 structural
         question.asked 0 verify.timed_out",
    );
    let view = bench.machine.view(bench.now);
    let asked = &view.questions[0];
    let more = "more than 10 times the 1 min 00 s that it took on the untouched tree";
    assert!(asked.text.contains(more), "{}", asked.text);
    let terms = asked.terms.as_ref().expect("choices");
    assert_eq!(terms.known(), "again, retry [words], accept, drop, skip, stop");
    // The person's limit holds from then on, also for the trial and for the merged tree.
    same(
        &said(&mut bench, "answer 0 again"),
        "question.answered 0
         check.started T1.1/0 tests, up to 20 min 00 s, person.longer_limit",
    );
    bench.tell("check T1.1/0 took 700");
    assert_eq!(limit(&bench), Some(Millis::seconds(1_800)));
    bench.tell("check altered:T1.1/0 exits 1 failing=a");
    bench.tell("check mutated:T1.1/0 exits 0 unnoticed=x\nmerge T1 lands");
    let events = said(&mut bench, "check merged/0 exits 0 passed=1\nanswer 1 go");
    assert!(events.contains("run.finished done"), "{events}");
}

#[test]
fn only_a_person_passes_a_time_out_on_to_the_agent_and_it_counts_as_no_failure() {
    let mut bench = after(60);
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 hangs\ncheck T1.1/0 hangs");
    same(
        &only(&bench.tell("answer 0 retry is it a loop?"), &["retry"]),
        "retry.scheduled T1 person.retry 0 left, from c-T1.1, told why",
    );
    bench.tell("timer T1 fires");
    let told = format!("{:?}", bench.asked());
    assert!(told.contains("is it a loop?") && told.contains("did not end within"), "{told}");
    // Failed checks still have all their rounds.
    same(
        &only(&bench.tell("T1.2 hands in src/a.py\ncheck T1.2/0 exits 1"), &["retry"]),
        "retry.scheduled T1 failure.check_feedback 2 left, from c-T1.2, told why",
    );
}

#[test]
fn what_failed_beside_a_time_out_goes_back_without_it() {
    let mut policy = proving();
    policy.checks =
        vec![types::Check::new("slow", "make slow"), types::Check::new("unit", "make unit")];
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\ncheck base/0 took 900\ncheck base/1 took 1");
    bench.tell("plan.1 plans T1 src/\nT1.1 hands in src/a.py");
    let events = said(&mut bench, "check T1.1/0 hangs\ncheck T1.1/1 exits 1\ntimer T1 fires");
    assert!(events.contains("retry.scheduled T1 failure.check_feedback"), "{events}");
    let told = format!("{:?}", bench.asked());
    assert!(told.contains("unit (`make unit`): exit 1"), "{told}");
    assert!(!told.contains("timed out") && !told.contains("slow (`"), "{told}");
}

#[test]
fn a_trial_that_times_out_shows_nothing() {
    let mut bench = after(60);
    bench.tell("T1.1 hands in src/a.py +src/test_b.py\ncheck T1.1/0 took 1");
    bench.tell("check old:T1.1/0 took 1\ncheck new:T1.1/0 hangs");
    let events = said(&mut bench, "check altered:T1.1/0 hangs");
    assert!(events.contains("task.verified T1.1"), "{events}");
    let view = bench.machine.view(bench.now);
    let evidence = view.tasks[0].evidence.as_ref().expect("a level");
    assert_eq!(evidence.level, types::Level::Unproven);
    // Not even if the result mends tests: it could hang in its trials on purpose.
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 exits 1 passed=1 failing=a\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=2 mended=1");
    bench.tell("check altered:T1.1/0 hangs");
    let view = bench.machine.view(bench.now);
    let evidence = view.tasks[0].evidence.as_ref().expect("a level");
    assert_eq!(evidence.level, types::Level::Unproven);
}

#[test]
fn an_untouched_tree_that_times_out_is_asked_about_first() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI");
    same(
        &said(&mut bench, "check base/0 hangs"),
        "check.finished base/0 timed out
         question.asked 0 baseline.timed_out",
    );
    let view = bench.machine.view(bench.now);
    let terms = view.questions[0].terms.as_ref().expect("choices");
    assert_eq!(terms.known(), "again, check COMMAND, leave, stop");
    same(
        &said(&mut bench, "answer 0 again"),
        "question.answered 0
         check.started base/0 tests, up to 1 h 00 min 00 s, person.longer_limit",
    );
    let events = said(&mut bench, "check base/0 took 2000");
    assert!(events.contains("attempt.started plan.1"), "{events}");
    bench.tell("plan.1 plans T1 src/\nT1.1 hands in src/a.py");
    assert_eq!(limit(&bench), Some(Millis::seconds(3_600)), "what a person granted");
}

#[test]
fn without_a_check_that_hangs_the_others_need_not_run_again() {
    let mut policy = proving();
    policy.checks =
        vec![types::Check::new("slow", "make slow"), types::Check::new("unit", "make unit")];
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\ncheck base/0 hangs\ncheck base/1 took 1");
    let events = said(&mut bench, "answer 0 leave");
    assert!(events.contains("attempt.started plan.1"), "{events}");
    assert!(!events.contains("check.started"), "{events}");
}

#[test]
fn a_merged_tree_that_times_out_is_an_open_point_that_a_person_may_accept_or_wait_for() {
    let merged = || {
        let mut bench = after(60);
        bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=2 mended=1");
        bench.tell("check altered:T1.1/0 exits 1 failing=a\nmerge T1 lands\ncheck merged/0 hangs");
        let events = said(&mut bench, "check merged/0 hangs");
        assert!(events.contains("gate.blocked monitoring: tests did not end within"), "{events}");
        bench
    };
    let mut bench = merged();
    let view = bench.machine.view(bench.now);
    let terms = view.questions[0].terms.as_ref().expect("choices");
    assert_eq!(terms.known(), "go, again, retry [words], stop");
    assert!(said(&mut bench, "answer 0 go").contains("run.finished done"));
    let mut bench = merged();
    let events = said(&mut bench, "answer 0 again");
    assert!(events.contains("up to 20 min 00 s, person.longer_limit"), "{events}");
    let events = said(&mut bench, "check merged/0 exits 0 passed=2");
    assert!(events.contains("run.finished done"), "{events}");
}

#[test]
fn a_combined_tree_that_times_out_is_left_to_the_last_checks() {
    let mut bench = run_with(proving());
    bench.tell("begin Build a CLI\ncheck base/0 took 60\nplan.1 plans T1 src/a.py; T2 src/b.py");
    for task in ["T1", "T2"] {
        let file = if task == "T1" { "a" } else { "b" };
        bench.tell(&format!("{task}.1 hands in src/{file}.py"));
        bench.tell(&format!("check {task}.1/0 exits 0 passed=2 mended=1"));
        bench.tell(&format!("check altered:{task}.1/0 exits 1 failing=a"));
    }
    bench.tell("merge T1 lands\nmerge T2 lands\ncheck landed:T2.1/0 hangs");
    same(
        &said(&mut bench, "check landed:T2.1/0 hangs"),
        "check.finished merged T2.1/0 timed out
         task.finished T2
         gate.passed execution
         check.started merged/0 tests",
    );
}

#[test]
fn a_policy_with_one_limit_for_all_takes_a_time_out_for_a_failure() {
    let mut policy = proving();
    policy.limits.check_timeout_factor = 0;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\ncheck base/0 took 1\nplan.1 plans T1 src/");
    let events = said(&mut bench, "T1.1 hands in src/a.py\ncheck T1.1/0 hangs");
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
}
