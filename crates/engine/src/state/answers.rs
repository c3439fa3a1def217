//! Applies questions and answers to the state: part of `apply`, with no other caller.

use types::{About, AttemptId, Budget, TaskId};

use super::budget_state::Appeal;
use super::change::change_running;
use super::questions::{Answered, Question};
use super::{Run, checks, reopen};

pub(super) fn asked(run: &mut Run, question: Question) {
    run.open.insert(run.questions.len());
    run.questions.push(question);
}

pub(super) fn answered(run: &mut Run, number: u32, answer: Answered, feedback: Option<String>) {
    let Some(question) = run.questions.get_mut(number as usize) else { return };
    run.open.remove(&(number as usize));
    question.answer = Some(answer.clone());
    let (from, about) = (question.from.clone(), question.about().cloned());
    let words = question.words();
    if let (Some(About::Gate(phase)), Some(choice)) = (&about, &answer.choice) {
        reopen::answered(run, *phase, choice, feedback);
        return;
    }
    if let (Some(About::Baseline(index)), Some(choice)) = (&about, &answer.choice) {
        checks::baseline_answered(run, *index, choice, words.as_deref().unwrap_or(""));
        return;
    }
    if let Some(attempt) = from {
        change_running(run, &attempt, |running| running.answers.push(answer.said));
    }
}

/// Stores the amount asked for, as it was offered.
pub(super) fn asked_for_more(
    run: &mut Run,
    question: u32,
    attempt: Option<&AttemptId>,
    offer: Option<Budget>,
) {
    let Some(add) = offer else { return };
    let task = attempt.map(|attempt| attempt.task.clone());
    run.budget_state.asked = Some(Appeal { question, task, add });
}

pub(super) fn raised(run: &mut Run, add: Budget, task: Option<TaskId>) {
    run.budget_state.asked = None;
    run.ledger.raise(add);
    run.budget_state.granted.extend(task.clone());
    run.budget_state.lifted.extend(task);
}
