//! Is what was handed in any good? Computed from what Bosun itself ran and saw; what the agent says about its own
//! work is not looked at.

use types::{
    AttemptId, Changes, Check, CheckId, CommitId, Decision, Event, Fault, FaultClass, Phase,
    RuleId, Scope, Subject, Task, Timestamp,
};

use crate::review;
use crate::run::{CheckState, Lane, Run, Stage, current, passed};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    // Neither the plan nor a review has a place in the plan.
    for (id, lane) in run.busy().filter(|(id, _)| run.place(id).is_some()) {
        let attempt = current(&id, lane);
        let events = match lane.stage() {
            Stage::Submitted { commit, changes, .. } => submitted(run, &attempt, commit, changes),
            Stage::Checking { commit } => checking(run, &attempt, lane, commit),
            _ => vec![],
        };
        if !events.is_empty() {
            return events;
        }
    }
    merged(run)
}

fn submitted(run: &Run, attempt: &AttemptId, commit: &CommitId, changes: &Changes) -> Vec<Event> {
    let Some(task) = run.place(&attempt.task).and_then(|place| run.task(place)) else {
        return vec![];
    };
    if let Some(fault) = out_of_scope(&task.scope(), changes) {
        return vec![Event::TaskRejected { attempt: attempt.clone(), fault }];
    }
    if let Some(check) = next_check(run, attempt, 0, commit) {
        return check;
    }
    review::hold(run, attempt, true).unwrap_or_else(|| {
        let reason = "no check applies to this task alone; the checks on the merged tree decide";
        vec![Event::TaskVerified {
            attempt: attempt.clone(),
            commit: commit.clone(),
            decision: Decision::new(RuleId::fixed("verify.no_checks"), reason),
        }]
    })
}

/// A change outside the task's scope is not a slip to be mended: nobody gave leave for it.
fn out_of_scope(scope: &Scope, changes: &Changes) -> Option<Fault> {
    let outside: Vec<&str> = changes
        .0
        .iter()
        .filter(|change| !scope.allows(&change.path))
        .map(|change| change.path.as_str())
        .collect();
    (!outside.is_empty()).then(|| {
        let what = format!("it changed {}, outside its scope ({scope})", outside.join(", "));
        Fault::new(FaultClass::Semantic, "verify.out_of_scope", what)
    })
}

fn checking(run: &Run, attempt: &AttemptId, lane: &Lane, commit: &CommitId) -> Vec<Event> {
    let done = lane.checks();
    if done.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    if let Some(next) = next_check(run, attempt, done.len(), commit) {
        return next;
    }
    let failed: Vec<&CheckState> =
        done.iter().filter(|check| passed(check) != Some(true)).collect();
    if let Some(events) = review::hold(run, attempt, failed.is_empty()) {
        return events;
    }
    if failed.is_empty() {
        let reason = format!("{} of {} checks passed", done.len(), done.len());
        let decision = Decision::new(RuleId::fixed("verify.checks_passed"), reason);
        return vec![Event::TaskVerified {
            attempt: attempt.clone(),
            commit: commit.clone(),
            decision,
        }];
    }
    let names: Vec<&str> = failed.iter().map(|check| check.what.name.as_str()).collect();
    let what = format!("{} did not pass", names.join(", "));
    let fault = Fault::new(FaultClass::CheckFailed, "verify.check_failed", what);
    vec![Event::TaskRejected { attempt: attempt.clone(), fault }]
}

fn next_check(
    run: &Run,
    attempt: &AttemptId,
    index: usize,
    commit: &CommitId,
) -> Option<Vec<Event>> {
    let task = run.task(run.place(&attempt.task)?)?;
    let checks = if task.checks.is_empty() { run.project_checks() } else { &task.checks };
    let what = checks.get(index)?.clone();
    let check =
        CheckId { on: Subject::Attempt(attempt.clone()), index: u32::try_from(index).ok()? };
    Some(vec![Event::CheckStarted { check, what, commit: commit.clone() }])
}

/// Once everything is merged, all checks run again, on the merged tree.
fn merged(run: &Run) -> Vec<Event> {
    if !run.passed(Phase::Execution) || run.phase() != Phase::Monitoring {
        return vec![];
    }
    let started = run.merged_checks();
    if started.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    let Some(what) = run.final_checks().get(started.len()).cloned() else { return vec![] };
    let Ok(index) = u32::try_from(started.len()) else { return vec![] };
    let check = CheckId { on: Subject::Merged, index };
    vec![Event::CheckStarted { check, what, commit: run.head().clone() }]
}

/// The project's checks and those of its tasks, each command once.
pub(crate) fn all_checks(project: &[Check], tasks: &[Task]) -> Vec<Check> {
    let of_tasks = tasks.iter().flat_map(|task| &task.checks);
    let mut seen = std::collections::BTreeSet::new();
    let all = project.iter().chain(of_tasks);
    all.filter(|check| seen.insert(check.command.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests;
