//! Remedies: another role or model, a delay, a fresh attempt; and how executions are counted.

use super::*;
use crate::testing::{crew, new_run, only, planned, planned_with, same};

/// P36: a quality failure goes to another role once before a person is asked.
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

/// P38: a role with too many consecutive failures, in any tasks, is paused; then one attempt tries again.
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
    let waits = |asked: Millis| {
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
    assert_eq!(waits(Millis(10)), Some(1_000));
    assert_eq!(waits(Millis::seconds(90)), Some(90_000));
    assert_eq!(waits(Millis(u64::MAX)), Some(3_600_000));
}

#[test]
fn a_failure_counts_only_for_the_rule_that_answered_it() {
    // An invalid plan is a structural failure too, but another rule handles it.
    let mut bench = new_run();
    bench.tell("begin Build a CLI\nplan.1 plans T1 a after T9\ntimer plan fires");
    same(
        &only(&bench.tell("plan.2 fails structural session.no_submission"), &["retry"]),
        "retry.scheduled plan failure.structural_retry 3 left",
    );
}

/// P36: in the crew, two failed checks with feedback lead to another role without that feedback; then a person decides.
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
