//! Verification of a submission, by Bosun's own checks and observations; the agent's claims about its own work are
//! ignored.

mod objections;

use types::{
    Artifact, AttemptId, ChangeKind, Changes, Check, CheckId, CommitId, Decision, Event, Fault,
    FaultClass, FileChange, Finding, FindingKind, Findings, Phase, Policy, RuleId, Scope,
    Sensitive, Subject, Task, TaskId, Timestamp, Weighed, WorkPath,
};

use crate::stages::trials::{self, Next};
use crate::stages::{limits, review, tester};
use crate::state::{Asked, CheckState, Run, TaskState, TaskStatus, current};
use rules::permit::names_file;

use objections::held;
pub(crate) use objections::{CHECK_FAILED, MERGED_CHECK_FAILED, failed, failed_when_merged};

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    // Planning and reviews have no index in the plan.
    for (id, task_state) in run.busy().filter(|(id, _)| run.place(id).is_some()) {
        let attempt = current(&id, task_state);
        let events = match &task_state.stage {
            TaskStatus::Submitted { commit, changes, findings, .. } => {
                submitted(run, &attempt, commit, (changes, findings), now)
            }
            TaskStatus::Checking { commit } => checking(run, &attempt, (task_state, commit), now),
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
    let Some(task) = run.planned(&attempt.task) else {
        return vec![];
    };
    let scope = task.scope();
    let fault = out_of_scope(&scope, changes)
        .or_else(|| violation(run.policy(), &scope, findings))
        .or_else(|| not_done(run, task, changes));
    if let Some(fault) = fault {
        return vec![Event::TaskRejected { attempt: attempt.clone(), fault }];
    }
    if let Some(check) = next_check(run, attempt, &[], commit) {
        return check;
    }
    review::hold(run, attempt, true, now).unwrap_or_else(|| {
        let reason = "no check applies to this task alone; the checks on the merged tree decide";
        vec![Event::TaskVerified {
            attempt: attempt.clone(),
            commit: commit.clone(),
            decision: Decision::new(RuleId::fixed("verify.no_checks"), reason),
            evidence: weighs(run).then(|| trials::unproven("no check ran on it")),
            set_aside: vec![],
        }]
    })
}

/// Returns a submission without a result.
fn not_done(run: &Run, task: &Task, changes: &Changes) -> Option<Fault> {
    let judges = run.policy().verify.evidence_decides();
    let task_state = run.task_state(&task.id).filter(|_| judges)?;
    let before =
        task_state.faults.iter().any(|fault| fault.code == rules::findings::unchanged::UNTOUCHED);
    let asked = run.asked()?;
    let alone = run.plan().is_some_and(|plan| plan.tasks.len() == 1);
    let goal = if alone { asked.request.text.as_str() } else { "" };
    let tests = run.test_files();
    let earlier = earlier(task, task_state, asked);
    rules::findings::unchanged::nothing_done(
        task,
        goal,
        &asked.survey.files,
        (changes, &earlier),
        &tests,
        before,
    )
}

/// The earlier changes of the task: its results on the branch, and in a follow-up the files that it promised and the
/// followed run made.
fn earlier(task: &Task, task_state: &TaskState, asked: &Asked) -> Changes {
    let merged = task_state.merged.iter().flat_map(|changes| changes.0.iter().cloned());
    let made = |path: &&WorkPath| {
        asked.request.follows.is_some()
            && task.artifacts.iter().any(|artifact| artifact.path == **path)
    };
    let made = asked.survey.files.iter().filter(made).map(|path| FileChange {
        path: path.clone(),
        added: 0,
        removed: 0,
        how: ChangeKind::Modified,
        only_comments: false,
    });
    Changes(merged.chain(made).collect())
}

/// A change outside the task's scope is a violation and not fixable by feedback.
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

/// Unauthorised changes to tests count like a change outside the scope.
fn violation(policy: &Policy, scope: &Scope, findings: &Findings) -> Option<Fault> {
    let counts = |finding: &&Finding| {
        let of_file = is_of_file(finding.kind);
        policy.verify.violations.contains(&finding.kind)
            && !(of_file && owns(policy, scope, finding))
    };
    let found: Vec<&Finding> =
        findings.0.iter().filter(counts).take(rules::findings::MOST).collect();
    let first = found.first()?;
    let code = match first.kind {
        FindingKind::TestChanged | FindingKind::TestDeleted => "verify.foreign_tests",
        FindingKind::AssertionDeleted => "verify.assertion_deleted",
        FindingKind::TestSkipped => "verify.test_skipped",
        FindingKind::CheckWeakened => "verify.check_weakened",
        FindingKind::RecipeChanged => "verify.foreign_recipe",
        FindingKind::SettingsChanged => "verify.settings_changed",
        FindingKind::LinkOut => "verify.link_out",
        _ => "verify.finding",
    };
    let mut said: Vec<String> = Vec::new();
    for finding in &found {
        let foreign = is_of_file(finding.kind);
        let whose = if foreign { ", which the plan does not name" } else { "" };
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

/// Whether a finding is about a whole file, which a task may own.
fn is_of_file(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::TestChanged
            | FindingKind::TestDeleted
            | FindingKind::RecipeChanged
            | FindingKind::SettingsChanged
    )
}

/// A task owns a test that its plan names, or that is in a test folder that its plan names. A folder that also has
/// other files is not enough.
fn owns(policy: &Policy, scope: &Scope, finding: &Finding) -> bool {
    if finding.kind == FindingKind::SettingsChanged {
        return Sensitive::of(&finding.path) != Some(Sensitive::OwnSettings)
            && names_file(scope, &finding.path);
    }
    let names = |artifact: &&Artifact| Scope(vec![(*artifact).clone()]).allows(&finding.path);
    scope.0.iter().filter(names).any(|artifact| {
        let inside = format!("{}/x", artifact.path);
        !artifact.whole_folder || rules::findings::is_test(&inside, &policy.verify)
    })
}

fn checking(
    run: &Run,
    attempt: &AttemptId,
    (task_state, commit): (&TaskState, &CommitId),
    now: Timestamp,
) -> Vec<Event> {
    let done = &task_state.checks;
    if done.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    if task_state.trials.iter().any(|one| one.state.end.is_none()) {
        return vec![];
    }
    let held = held(run, &attempt.task, done);
    if let Some(again) = limits::again(run, &Subject::Attempt(attempt.clone()), held) {
        return vec![again];
    }
    if let Some(next) = next_check(run, attempt, done, commit) {
        return next;
    }
    let failed = failed(run, &attempt.task, task_state);
    let late: Vec<&CheckState> = limits::late(run, held).map(|(_, check)| check).collect();
    if failed.is_empty() && !late.is_empty() {
        let fault = limits::fault(run, &late);
        return vec![Event::TaskRejected { attempt: attempt.clone(), fault }];
    }
    // Trials come before a review: a doubtful result needs no second opinion.
    let weigh = || weigh(run, attempt, (task_state, commit), now);
    let weighed = match failed.is_empty().then(weigh).flatten() {
        Some(Err(events)) => return events,
        Some(Ok(weighed)) => Some(weighed),
        None => None,
    };
    if let Some(events) = review::hold(run, attempt, failed.is_empty(), now) {
        return events;
    }
    if failed.is_empty() {
        let stands =
            |check: &&CheckState| trials::stands(run, task_state.base.as_ref(), check).is_none();
        let passed = done.iter().filter(stands).count();
        let others =
            if passed < done.len() { "; the others are not required for this task" } else { "" };
        let reason = format!("{passed} of {} checks passed{others}", done.len());
        let decision = Decision::new(RuleId::fixed("verify.checks_passed"), reason);
        return vec![Event::TaskVerified {
            attempt: attempt.clone(),
            commit: commit.clone(),
            decision,
            evidence: weighed,
            set_aside: vec![],
        }];
    }
    vec![Event::TaskRejected { attempt: attempt.clone(), fault: objections::fault(&failed) }]
}

/// Whether the policy wants trials.
fn weighs(run: &Run) -> bool {
    run.policy().verify.trials
}

/// The evidence level of a result, or the step that has to come first.
fn weigh(
    run: &Run,
    attempt: &AttemptId,
    (task_state, commit): (&TaskState, &CommitId),
    now: Timestamp,
) -> Option<Result<Weighed, Vec<Event>>> {
    if !weighs(run) {
        return None;
    }
    Some(match trials::next(run, &attempt.task, task_state) {
        Next::Weighed(weighed) => Ok(weighed),
        Next::Wait => Err(vec![]),
        Next::Tests(None) => Err(tester::begin(run, &attempt.task, now)),
        Next::Tests(Some(failed)) => Err(tester::look_again(run, &attempt.task, failed, now)),
        Next::Doubt(fault, _) if !run.policy().verify.evidence_decides() => {
            Ok(trials::unproven(&fault.what))
        }
        Next::Doubt(fault, _) => Err(vec![Event::TaskRejected { attempt: attempt.clone(), fault }]),
        Next::Try(trial, index) => {
            let what = run.project_checks().get(index)?;
            let on = Subject::Trial { attempt: attempt.clone(), trial };
            let check = CheckId { on, index: u32::try_from(index).ok()? };
            Err(vec![limits::start(run, check, what, commit.clone())])
        }
    })
}

/// The next check of a merged result, run on the branch with the others, or its rejection. Empty while one runs; `None`
/// once all passed.
pub(crate) fn landed(run: &Run, attempt: &AttemptId, commit: &CommitId) -> Option<Vec<Event>> {
    let task_state = run.task_state(&attempt.task)?;
    let done = &task_state.proofs;
    if done.iter().any(|check| check.end.is_none()) {
        return Some(vec![]);
    }
    let on = Subject::Landed(attempt.clone());
    if let Some(again) = limits::again(run, &on, done) {
        return Some(vec![again]);
    }
    let failed: Vec<&CheckState> = failed_when_merged(run, task_state).collect();
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|check| check.what.name.as_str()).collect();
        let names = names.join(", ");
        let what = format!("{names} did not pass when merged with the results of other tasks");
        let said = failed.iter().filter_map(|check| {
            let end = check.end.as_ref()?;
            let (name, command) = (&check.what.name, &check.what.command);
            Some(format!("{name} (`{command}`): {}\n{}", end.ended, end.output.text))
        });
        let evidence = said.collect::<Vec<_>>().join("\n\n");
        let fault = Fault::new(FaultClass::CheckFailed, MERGED_CHECK_FAILED, what);
        let fault = fault.with_evidence(evidence);
        return Some(vec![Event::TaskRejected { attempt: attempt.clone(), fault }]);
    }
    let what = run.check_results().next(checks_of(run, &attempt.task)?.iter(), done)?;
    let check = CheckId { on, index: u32::try_from(done.len()).ok()? };
    Some(vec![limits::start(run, check, what, commit.clone())])
}

fn checks_of<'a>(run: &'a Run, task: &TaskId) -> Option<&'a [Check]> {
    let task = run.task(run.place(task)?)?;
    Some(if task.checks.is_empty() { run.project_checks() } else { &task.checks })
}

fn next_check(
    run: &Run,
    attempt: &AttemptId,
    started: &[CheckState],
    commit: &CommitId,
) -> Option<Vec<Event>> {
    let of_task = checks_of(run, &attempt.task)?;
    // With evidence levels the project's checks run on every result.
    let own = |check: &&Check| !of_task.iter().any(|other| other.command == check.command);
    let project = run.project_checks().iter().filter(|_| weighs(run)).filter(own);
    let what = run.check_results().next(of_task.iter().chain(project), started)?;
    let index = u32::try_from(started.len()).ok()?;
    let check = CheckId { on: Subject::Attempt(attempt.clone()), index };
    Some(vec![limits::start(run, check, what, commit.clone())])
}

/// Runs all checks again on the merged tree, once everything is merged.
fn merged(run: &Run) -> Vec<Event> {
    let judged = run.verdict(Phase::Monitoring).is_some();
    if !run.passed(Phase::Execution) || judged || !run.all_settled() {
        return vec![];
    }
    let started = &run.check_results().merged;
    if started.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    if let Some(again) = limits::again(run, &Subject::Merged, started) {
        return vec![again];
    }
    let Some(what) = run.check_results().next_merged() else {
        return tried_whole(run);
    };
    let Ok(index) = u32::try_from(started.len()) else { return vec![] };
    let check = CheckId { on: Subject::Merged, index };
    vec![limits::start(run, check, what, run.head().clone())]
}

/// Trials of the merged result: with the tests by other authors, and without an unproven task, to see whether a check
/// notices.
pub(crate) fn tried_whole(run: &Run) -> Vec<Event> {
    let base = run.survey().map(|survey| &survey.base);
    let all_passed = run
        .check_results()
        .merged
        .iter()
        .all(|check| trials::stands_merged(run, base, check).is_none());
    let results = run.check_results();
    let open = results.without.values().chain(&results.with_tests).any(|one| one.end.is_none());
    if !run.policy().verify.evidence_decides() || !all_passed || open {
        return vec![];
    }
    if let Some((what, commit)) = trials::to_try_with_tests(run) {
        let check = CheckId { on: Subject::WithTests, index: 0 };
        return vec![limits::start(run, check, what, commit)];
    }
    let Some((task, what, commit)) = trials::to_take_out(run) else { return vec![] };
    let check = CheckId { on: Subject::Without(task), index: 0 };
    vec![limits::start(run, check, what, commit)]
}

#[cfg(test)]
mod tests;
