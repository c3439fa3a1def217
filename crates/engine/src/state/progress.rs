//! Figures of a run, updated with each event, for stages and screens.

use evidence::files::{FileKind, kind};
use types::{
    AttemptResult, Check, Event, Millis, Phase, Progress, SpecTaskStatus, TaskId, TaskResult,
    TaskStage, Timestamp,
};

use super::metrics::{Failure, RunMetrics, Submitted};
use super::task_state::TaskState;
use super::{Run, TaskStatus};

/// Maximum number of decisions kept per task, and their maximum length in characters.
const MOST_DECISIONS: usize = 50;
const LONGEST_DECISION: usize = 2_000;

/// Updates the figures of a task with an event.
pub(super) fn note(run: &mut Run, event: &Event, at: Timestamp) {
    match event {
        Event::AttemptStarted { attempt, .. } => {
            run.notes.began.entry(attempt.task.clone()).or_insert(at);
        }
        Event::AttemptFinished {
            attempt,
            result: AttemptResult::Submitted { changes, submission, .. },
            ..
        } => {
            let artifacts = changes.0.iter().map(|file| file.path.to_string()).collect();
            let result = Submitted { artifacts, decisions: decisions(submission), at };
            run.notes.results.insert(attempt.task.clone(), result);
        }
        Event::TaskFinished { task, .. } => {
            settle(run, task, at);
            let open = |one: &&mut Failure| one.task == *task && one.resolved.is_none();
            run.notes.failures.iter_mut().filter(open).for_each(|one| one.resolved = Some(at));
        }
        Event::TaskSkipped { task, .. } => settle(run, task, at),
        Event::TaskFailed { task, fault, .. } => {
            let (task, what) = (task.clone(), fault.what.clone());
            settle(run, &task, at);
            run.notes.failures.push(Failure { task, what, at, resolved: None });
        }
        _ => {}
    }
}

fn settle(run: &mut Run, task: &TaskId, at: Timestamp) {
    let estimate = run.planned(task).and_then(|task| task.estimate_seconds);
    let notes = &mut run.notes;
    notes.last = Some(at);
    let Some(began) = notes.began.remove(task) else { return };
    if *task == TaskId::plan() {
        return;
    }
    let took = at.since(began);
    notes.settled += 1;
    notes.took = notes.took.plus(took);
    if let Some(seconds) = estimate.filter(|seconds| *seconds > 0) {
        notes.took_of_estimated = notes.took_of_estimated.plus(took);
        notes.estimated = notes.estimated.plus(Millis::seconds(seconds));
    }
}

/// The decisions named in a submission. Only texts, up to the limit.
fn decisions(submission: &serde_json::Value) -> Vec<String> {
    let listed = submission.get("decisions").and_then(serde_json::Value::as_array);
    let texts = listed.into_iter().flatten().filter_map(serde_json::Value::as_str);
    let kept = texts.map(|text| text.trim().chars().take(LONGEST_DECISION).collect::<String>());
    kept.filter(|text| !text.is_empty()).take(MOST_DECISIONS).collect()
}

impl Run {
    pub(crate) fn notes(&self) -> &RunMetrics {
        &self.notes
    }

    /// Whether only a person can continue a task.
    pub(super) fn waits(&self, task: &TaskId, task_state: &TaskState) -> bool {
        let plan_is_shown =
            *task == TaskId::plan() && matches!(task_state.stage, TaskStatus::Submitted { .. });
        task_state.waits_for_a_person() || plan_is_shown
    }

    /// The checks of the whole request: its own, the policy's, or those found in the repository.
    pub(crate) fn project_checks(&self) -> &[Check] {
        self.check_results.checks.as_deref().unwrap_or_default()
    }

    /// The same, plus those that run on the merged tree alone.
    pub(crate) fn all_project_checks(&self) -> Vec<Check> {
        self.project_checks().iter().chain(&self.check_results.late).cloned().collect()
    }

    /// The test files: those that the policy names, and the programs in the commands of the checks.
    pub(crate) fn test_files(&self) -> Vec<String> {
        let mut names = self.policy.verify.tests.clone();
        let files = self.survey().map(|survey| survey.files.as_slice()).unwrap_or_default();
        let apart = |c: char| c.is_whitespace() || "'\"();&|".contains(c);
        let words = self.project_checks().iter().flat_map(|check| check.command.split(apart));
        for word in words.map(|word| word.trim_start_matches("./")) {
            let is_program = files.iter().any(|file| file.as_str() == word)
                && kind(word, &self.policy.verify.tests) == FileKind::Code;
            if is_program {
                names.push(word.rsplit('/').next().unwrap_or(word).to_owned());
            }
        }
        names
    }

    /// Whether the run ends with its plan.
    pub(crate) fn only_plans(&self) -> bool {
        self.request().is_some_and(|request| request.planning.only)
    }

    /// The result of a task, once it is settled or the run is over. A task never started is skipped, one cut off has
    /// failed.
    pub(crate) fn task_result(&self, task: &TaskId) -> Option<TaskResult> {
        let task_state = self.task_state(task)?;
        let status = match &task_state.stage {
            TaskStatus::Finished { .. } => SpecTaskStatus::Completed,
            TaskStatus::Failed => SpecTaskStatus::Failed,
            TaskStatus::Skipped => SpecTaskStatus::Skipped,
            _ if self.finished.is_none() => return None,
            _ if task_state.attempts == 0 => SpecTaskStatus::Skipped,
            _ => SpecTaskStatus::Failed,
        };
        let result = self.notes.results.get(task).cloned().unwrap_or_default();
        let artifacts = if status == SpecTaskStatus::Completed { result.artifacts } else { vec![] };
        Some(TaskResult { status, artifacts, decisions: result.decisions })
    }

    /// The progress of the run at `now`.
    #[must_use]
    pub fn progress(&self, now: Timestamp) -> Progress {
        let stages: Vec<TaskStage> = self.task_states.iter().map(TaskState::shown).collect();
        let count =
            |wanted: TaskStage| stages.iter().filter(|stage| **stage == wanted).count() as u64;
        let (completed, failed) = (count(TaskStage::Finished), count(TaskStage::Failed));
        let (skipped, waiting) = (count(TaskStage::Skipped), count(TaskStage::Waiting));
        let total = stages.len() as u64;
        let settled = completed + failed + skipped;
        // Only a successful run is at 100; failed and waived tasks are no progress.
        let percent = match self.finished {
            Some(types::Status::Done) => 100,
            _ => (completed * 100).checked_div(total).unwrap_or(0).min(99),
        };
        Progress {
            percent,
            phase: self.phase(),
            plan_phase: self.plan_phase(),
            current: self.busy().map(|(task, _)| task).collect(),
            total,
            completed,
            failed,
            skipped,
            running: total - settled - waiting,
            waiting,
            blockers: self.questions.iter().filter(|question| question.is_open()).count() as u64,
            elapsed_ms: self.ended.unwrap_or(now).since(self.started),
            remaining_ms: self.finished.map_or_else(|| self.remaining(now), |_| Some(Millis(0))),
        }
    }

    /// The planner's own phase of the first task in progress.
    fn plan_phase(&self) -> Option<types::PlanPhase> {
        if self.phase() != Phase::Execution {
            return None;
        }
        self.busy().filter_map(|(task, _)| self.planned(&task)?.phase).min()
    }

    /// The estimated time of the remaining tasks, at the pace of the settled ones. `None` without a basis.
    fn remaining(&self, now: Timestamp) -> Option<Millis> {
        let plan = self.plan.as_ref()?;
        let notes = &self.notes;
        let mean = notes.took.0.checked_div(notes.settled);
        let mut left: u64 = 0;
        let mut open: u64 = 0;
        for (task, task_state) in plan
            .tasks
            .iter()
            .zip(&self.task_states)
            .filter(|(_, task_state)| !task_state.is_settled())
        {
            let estimate = task.estimate_seconds.map(|seconds| Millis::seconds(seconds).0);
            let paced = estimate.map(|estimate| match notes.estimated.0 {
                0 => estimate,
                known => estimate.saturating_mul(notes.took_of_estimated.0) / known,
            });
            let whole = paced.or(mean)?;
            let began = notes
                .began
                .get(&task.id)
                .filter(|_| !matches!(task_state.stage, TaskStatus::Waiting));
            let done = began.map_or(0, |began| now.since(*began).0);
            left = left.saturating_add(whole.saturating_sub(done));
            open += 1;
        }
        let at_once = u64::try_from(self.policy.limits.parallel_tasks).unwrap_or(1);
        Some(Millis(left / at_once.min(open).max(1)))
    }
}
