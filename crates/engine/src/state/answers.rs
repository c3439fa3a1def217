//! Applies questions and answers to the state: part of `apply`, with no other caller.

use rules::ledger::claim;
use types::choices::AGAIN;
use types::{About, Budget, Spend, TaskId};

use super::budget_state::Appeal;
use super::change::{change, change_running};
use super::questions::{Answered, Question};
use super::task_state::TaskStatus;
use super::{Run, checks, reopen};

pub(super) fn asked(run: &mut Run, number: u32, question: Question) {
    // A question about the budget is the run's own, whatever waits for the answer.
    if let Some(attempt) = question.from.as_ref().filter(|_| !question.is_about_the_budget()) {
        change_running(run, attempt, |running| running.asked = running.asked.saturating_add(1));
    }
    if let Some(About::Task(task)) = question.about() {
        escalate(run, task);
    }
    if let Some(add) = question.terms.as_ref().and_then(|terms| terms.offer) {
        let task = question.from.as_ref().map(|attempt| attempt.task.clone());
        run.budget_state.asked = Some(Appeal { question: number, task, add });
    }
    run.open.insert(run.questions.len());
    run.questions.push(question);
}

/// The task's failure waits for a person's decision.
fn escalate(run: &mut Run, task: &TaskId) {
    let question = u32::try_from(run.questions.len()).unwrap_or(u32::MAX);
    change(run, task, |task_state| {
        if let TaskStatus::Rejected { fault, commit } = &task_state.stage {
            let (fault, commit) = (fault.clone(), commit.clone());
            task_state.stage = TaskStatus::Escalated { fault, commit, question };
        }
    });
}

pub(super) fn answered(run: &mut Run, number: u32, answer: Answered, feedback: Option<String>) {
    let Some(question) = run.questions.get_mut(number as usize) else { return };
    run.open.remove(&(number as usize));
    question.answer = Some(answer.clone());
    let (from, about) = (question.from.clone(), question.about().cloned());
    let (words, of_the_run) = (question.words(), question.is_about_the_budget());
    if let (Some(About::Gate(phase)), Some(choice)) = (&about, &answer.choice) {
        reopen::answered(run, *phase, choice, feedback);
        return;
    }
    if let (Some(About::Baseline(index)), Some(choice)) = (&about, &answer.choice) {
        checks::baseline_answered(run, *index, choice, words.as_deref().unwrap_or(""));
        return;
    }
    if let (Some(About::Task(task)), Some(AGAIN)) = (&about, answer.choice.as_deref()) {
        checks::check_again(run, task);
    }
    if let Some(attempt) = from.filter(|_| !of_the_run) {
        change_running(run, &attempt, |running| running.answers.push(answer.said));
    }
}

/// The share of an attempt in progress was changed, and the amount that the run sets aside with it. An attempt whose
/// share is reduced waits on.
pub(super) fn shared_out(run: &mut Run, task: &TaskId, share: Budget) {
    let (mut more, mut less) = (Spend::default(), Spend::default());
    change(run, task, |task_state| {
        if let TaskStatus::Running(running) = &mut task_state.stage {
            let (new, old) = (claim(share), claim(running.budget));
            (more, less) = (new.less(old), old.less(new));
            running.budget = share;
            if less == Spend::default() {
                running.short = None;
            }
            task_state.share = share;
        }
    });
    if less == Spend::default() {
        run.budget_state.granted.remove(task);
    }
    run.ledger.release(less);
    run.ledger.hold(more);
}

pub(super) fn raised(run: &mut Run, add: Budget, task: Option<TaskId>) {
    run.budget_state.asked = None;
    run.ledger.raise(add);
    run.budget_state.granted.extend(task.clone());
    run.budget_state.lifted.extend(task);
}
