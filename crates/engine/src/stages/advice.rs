//! An adviser's opinion of a request that the rules accept, if the policy names an adviser. The opinion can only add
//! questions to a person: it neither refuses nor accepts, and without one the run continues. It is requested once; the
//! answers become part of the request.

use rules::contract::{Advice, Opinion};
use serde_json::Value;
use types::{Decision, Event, Fault, Phase, RuleId, Scope, TaskId, Timestamp};

use crate::Run;
use crate::stages::{intake, schedule};
use crate::state::{Question, TaskState, TaskStatus, current};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(adviser) = &run.policy().adviser else { return vec![] };
    if run.proof().is_none() || !run.is_admitted() || run.passed(Phase::Initiation) {
        return vec![];
    }
    let id = TaskId::advice();
    let fresh = TaskState::default();
    let state = run.task_state(&id).unwrap_or(&fresh);
    if let Some((questions, decision)) = run.advice_to_ask() {
        return vec![intake::clarification(run, questions, decision.clone(), now)];
    }
    match &state.stage {
        TaskStatus::Submitted { submission, .. } => vec![advised(state, submission)],
        // The rules have accepted the request; a missing opinion has no effect.
        TaskStatus::Rejected { fault, .. } => vec![without(state, fault)],
        _ => schedule::start(run, &id, state, &adviser.role, Scope::default(), now),
    }
}

/// Whether there is nothing left to wait for: no adviser, or its questions are answered.
pub(crate) fn is_over(run: &Run) -> bool {
    let settled = || run.task_state(&TaskId::advice()).is_some_and(TaskState::is_settled);
    let asks = |question: &Question| question.is_about_the_request() && question.is_open();
    let asked = || run.advice_to_ask().is_none() && !run.questions().iter().any(asks);
    run.policy().adviser.is_none() || (settled() && asked())
}

fn advised(state: &TaskState, submission: &Value) -> Event {
    let attempt = current(&TaskId::advice(), state);
    let advice: Advice = match serde_json::from_value(submission.clone()) {
        Ok(advice) => advice,
        Err(error) => return without(state, &Fault::bug(error.to_string())),
    };
    let (rule, questions) = match advice.verdict {
        Opinion::Go => ("adviser.no_objection", vec![]),
        Opinion::Ask => ("adviser.asks", advice.questions),
    };
    let reason = types::one_line(&advice.reason, 1_000);
    let decision = Decision::new(RuleId::fixed(rule), reason);
    Event::RequestAdvised { attempt, questions, decision }
}

fn without(state: &TaskState, fault: &Fault) -> Event {
    let attempt = current(&TaskId::advice(), state);
    let reason = format!("the adviser gave no opinion, so the rules alone decide: {fault}");
    let decision = Decision::new(RuleId::fixed("adviser.none"), reason);
    Event::RequestAdvised { attempt, questions: vec![], decision }
}

#[cfg(test)]
mod tests;
