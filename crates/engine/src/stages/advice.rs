//! An adviser's opinion of a request that the rules accept, where the policy names an adviser. The opinion can add
//! questions to a person and nothing else: it refuses nothing and accepts nothing, and without one the run goes on. It is
//! asked once; the answers become part of the request.

use rules::contract::{Advice, Opinion};
use serde_json::Value;
use types::{Decision, Event, Fault, Phase, RuleId, Scope, TaskId, Timestamp};

use crate::Run;
use crate::stages::{intake, schedule};
use crate::state::{Question, Stage, TaskState, current};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let Some(adviser) = &run.policy().adviser else { return vec![] };
    if run.proof().is_none() || !run.is_admitted() || run.passed(Phase::Initiation) {
        return vec![];
    }
    let id = TaskId::advice();
    let fresh = TaskState::ready();
    let state = run.task_state(&id).unwrap_or(&fresh);
    match state.stage() {
        Stage::Submitted { submission, .. } => advised(run, state, submission, now),
        // The rules have accepted the request; a missing opinion changes nothing.
        Stage::Rejected { fault, .. } => vec![without(state, fault)],
        _ => schedule::start(run, &id, state, &adviser.role, Scope::default(), now),
    }
}

/// Whether there is nothing left to wait for: no adviser, or its questions are answered.
pub(crate) fn is_over(run: &Run) -> bool {
    let settled = || run.task_state(&TaskId::advice()).is_some_and(TaskState::is_settled);
    let asks = |question: &Question| question.is_about_the_request() && question.is_open();
    run.policy().adviser.is_none() || (settled() && !run.questions().iter().any(asks))
}

fn advised(run: &Run, state: &TaskState, submission: &Value, now: Timestamp) -> Vec<Event> {
    let attempt = current(&TaskId::advice(), state);
    let advice: Advice = match serde_json::from_value(submission.clone()) {
        Ok(advice) => advice,
        Err(error) => return vec![without(state, &Fault::bug(error.to_string()))],
    };
    let reason = types::one_line(&advice.reason, 1_000);
    if advice.verdict == Opinion::Go {
        let decision = Decision::new(RuleId::fixed("adviser.no_objection"), reason);
        return vec![Event::RequestAdvised { attempt, questions: vec![], decision }];
    }
    let decision = Decision::new(RuleId::fixed("adviser.asks"), reason);
    let asked = intake::clarification(run, &advice.questions, decision.clone(), now);
    vec![Event::RequestAdvised { attempt, questions: advice.questions, decision }, asked]
}

fn without(state: &TaskState, fault: &Fault) -> Event {
    let attempt = current(&TaskId::advice(), state);
    let reason = format!("the adviser gave no opinion, so the rules alone decide: {fault}");
    let decision = Decision::new(RuleId::fixed("adviser.none"), reason);
    Event::RequestAdvised { attempt, questions: vec![], decision }
}

#[cfg(test)]
mod tests;
