//! What a run adds to statistics over many runs, updated with each event. No decision uses it.

use types::{
    AttemptCost, Digest, Event, ModelRef, RoleId, RunFigures, Spend, Status, TaskId, TaskStage,
};

use super::tally::Before;
use super::task_state::TaskState;
use super::{Run, forecast};

/// Counts an event, which was applied already.
pub(super) fn note(run: &mut Run, event: &Event) {
    run.tally.lines += 1;
    match event {
        Event::AttemptStarted { attempt, role, model, .. } => {
            let model = run.model_for(role, model.as_ref());
            run.tally.open.insert(attempt.clone(), (role.clone(), model));
        }
        Event::AttemptFinished { attempt, spent, log_head, .. } => {
            let has_no_account = *log_head == Digest::ZERO && *spent == Spend::default();
            match run.tally.open.remove(attempt) {
                Some(_) if has_no_account => run.tally.broken.push(attempt.clone()),
                Some(by) => {
                    let sum = run.tally.costs.entry(by).or_default();
                    *sum = sum.plus(*spent);
                }
                None => {}
            }
        }
        _ => {}
    }
    let forked = run.request().and_then(|request| request.forked.as_ref());
    if forked.is_some_and(|forked| forked.seq == run.tally.lines) {
        begin_anew(run);
    }
}

/// A fork continues from here: everything so far is its origin's.
fn begin_anew(run: &mut Run) {
    run.tally.before = Before {
        finished: run
            .counted_tasks()
            .filter(|(_, task_state)| task_state.is_finished())
            .filter_map(|(task, _)| task.cloned())
            .collect(),
        questions: run.questions.len(),
        spent: run.known_spent(),
    };
    run.tally.costs.clear();
    run.tally.broken.clear();
}

impl Run {
    /// The model of an attempt in this role: its own, the role's or the request's.
    pub(crate) fn model_for(&self, role: &RoleId, own: Option<&ModelRef>) -> ModelRef {
        let of_role = || self.policy.roles.get(role).and_then(|role| role.model.clone());
        let of_request = || self.request().map(|request| request.model.clone());
        own.cloned().or_else(of_role).or_else(of_request).unwrap_or_else(no_model)
    }

    /// What it adds to statistics.
    pub(super) fn figures(&self) -> RunFigures {
        let before = &self.tally.before;
        let mut figures = RunFigures {
            questions: self.questions.len().saturating_sub(before.questions) as u64,
            spent: self.known_spent().less(before.spent),
            broken: self.tally.broken.clone(),
            ..RunFigures::default()
        };
        let is_new = |task: Option<&TaskId>| !task.is_some_and(|id| before.finished.contains(id));
        for (_, task_state) in self.counted_tasks().filter(|(task, _)| is_new(*task)) {
            let finished = task_state.shown() == TaskStage::Finished;
            let retried = task_state.attempts > 1 && (finished || self.ended.is_some());
            figures.finished += u64::from(finished);
            figures.first_pass += u64::from(finished && task_state.attempts == 1);
            figures.retried += u64::from(retried);
            figures.recovered += u64::from(retried && finished);
        }
        if self.status() == Status::Done {
            figures.forecast = forecast::forecast(self).map(|forecast| forecast.tokens);
        }
        let costs = self.tally.costs.iter();
        figures.attempts = costs
            .map(|((role, model), spent)| AttemptCost {
                role: role.clone(),
                model: model.clone(),
                spent: *spent,
            })
            .collect();
        figures
    }

    /// The tasks of the plan; before there is one, planning.
    fn counted_tasks(&self) -> impl Iterator<Item = (Option<&TaskId>, &TaskState)> {
        let planning = self.plan.is_none().then_some((None, &self.planning));
        let tasks = self.tasks().iter().map(|task| Some(&task.id)).zip(&self.task_states);
        planning.into_iter().chain(tasks)
    }
}

#[expect(clippy::expect_used, reason = "the text is fixed and is a model's name")]
fn no_model() -> ModelRef {
    "none/none".parse().expect("none/none names a model")
}

#[cfg(test)]
mod tests;
