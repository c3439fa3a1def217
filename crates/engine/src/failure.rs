//! An attempt was not good enough: is there another one, and what is it told? One table, keyed by the class of the
//! failure. Failures of mechanics are retried, failures of judgement are not; the two are never mixed up.

use types::{
    CommitId, Decision, Event, FailureRule, Fault, Remedy, Retry, RuleId, Span, TaskId, Timestamp,
};

use crate::run::{Lane, Run, Stage, passed};
use crate::{budget, head_and_tail};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let rejected = run.busy().find_map(|(id, lane)| match lane.stage() {
        // What a person is asked to pay for waits for the answer.
        Stage::Rejected { fault, commit } if !budget::is_ours(run, fault) => {
            Some((id, lane, fault, commit))
        }
        _ => None,
    });
    match rejected {
        Some((id, lane, fault, commit)) => vec![answer(run, id, lane, fault, commit.as_ref(), now)],
        None => vec![],
    }
}

fn answer(
    run: &Run,
    task: TaskId,
    lane: &Lane,
    fault: &Fault,
    commit: Option<&CommitId>,
    now: Timestamp,
) -> Event {
    let rule_for = |fault: &Fault| run.policy().failures.iter().find(|rule| covers(rule, fault));
    let Some(rule) = rule_for(fault) else {
        let reason = format!("no rule says what to do about a {} failure", fault.class.word());
        let decision = Decision::new(RuleId::fixed("failure.no_rule"), reason);
        return Event::TaskFailed { task, fault: fault.clone(), decision, halts: false };
    };
    let executions = lane.faults().iter().filter(|fault| rule_for(fault) == Some(rule)).count();
    let executions = u32::try_from(executions).unwrap_or(u32::MAX);
    let left = rule.max_executions.saturating_sub(executions);
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{}: {}", fault.class.word(), fault.what))
        .seeing(format!("execution {executions} of {}", rule.max_executions));
    if left == 0 || rule.action == Remedy::Stop {
        return Event::TaskFailed { task, fault: fault.clone(), decision, halts: false };
    }
    let (start, feedback) = match rule.action {
        Remedy::RetryWithFeedback => (commit.cloned(), Some(feedback(run, lane, fault))),
        _ => (None, None),
    };
    let at = now.after(backoff(rule.backoff_ms, executions).max(asked_for(fault)));
    let (role, model) = (None, None);
    Event::RetryScheduled { task, at, left, start, feedback, role, model, decision }
}

fn covers(rule: &FailureRule, fault: &Fault) -> bool {
    (rule.classes.is_empty() || rule.classes.contains(&fault.class))
        && (rule.codes.is_empty() || rule.codes.contains(&fault.code))
}

/// Doubles with each execution, up to a minute.
fn backoff(first: Span, executions: u32) -> Span {
    let factor = 1_u64.checked_shl(executions.saturating_sub(1)).unwrap_or(u64::MAX);
    Span(first.0.saturating_mul(factor).min(60_000))
}

/// How long whoever failed wants to be left alone, up to an hour.
fn asked_for(fault: &Fault) -> Span {
    match fault.retry {
        Retry::After(span) => span.min(Span::seconds(3_600)),
        Retry::Never | Retry::Now => Span(0),
    }
}

/// What the next attempt is told: the fault, and what the checks that failed had to say.
fn feedback(run: &Run, lane: &Lane, fault: &Fault) -> String {
    let mut text = fault.what.clone();
    if !fault.evidence.is_empty() {
        text.push_str(&format!("\n\n{}", fault.evidence));
    }
    for check in lane.checks().iter().filter(|check| passed(check) == Some(false)) {
        let Some(end) = &check.end else { continue };
        let output = head_and_tail(&end.output.text, run.policy().limits.report_chars, None).text;
        let (name, command) = (&check.what.name, &check.what.command);
        text.push_str(&format!("\n\n{name} (`{command}`): {}\n{output}", end.ended));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{crew, new_run, only, planned, planned_with, same};

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

    #[test]
    fn failures_of_mechanics_are_retried_by_an_attempt_that_knows_nothing_of_them() {
        for class in ["structural", "transient"] {
            same(
                &decided(&format!("{class} session.no_submission")),
                "retry.scheduled T1 failure.structural_retry 3 left",
            );
        }
    }

    #[test]
    fn a_failed_check_is_handed_over_with_the_files() {
        same(
            &decided("check_failed x.y"),
            "retry.scheduled T1 failure.check_feedback 2 left, from c-T1.1, told why",
        );
    }

    #[test]
    fn a_conflict_starts_afresh() {
        // Handed over with its files only where it left some that fit; a merge that fails hands none.
        same(
            &decided("conflict x.y"),
            "retry.scheduled T1 failure.conflict_retry 1 left, from c-T1.1, told why",
        );
    }

    #[test]
    fn failures_of_judgement_and_of_limits_are_not_retried() {
        for class in ["semantic", "resource", "safety", "person", "bug"] {
            same(&decided(&format!("{class} x.y")), "task.failed T1 failure.stop");
        }
    }

    #[test]
    fn a_failure_that_no_rule_speaks_of_is_not_retried() {
        let mut policy = crew();
        policy.failures.clear();
        let events = planned_with(policy, "T1 a").tell("T1.1 fails structural x.y");
        same(&only(&events, &["task"]), "task.failed T1 failure.no_rule");
    }

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
            &only(&bench.tell("T1.4 breaks"), &["retry", "task"]),
            "task.failed T1 failure.structural_retry",
        );
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
        assert_eq!(waits(Span(10)), Some(250));
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
}
