//! Effects pending in the state of a run. Reads only busy task states, so the cost does not depend on the length of the
//! log.

use types::{
    Against, AttemptId, Check, CheckEnd, CheckId, Cold, Effect, EffectId, Subject, TaskId, TimerId,
    Timestamp,
};

use crate::InFlight;
use crate::stages::{brief, isolation, merge, trials};
use crate::state::{CheckState, Run, Running, TaskState, TaskStatus, TrialState, current};

pub(super) fn pending(run: &Run, in_flight: &InFlight) -> Vec<Effect> {
    if run.is_over() || run.asked().is_none() {
        return vec![];
    }
    let mut effects: Vec<Effect> = Vec::new();
    if isolation::wanted(run) {
        effects.push(Effect::Probe);
    }
    for (task, task_state) in run.busy() {
        let attempt = current(&task, task_state);
        match &task_state.stage {
            TaskStatus::Running(running)
                if goes_on(run, running)
                    && !run.holds_calls()
                    && !in_flight.contains(&EffectId::Attempt(attempt.clone())) =>
            {
                let brief = Box::new(brief::compose(run, &attempt, running));
                let answers = running.answers.clone();
                effects.push(Effect::RunAttempt { brief, answers });
            }
            TaskStatus::Checking { .. } => {
                effects.extend(task_state.trials.iter().filter_map(|one| {
                    let on = Subject::Trial { attempt: attempt.clone(), trial: one.trial };
                    open_check(run, on, one.index, &one.state)
                }));
                effects.extend(open_checks(run, &Subject::Attempt(attempt), &task_state.checks));
            }
            TaskStatus::Landed { .. } => {
                effects.extend(open_checks(run, &Subject::Landed(attempt), &task_state.proofs));
            }
            TaskStatus::Merging { commit, onto, since } => effects.push(Effect::Merge {
                message: merge::message(run, &task),
                artifacts: run.artifacts(&task),
                task,
                commit: commit.clone(),
                onto: onto.clone(),
                at: *since,
            }),
            TaskStatus::Retrying { at, released: false, .. } if !run.winds_down() => {
                effects.push(Effect::Wait { timer: TimerId::Retry(task), until: *at });
            }
            _ => {}
        }
    }
    effects.extend(open_checks(run, &Subject::Merged, &run.check_results().merged));
    effects.extend(open_checks(run, &Subject::Base, &run.check_results().baseline));
    effects.extend(trials_of_merged(run));
    effects.extend(deadline(run).map(|until| Effect::Wait { timer: TimerId::Deadline, until }));
    if !run.winds_down() {
        effects.extend(run.open_questions().filter_map(|(number, question)| {
            let timer = TimerId::Question(number);
            question.expires().map(|until| Effect::Wait { timer, until })
        }));
    }
    effects.retain(|effect| !in_flight.contains(&effect.id()));
    effects
}

/// The trials of the merged result.
fn trials_of_merged(run: &Run) -> impl Iterator<Item = Effect> {
    let results = run.check_results();
    let without =
        results.without.iter().map(|(task, state)| (Subject::Without(task.clone()), state));
    let with_tests = results.with_tests.iter().map(|state| (Subject::WithTests, state));
    without.chain(with_tests).filter_map(|(on, state)| open_check(run, on, 0, state))
}

pub(super) fn awaits(run: &Run, effect: &EffectId) -> bool {
    if run.is_over() {
        return false;
    }
    match effect {
        EffectId::Probe => isolation::wanted(run),
        EffectId::Attempt(AttemptId { task, n }) => {
            run.task_state(task).is_some_and(|task_state| task_state.attempts == *n)
                && matches!(run.stage(task), Some(TaskStatus::Running(running)) if goes_on(run, running))
        }
        EffectId::Check(check) => checked(run, check).is_some_and(|check| check.end.is_none()),
        EffectId::Merge(task) => matches!(run.stage(task), Some(TaskStatus::Merging { .. })),
        EffectId::Timer(TimerId::Retry(task)) => {
            !run.winds_down()
                && matches!(run.stage(task), Some(TaskStatus::Retrying { released: false, .. }))
        }
        EffectId::Timer(TimerId::Question(number)) => {
            let question = run.questions().get(*number as usize);
            !run.winds_down() && question.is_some_and(|question| question.expires().is_some())
        }
        EffectId::Timer(TimerId::Session(..) | TimerId::Model(..)) => false,
        EffectId::Timer(TimerId::Deadline) => deadline(run).is_some(),
        EffectId::Model(..) | EffectId::Tool(_) | EffectId::Look(_) | EffectId::Seal => false,
    }
}

/// The run's deadline, unless it is ending anyway or asks for more time.
pub(super) fn deadline(run: &Run) -> Option<Timestamp> {
    run.deadline().filter(|_| !run.winds_down() && !run.budget_state().asks_for_time())
}

/// Whether an attempt is driven: one that waits for a person is not, until it is answered or the run winds down.
fn goes_on(run: &Run, running: &Running) -> bool {
    !running.waits() || run.winds_down()
}

/// The state of a check that belongs to the current step of its subject.
fn checked<'a>(run: &'a Run, CheckId { on, index }: &CheckId) -> Option<&'a CheckState> {
    let place = *index as usize;
    let current = |attempt: &AttemptId| {
        run.task_state(&attempt.task).filter(|task_state| task_state.attempts == attempt.n)
    };
    let checking = |attempt: &AttemptId| {
        current(attempt).filter(|task| matches!(task.stage, TaskStatus::Checking { .. }))
    };
    match on {
        Subject::Merged => run.check_results().merged.get(place),
        Subject::Base => run.check_results().baseline.get(place),
        Subject::Without(task) => run.check_results().without.get(task),
        Subject::WithTests => run.check_results().with_tests.as_ref(),
        Subject::Attempt(attempt) => checking(attempt)?.checks.get(place),
        Subject::Landed(attempt) => {
            let landed = |task: &&TaskState| matches!(task.stage, TaskStatus::Landed { .. });
            current(attempt).filter(landed)?.proofs.get(place)
        }
        Subject::Trial { attempt, trial } => {
            let is = |one: &&TrialState| one.trial == *trial && one.index == *index;
            checking(attempt)?.trials.iter().find(is).map(|one| &one.state)
        }
    }
}

fn open_checks<'a>(
    run: &'a Run,
    on: &'a Subject,
    checks: &'a [CheckState],
) -> impl Iterator<Item = Effect> + 'a {
    let open = checks.iter().zip(0_u32..);
    open.filter_map(|(check, index)| open_check(run, on.clone(), index, check))
}

/// The effect of a check that has not ended.
fn open_check(run: &Run, on: Subject, index: u32, check: &CheckState) -> Option<Effect> {
    let CheckState { what, commit, limit, end: None, .. } = check else { return None };
    let against = against(run, &on, what, index);
    Some(Effect::RunCheck {
        check: CheckId { on, index },
        what: Check { timeout_ms: limit.or(what.timeout_ms), ..what.clone() },
        commit: commit.clone(),
        isolation: run.isolation(),
        against: Box::new(Against { setup: run.check_results().setup.clone(), ..against }),
    })
}

/// How a check ended on the files of the branch, if it passed as it would now: built from nothing, where the policy wants
/// that of the merged tree. A hidden check sees other files than a check of the same command.
fn known(run: &Run, what: &Check) -> Option<Box<CheckEnd>> {
    let end = run.check_results().end(run.head(), &what.command)?;
    let as_now = end.cold || run.policy().verify.cold == Cold::Never;
    let same_as = end.same_as.clone().unwrap_or_else(|| run.head().clone());
    (end.passed() && as_now && !what.hidden)
        .then(|| Box::new(CheckEnd { same_as: Some(same_as), ..end.clone() }))
}

/// The comparison data of a check or trial.
fn against(run: &Run, on: &Subject, what: &Check, index: u32) -> Against {
    let of_task = |task: &TaskId| {
        run.task_state(task)
            .map(|task_state| trials::compared(run, task_state, what))
            .unwrap_or_default()
    };
    match on {
        Subject::Base => {
            let goal = run.request().map(|request| request.text.clone());
            Against { goal, ..Against::default() }
        }
        Subject::Trial { attempt, trial } => trials::against(run, attempt, *trial, index),
        Subject::Attempt(attempt) | Subject::Landed(attempt) => of_task(&attempt.task),
        Subject::Without(task) => of_task(task),
        Subject::Merged | Subject::WithTests => {
            let base = run.survey().map(|survey| survey.base.clone());
            let before =
                base.as_ref().and_then(|base| run.check_results().end(base, &what.command));
            let goal = run.request().map(|request| request.text.clone());
            Against {
                report: before.and_then(trials::report_of),
                base,
                changes: run.on_branch().changes.clone(),
                test_files: run.test_files(),
                goal: goal.filter(|_| index == 0 && run.policy().verify.trials),
                others: match on {
                    Subject::WithTests => run.passed_tests(),
                    _ => vec![],
                },
                known: (*on == Subject::Merged).then(|| known(run, what)).flatten(),
                ..Against::default()
            }
        }
    }
}
