//! Each class of failure has its remedy, and every execution is counted.

use super::*;
use crate::testing::{Bench, audited, crew, only, planned, planned_with, run_with, same};

#[test]
fn the_wait_doubles_and_never_passes_a_minute() {
    let wait = |executions| backoff(Millis::seconds(1), executions).0;
    assert_eq!(
        [wait(1), wait(2), wait(3), wait(7), wait(200)],
        [1_000, 2_000, 4_000, 60_000, 60_000]
    );
    assert_eq!(backoff(Millis(0), 5), Millis(0));
}

/// The decision when the first attempt ends like this.
fn decided(fault: &str) -> String {
    let events = planned("T1 a").tell(&format!("T1.1 fails {fault}"));
    only(&events, &["retry", "task"])
}

fn asked(fault: &str) -> String {
    only(&planned("T1 a").tell(&format!("T1.1 fails {fault}")), &["retry", "task", "question"])
}

#[test]
fn an_attempt_that_hands_in_nothing_is_retried_by_one_that_knows_nothing_of_it() {
    same(
        &decided("structural session.no_submission"),
        "retry.scheduled T1 failure.structural_retry 3 left",
    );
}

/// A developer's attempt in an audited run, driven by these lines to its own end.
fn emitted(run: &Bench<Run>, lines: &str) -> types::Input {
    let brief = run.asked().into_iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some((*brief).clone()),
        _ => None,
    });
    let brief = brief.expect("an attempt is asked for");
    let attempt = brief.attempt.clone();
    let mut bench = Bench::of(crate::Attempt::new(std::sync::Arc::new(audited())));
    bench.send(&types::Input::Brief(Box::new(brief)));
    bench.tell(lines);
    let end = bench.machine.end(types::Digest::ZERO).expect("it is over");
    let outcome = types::Outcome::Attempt(Box::new(end));
    types::Input::Outcome(types::EffectId::Attempt(attempt), outcome)
}

/// C24-C26: an unreadable reply, a broken contract, a timeout and a crash are retried by a fresh instance, each in the
/// class that the product assigns.
#[test]
fn failures_of_mechanics_are_retried_by_an_attempt_that_knows_nothing_of_them() {
    let begun = || {
        let mut run = run_with(audited());
        run.tell("begin Fix parse() in src/a.py");
        run
    };
    for (lines, rule) in [
        ("model says {\"task_id\": \"T1\", \"spec\nseal ok", "failure.structural"),
        (
            "model says {\"task_id\": \"T1\", \"spec_id\": \"SPEC-001\"}\nseal ok",
            "failure.structural",
        ),
        ("time 1\nseal ok", "failure.timeout"),
    ] {
        let mut run = begun();
        let input = emitted(&run, lines);
        let events = crate::testing::render(&run.send(&input));
        same(
            &only(&events, &["retry", "task", "question"]),
            &format!("retry.scheduled T1 {rule} 3 left"),
        );
    }
    same(
        &only(&begun().tell("T1.1 breaks"), &["retry", "task", "question"]),
        "retry.scheduled T1 failure.structural 3 left",
    );
}

/// P36, P37: an agent that times out gets three attempts in all, each fresh; then a person decides.
#[test]
fn an_agent_that_runs_out_of_time_is_tried_again_by_a_fresh_one() {
    let mut bench = planned("T1 a");
    let mut fails = |n: u32| {
        let events =
            bench.tell(&format!("T1.{n} fails resource session.time_limit\ntimer T1 fires"));
        only(&events, &["retry.scheduled", "question"])
    };
    assert_eq!(fails(1), "retry.scheduled T1 failure.timeout 2 left");
    assert_eq!(fails(2), "retry.scheduled T1 failure.timeout 1 left");
    assert_eq!(fails(3), "question.asked 0 failure.timeout");
}

/// P37: transient faults are tried three times in all, after 1, 2, 4 s and so on.
#[test]
fn failures_of_the_outside_are_tried_again_a_little_later() {
    let mut bench = planned("T1 a");
    let mut waits = |n: u32| {
        let before = bench.now;
        let events =
            bench.tell(&format!("T1.{n} fails transient model.overloaded\ntimer T1 fires"));
        (only(&events, &["retry.scheduled", "question"]), bench.now.since(before).0)
    };
    assert_eq!(waits(1), ("retry.scheduled T1 failure.transient_retry 2 left".to_owned(), 1_000));
    assert_eq!(waits(2), ("retry.scheduled T1 failure.transient_retry 1 left".to_owned(), 2_000));
    assert_eq!(waits(3), ("question.asked 0 failure.transient_retry".to_owned(), 0));
}

#[test]
fn a_failed_check_is_handed_over_with_the_files() {
    same(
        &decided("check_failed x.y"),
        "retry.scheduled T1 failure.check_feedback 2 left, from c-T1.1, told why",
    );
}

#[test]
fn a_conflict_goes_back_with_what_it_is_about() {
    same(
        &decided("conflict x.y"),
        "retry.scheduled T1 failure.conflict_retry 1 left, from c-T1.1, told why",
    );
}

/// C29-C31, X1: violations of a rule, the spec or the scope are never retried automatically.
#[test]
fn failures_of_judgement_are_handed_to_a_person() {
    same(&asked("semantic verify.out_of_scope"), "question.asked 0 failure.semantic");
}

/// P37: faults that only a person can fix, and limits, are never retried.
#[test]
fn failures_of_limits_and_of_persons_end_the_task() {
    same(&decided("resource x.y"), "task.failed T1 failure.resource");
    same(&decided("person x.y"), "task.failed T1 failure.person");
}

/// P36: a safety concern ends the whole run at once, including unrelated tasks.
#[test]
fn a_danger_stops_the_whole_run() {
    let mut bench = planned("T1 a; T2 b; T3 c after T2");
    same(
        &only(&bench.tell("T1.1 fails safety x.y\nT2.1 is cancelled"), &["task", "run", "gate"]),
        "task.failed T1 failure.safety
         run.finished failed, failure.safety",
    );
    assert_eq!(bench.machine.status(), types::Status::Failed);
}

/// P36: a check that cannot run safely proves nothing about the work; it stops the whole run.
#[test]
fn a_check_in_a_weaker_sandbox_stops_the_whole_run() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 hands in a");
    same(
        &only(&bench.tell("check T1.1/0 unsafe"), &["task", "run", "retry", "check"]),
        "task.rejected T1.1 safety
         task.failed T1 failure.safety
         run.finished failed, failure.safety",
    );
}

/// P36: a fault without a rule is put to a person.
#[test]
fn what_no_rule_knows_is_asked() {
    same(&asked("bug x.y"), "question.asked 0 failure.unknown");
    let mut policy = crew();
    policy.failures.clear();
    let events = planned_with(policy, "T1 a").tell("T1.1 fails structural x.y");
    same(&only(&events, &["task", "question"]), "question.asked 0 failure.no_rule");
}

#[test]
fn where_nobody_can_be_asked_the_task_has_failed() {
    let mut policy = crew();
    policy.headless = true;
    let events = planned_with(policy, "T1 a").tell("T1.1 fails semantic x.y");
    same(&only(&events, &["task", "question"]), "task.failed T1 failure.semantic");
}

/// C27, C28, X2: three retries, four executions, each recorded; after the last a person decides.
#[test]
fn attempts_that_end_the_same_way_are_counted_until_none_is_left() {
    let mut bench = planned("T1 a");
    let fail = |n: u32| format!("T1.{n} fails structural x.y\ntimer T1 fires");
    let events: String = (1..4).map(|n| bench.tell(&fail(n)) + "\n").collect();
    same(
        &only(&events, &["retry.scheduled"]),
        "retry.scheduled T1 failure.structural_retry 3 left
         retry.scheduled T1 failure.structural_retry 2 left
         retry.scheduled T1 failure.structural_retry 1 left",
    );
    same(
        &only(&bench.tell("T1.4 breaks"), &["retry", "task", "question"]),
        "question.asked 0 failure.structural_retry",
    );
    let Some((Event::QuestionAsked { decision, .. }, _)) = bench.log.last() else {
        panic!("a question")
    };
    assert!(decision.seen.contains(&"execution 4 of 4".to_owned()), "{decision:?}");
}

/// C32: the question has the input, the documents, the output and the problem.
#[test]
fn a_person_is_handed_the_whole_package() {
    let mut bench = planned("T1 src/a.rs");
    bench.tell("T1.1 hands in src/a.rs src/b.rs");
    let view = bench.machine.view(bench.now);
    let terms = view.questions[0].terms.as_ref().expect("terms");
    assert_eq!(terms.escalation, Some(types::Escalation::QualityFailure));
    assert_eq!((terms.severity, terms.default.as_deref()), (types::Severity::High, Some("stop")));
    assert_eq!(terms.known(), "retry [words], skip, stop");
    let package = terms.package.as_ref().expect("a package");
    assert_eq!(package.attempt.to_string(), "T1.1");
    assert!(package.input.contains("# Task 1 of 1: Do T1"), "{}", package.input);
    assert_eq!(package.output, r#"{"summary":"done"}"#);
    assert_eq!(package.commit.as_ref().map(|commit| commit.0.as_str()), Some("c-T1.1"));
    assert_eq!(package.changes.0.len(), 2);
    assert_eq!(package.fault.code, "verify.out_of_scope");
    assert_eq!(view.status, types::Status::Waiting);
    assert_eq!(view.tasks[0].stage, types::TaskStage::Asking);
}

#[test]
fn a_person_can_have_it_tried_once_more_and_say_how() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 fails semantic x.y");
    same(
        &bench.tell("answer 0 once more\nanswer 0 retry keep to your own file\ntimer T1 fires"),
        "question.answered 0
         retry.scheduled T1 person.retry 0 left, told why
         retry.released T1
         attempt.started T1.2 coder",
    );
    let asked = format!("{:?}", bench.asked());
    assert!(asked.contains("ann says: keep to your own file"), "{asked}");
    same(
        &only(&bench.tell("T1.2 fails semantic x.y"), &["question"]),
        "question.asked 1 failure.semantic",
    );
}

#[test]
fn after_a_failed_check_one_more_attempt_goes_on_from_the_files() {
    let mut policy = crew();
    for rule in &mut policy.failures {
        (rule.max_executions, rule.then) = (1, Some(Remedy::Ask));
    }
    let mut bench = planned_with(policy, "T1 a");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 1");
    same(
        &only(&bench.tell("answer 0 retry"), &["retry"]),
        "retry.scheduled T1 person.retry 0 left, from c-T1.1, told why",
    );
}

#[test]
fn a_person_can_leave_a_task_out() {
    let mut bench = planned("T1 a; T2 b");
    bench.tell("T2.1 hands in b\ncheck T2.1/0 exits 0\nT1.1 fails semantic x.y");
    same(
        &only(&bench.tell("answer 0 skip\nmerge T2 lands"), &["task", "gate"]),
        "task.skipped T1 person.skip
         task.finished T2
         gate.passed execution",
    );
}

#[test]
fn a_person_can_end_the_run() {
    let mut bench = planned("T1 a; T2 b");
    bench.tell("T1.1 fails semantic x.y");
    same(
        &only(&bench.tell("answer 0 stop\nT2.1 is cancelled"), &["task", "run"]),
        "task.failed T1 person.stop
         run.finished failed, person.stop",
    );
}

#[test]
fn a_task_that_is_blocked_is_a_question_and_never_tried_again_by_itself() {
    same(&asked("semantic session.blocked"), "question.asked 0 failure.blocked");
    let mut bench = planned("T1 a");
    bench.tell("T1.1 fails semantic session.blocked");
    let text = bench.log.iter().find_map(|(event, _)| match event {
        Event::QuestionAsked { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert!(text.is_some_and(|text| text.starts_with("T1 is blocked: ")), "{text:?}");
}
