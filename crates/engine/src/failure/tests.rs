//! Each class of failure has its answer, and every execution is counted.

use super::*;
use crate::testing::{Bench, audited, crew, new_run, only, planned, planned_with, run_with, same};

#[test]
fn the_wait_doubles_and_never_passes_a_minute() {
    let wait = |executions| backoff(Span::seconds(1), executions).0;
    assert_eq!(
        [wait(1), wait(2), wait(3), wait(7), wait(200)],
        [1_000, 2_000, 4_000, 60_000, 60_000]
    );
    assert_eq!(backoff(Span(0), 5), Span(0));
}

/// What is decided when the first attempt ends in this way.
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

/// A developer's attempt in an audited run, driven to its end by these lines; what it ends with is its own affair.
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

/// C24-C26: a reply that cannot be read, one that breaks the contract, a time-out and a crash are retried by a fresh
/// instance, each in the class in which the product itself puts it.
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

/// P36, P37: an agent that runs out of its time is tried three times in all, each time fresh; then a person decides.
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

/// P37: what was only busy or away is tried three times in all, after 1, 2, 4 s and so on.
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

/// C29-C31, X1: what broke a rule, the spec or its scope is never tried again by itself.
#[test]
fn failures_of_judgement_are_handed_to_a_person() {
    same(&asked("semantic verify.out_of_scope"), "question.asked 0 failure.semantic");
}

/// P37: what only a person can mend, and limits, are never tried again.
#[test]
fn failures_of_limits_and_of_persons_end_the_task() {
    same(&decided("resource x.y"), "task.failed T1 failure.resource");
    same(&decided("person x.y"), "task.failed T1 failure.person");
}

/// P36: a safety concern ends everything at once, also what has nothing to do with it.
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

/// P36: what nobody has said anything about, a person is asked about.
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

/// C27, C28, X2: three retries, four executions, each on record; after the last a person decides.
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

/// C32: whoever decides is handed the input, the documents, the output and what is wrong with it.
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

/// P36: a quality failure is tried by somebody else, once, before a person is asked.
#[test]
fn another_role_or_model_may_try_it_instead() {
    let mut policy = crew();
    let senior = types::RoleId::fixed("senior");
    let mut role = policy.roles[&types::RoleId::fixed("coder")].clone();
    role.model = None;
    policy.roles.insert(senior.clone(), role);
    for rule in &mut policy.failures {
        (rule.max_executions, rule.then) = (1, Some(types::Remedy::Alternative));
        (rule.role, rule.model) = (Some(senior.clone()), "other/model".parse().ok());
    }
    let mut bench = planned_with(policy, "T1 a");
    let events = bench.tell("T1.1 fails check_failed x.y\ntimer T1 fires");
    same(
        &only(&events, &["retry.scheduled", "attempt.started"]),
        "retry.scheduled T1 failure.check_feedback 0 left
         attempt.started T1.2 senior",
    );
    let model = bench.asked().iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some(brief.model.to_string()),
        _ => None,
    });
    assert_eq!(model.as_deref(), Some("other/model"));
    same(
        &only(&bench.tell("T1.2 fails check_failed x.y"), &["retry", "question"]),
        "question.asked 0 failure.check_feedback",
    );
}

/// P38: a role that failed so many times in a row is left alone, whichever tasks it failed at; then one attempt tries.
#[test]
fn tasks_that_wait_for_a_role_that_is_left_alone_start_when_it_may_try_again() {
    let mut policy = crew();
    policy.limits.parallel_tasks = 1;
    policy.breaker.failures = 2;
    policy.headless = true;
    policy.failures.iter_mut().for_each(|rule| rule.max_executions = 1);
    let mut bench = planned_with(policy, "T1 a; T2 b; T3 c; T4 d");
    let starts = ["attempt.started", "retry.scheduled"];
    let begun = bench.now;
    bench.tell("T1.1 breaks");
    same(
        &only(&bench.tell("T2.1 breaks"), &starts),
        "retry.scheduled T3 failure.breaker_open 1 left",
    );
    same(&only(&bench.tell("timer T3 fires"), &starts), "attempt.started T3.1 coder");
    assert_eq!(bench.now.since(begun).0, 30_000);
    same(
        &only(&bench.tell("T3.1 hands in c\ncheck T3.1/0 exits 0"), &starts),
        "attempt.started T4.1 coder",
    );
    assert_eq!(bench.machine.view(bench.now).retries, 0, "nothing was tried twice");
}

#[test]
fn each_way_of_failing_has_its_own_count() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 fails structural x.y\ntimer T1 fires");
    same(
        &only(&bench.tell("T1.2 fails check_failed x.y\ntimer T1 fires"), &["retry.scheduled"]),
        "retry.scheduled T1 failure.check_feedback 2 left, from c-T1.2, told why",
    );
    same(
        &only(&bench.tell("T1.3 fails structural x.y"), &["retry.scheduled"]),
        "retry.scheduled T1 failure.structural_retry 2 left",
    );
}

#[test]
fn a_fault_that_says_how_long_to_wait_is_believed_up_to_an_hour() {
    let waits = |asked: Span| {
        let mut bench = planned("T1 a");
        let fault = Fault::new(types::FaultClass::Transient, "model.busy", "busy")
            .retry(types::Retry::After(asked));
        let attempt = "T1.1".parse().expect("an attempt");
        let outcome = types::Outcome::Broke(fault);
        let input = types::Input::Outcome(types::EffectId::Attempt(attempt), outcome);
        let events = bench.send(&input);
        events.iter().find_map(|event| match event {
            Event::RetryScheduled { at, .. } => Some(at.since(bench.now).0),
            _ => None,
        })
    };
    assert_eq!(waits(Span(10)), Some(1_000));
    assert_eq!(waits(Span::seconds(90)), Some(90_000));
    assert_eq!(waits(Span(u64::MAX)), Some(3_600_000));
}

#[test]
fn a_failure_counts_only_for_the_rule_that_answered_it() {
    // An invalid plan is a structural failure too, but another rule has answered it.
    let mut bench = new_run();
    bench.tell("begin Build a CLI\nplan.1 plans T1 a after T9\ntimer plan fires");
    same(
        &only(&bench.tell("plan.2 fails structural session.no_submission"), &["retry"]),
        "retry.scheduled plan failure.structural_retry 3 left",
    );
}

/// P36: in the crew, whoever failed the checks twice with feedback is followed by another role, which knows nothing of
/// it; then a person decides.
#[test]
fn a_quality_failure_ends_with_an_alternative_and_then_a_person() {
    let mut bench = planned("T1 a");
    let mut fails = |n: u32| {
        let events = bench.tell(&format!("T1.{n} fails check_failed x.y\ntimer T1 fires"));
        only(&events, &["retry.scheduled", "attempt.started", "question"])
    };
    let scheduled = "retry.scheduled T1 failure.check_feedback";
    fails(1);
    assert_eq!(
        fails(2),
        format!("{scheduled} 1 left, from c-T1.2, told why\nattempt.started T1.3 coder")
    );
    assert_eq!(fails(3), format!("{scheduled} 0 left\nattempt.started T1.4 debugger"));
    assert_eq!(fails(4), "question.asked 0 failure.check_feedback");
}

#[test]
fn after_two_rounds_of_feedback_the_next_attempt_knows_nothing_of_them() {
    let mut policy = crew();
    for rule in &mut policy.failures {
        (rule.max_executions, rule.then) = (4, Some(Remedy::Ask));
        rule.fresh_after = Some(2);
    }
    let mut bench = planned_with(policy, "T1 a");
    let mut fails = |n: u32| {
        let events = bench.tell(&format!("T1.{n} fails check_failed x.y\ntimer T1 fires"));
        only(&events, &["retry.scheduled", "question"])
    };
    let scheduled = "retry.scheduled T1 failure.check_feedback";
    assert_eq!(fails(1), format!("{scheduled} 3 left, from c-T1.1, told why"));
    assert_eq!(fails(2), format!("{scheduled} 2 left, from c-T1.2, told why"));
    assert_eq!(fails(3), format!("{scheduled} 1 left"));
    assert_eq!(fails(4), "question.asked 0 failure.check_feedback");
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
