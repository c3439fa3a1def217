//! Is what was handed in any good? Computed from what Bosun itself ran and saw; what the agent says about its own
//! work is not looked at.

mod diff;
mod findings;
mod marks;

use types::{
    Artifact, AttemptId, Changes, Check, CheckId, CommitId, Decision, Event, Fault, FaultClass,
    Finding, FindingKind, Findings, Phase, Policy, RuleId, Scope, Subject, Task, TaskId, Timestamp,
};

use crate::review;
use crate::run::{CheckState, Lane, Run, Stage, current, passed};

pub(crate) use findings::is_test;
pub use findings::{findings, is_read, watched};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    // Neither the plan nor a review has a place in the plan.
    for (id, lane) in run.busy().filter(|(id, _)| run.place(id).is_some()) {
        let attempt = current(&id, lane);
        let events = match lane.stage() {
            Stage::Submitted { commit, changes, findings, .. } => {
                submitted(run, &attempt, commit, (changes, findings), now)
            }
            Stage::Checking { commit } => checking(run, &attempt, (lane, commit), now),
            _ => vec![],
        };
        if !events.is_empty() {
            return events;
        }
    }
    merged(run)
}

fn submitted(
    run: &Run,
    attempt: &AttemptId,
    commit: &CommitId,
    (changes, findings): (&Changes, &Findings),
    now: Timestamp,
) -> Vec<Event> {
    let Some(task) = run.place(&attempt.task).and_then(|place| run.task(place)) else {
        return vec![];
    };
    let scope = task.scope();
    let fault = out_of_scope(&scope, changes).or_else(|| violation(run.policy(), &scope, findings));
    if let Some(fault) = fault {
        return vec![Event::TaskRejected { attempt: attempt.clone(), fault }];
    }
    if let Some(check) = next_check(run, attempt, 0, commit) {
        return check;
    }
    review::hold(run, attempt, true, now).unwrap_or_else(|| {
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

/// What was done to tests without leave counts like a change outside the scope.
fn violation(policy: &Policy, scope: &Scope, findings: &Findings) -> Option<Fault> {
    let counts = |finding: &&Finding| {
        let of_file = matches!(finding.kind, FindingKind::TestChanged | FindingKind::TestDeleted);
        policy.verify.violations.contains(&finding.kind)
            && !(of_file && owns(policy, scope, finding))
    };
    let found: Vec<&Finding> = findings.0.iter().filter(counts).take(findings::MOST).collect();
    let first = found.first()?;
    let code = match first.kind {
        FindingKind::TestChanged | FindingKind::TestDeleted => "verify.foreign_tests",
        FindingKind::AssertionDeleted => "verify.assertion_deleted",
        FindingKind::TestSkipped => "verify.test_skipped",
        FindingKind::CheckWeakened => "verify.check_weakened",
    };
    let mut said: Vec<String> = Vec::new();
    for finding in &found {
        let foreign = matches!(finding.kind, FindingKind::TestChanged | FindingKind::TestDeleted);
        let whose = if foreign { ", which its plan does not name" } else { "" };
        let what = format!("{} {}{whose}", finding.kind.says(), finding.path);
        if !said.contains(&what) {
            said.push(what);
        }
    }
    let shown = found.iter().filter(|finding| !finding.line.is_empty());
    let evidence: Vec<String> =
        shown.map(|finding| format!("{}: {}", finding.path, finding.line)).collect();
    let what = format!("it {}", said.join("; it "));
    Some(Fault::new(FaultClass::Semantic, code, what).with_evidence(evidence.join("\n")))
}

/// A task owns a test that its plan names, or that is in a folder of tests that its plan names. A folder in which
/// tests stand beside other things is not enough.
fn owns(policy: &Policy, scope: &Scope, finding: &Finding) -> bool {
    let names = |artifact: &&Artifact| Scope(vec![(*artifact).clone()]).allows(&finding.path);
    scope.0.iter().filter(names).any(|artifact| {
        let inside = format!("{}/x", artifact.path);
        !artifact.whole_folder || findings::is_test(&inside, &policy.verify)
    })
}

fn checking(
    run: &Run,
    attempt: &AttemptId,
    (lane, commit): (&Lane, &CommitId),
    now: Timestamp,
) -> Vec<Event> {
    let done = lane.checks();
    if done.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    if let Some(next) = next_check(run, attempt, done.len(), commit) {
        return next;
    }
    let failed: Vec<&CheckState> =
        done.iter().filter(|check| passed(check) != Some(true)).collect();
    if let Some(events) = review::hold(run, attempt, failed.is_empty(), now) {
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
    let what = format!("{} did not pass", names(&failed));
    let fault = Fault::new(FaultClass::CheckFailed, "verify.check_failed", what);
    vec![Event::TaskRejected { attempt: attempt.clone(), fault }]
}

fn names(checks: &[&CheckState]) -> String {
    checks.iter().map(|check| check.what.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// What follows for a result that is on the branch with others: its checks run again, on all of them together. Nothing
/// while they run; nothing said is that they passed.
pub(crate) fn landed(run: &Run, attempt: &AttemptId, commit: &CommitId) -> Option<Vec<Event>> {
    let done = run.lane(&attempt.task)?.proofs();
    if done.iter().any(|check| check.end.is_none()) {
        return Some(vec![]);
    }
    let failed: Vec<&CheckState> =
        done.iter().filter(|check| passed(check) != Some(true)).collect();
    if !failed.is_empty() {
        let what =
            format!("merged with the results of other tasks, {} did not pass", names(&failed));
        let said = failed.iter().filter_map(|check| {
            let end = check.end.as_ref()?;
            let (name, command) = (&check.what.name, &check.what.command);
            Some(format!("{name} (`{command}`): {}\n{}", end.ended, end.output.text))
        });
        let evidence = said.collect::<Vec<_>>().join("\n\n");
        let fault = Fault::new(FaultClass::CheckFailed, "merge.check_failed", what);
        let fault = fault.with_evidence(evidence);
        return Some(vec![Event::TaskRejected { attempt: attempt.clone(), fault }]);
    }
    let what = checks_of(run, &attempt.task)?.get(done.len())?.clone();
    let index = u32::try_from(done.len()).ok()?;
    let check = CheckId { on: Subject::Landed(attempt.clone()), index };
    Some(vec![Event::CheckStarted { check, what, commit: commit.clone() }])
}

fn checks_of<'a>(run: &'a Run, task: &TaskId) -> Option<&'a [Check]> {
    let task = run.task(run.place(task)?)?;
    Some(if task.checks.is_empty() { run.project_checks() } else { &task.checks })
}

fn next_check(
    run: &Run,
    attempt: &AttemptId,
    index: usize,
    commit: &CommitId,
) -> Option<Vec<Event>> {
    let what = checks_of(run, &attempt.task)?.get(index)?.clone();
    let check =
        CheckId { on: Subject::Attempt(attempt.clone()), index: u32::try_from(index).ok()? };
    Some(vec![Event::CheckStarted { check, what, commit: commit.clone() }])
}

/// Once everything is merged, all checks run again, on the merged tree.
fn merged(run: &Run) -> Vec<Event> {
    if !run.passed(Phase::Execution) || run.phase() != Phase::Monitoring || !run.all_settled() {
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
