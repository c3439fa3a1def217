//! Failed attempts: whether there is another, by which role and with which feedback, or whether a person decides. The
//! first rule in `failures` of the policy that matches class and code of the failure decides. Only a person can have a
//! check run again on the same commit; a rule repeats the attempt. Failures of models are handled in `agent/away.rs`.

mod escalation;
mod retry;

use types::{
    Decision, Event, FailureRule, Fault, Millis, Remedy, Retry, RuleId, TIMED_OUT, Timestamp,
};

use crate::stages::budget;
use crate::state::{Run, TaskStatus};
use retry::{Failed, Next, executions, retry, rule_for};

pub(crate) use retry::{covers, evidence};

/// The rule for failures that no other rule covers.
pub(crate) const NO_RULE: &str = "failure.no_rule";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    run.busy()
        .find_map(|(task, task_state)| match &task_state.stage {
            // A question about the budget waits for its answer.
            TaskStatus::Rejected { fault, commit } if !budget::is_ours(run, fault) => {
                let failed = Failed { task, task_state, fault, commit: commit.as_ref() };
                Some(answer(run, &failed, now))
            }
            TaskStatus::Escalated { fault, commit, question } => {
                let failed = Failed { task, task_state, fault, commit: commit.as_ref() };
                escalation::follow(run, &failed, *question, now)
            }
            _ => None,
        })
        .into_iter()
        .collect()
}

fn answer(run: &Run, failed: &Failed<'_>, now: Timestamp) -> Event {
    if failed.fault.code == TIMED_OUT {
        let reason = "a check that times out says nothing about the work; only a person decides";
        let decision = Decision::new(RuleId::fixed(TIMED_OUT), reason).seeing(&failed.fault.what);
        return escalation::ask(run, failed, None, decision, now);
    }
    let Some(rule) = rule_for(run, failed.fault) else {
        let class = failed.fault.class.as_str();
        let reason = format!("no rule covers this {class} failure");
        let decision = Decision::new(RuleId::fixed(NO_RULE), reason);
        return escalation::ask(run, failed, None, decision, now);
    };
    let executions = executions(run, failed.task_state, rule);
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{}: {}", failed.fault.class.as_str(), failed.fault.what))
        .seeing(format!("execution {executions} of {}", rule.max_executions));
    let remedy = remedy(rule, executions);
    let (remedy, decision) = match rule.fresh_after {
        Some(rounds) if remedy == Remedy::RetryWithFeedback && executions > rounds => {
            let seen = format!("fresh attempt after {rounds} with feedback");
            (Remedy::RetryFresh, decision.seeing(seen))
        }
        _ => (remedy, decision),
    };
    match remedy {
        Remedy::Stop => failed.given_up(decision, false),
        Remedy::Halt => failed.given_up(decision, true),
        Remedy::Ask => escalation::ask(run, failed, Some(rule), decision, now),
        again => {
            let left = rule.max_executions.saturating_sub(executions);
            let wait = backoff(rule.backoff_ms, executions).max(asked_for(failed.fault));
            let next = Next { left, at: now.after(wait), words: None };
            retry(run, failed, again, Some(rule), next, decision)
        }
    }
}

/// The current remedy. With no executions left it is the fallback; a fallback that retries applies once, after which a
/// person decides.
fn remedy(rule: &FailureRule, executions: u32) -> Remedy {
    let retries = |remedy: Remedy| !matches!(remedy, Remedy::Stop | Remedy::Halt | Remedy::Ask);
    if !retries(rule.action) || executions < rule.max_executions {
        return rule.action;
    }
    match rule.then {
        Some(then) if retries(then) && executions > rule.max_executions => Remedy::Ask,
        Some(then) => then,
        None => Remedy::Stop,
    }
}

/// Doubles with each execution, up to a minute.
fn backoff(first: Millis, executions: u32) -> Millis {
    let factor = 1_u64.checked_shl(executions.saturating_sub(1)).unwrap_or(u64::MAX);
    Millis(first.0.saturating_mul(factor).min(60_000))
}

/// The delay that the fault requests, up to an hour.
fn asked_for(fault: &Fault) -> Millis {
    match fault.retry {
        Retry::After(span) => span.min(Millis::seconds(3_600)),
        Retry::Never | Retry::Now => Millis(0),
    }
}

#[cfg(test)]
mod remedy_tests;
#[cfg(test)]
mod tests;
