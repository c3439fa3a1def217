//! Trials of a result's checks: existing tests must pass with the new code, new tests must fail without it, and altered
//! expectations must be noticed. Decides which trial is due, and the outcome: a level of evidence, or a doubt that a
//! person is asked about. Runs nothing itself.

mod compare;
mod doubt;
mod ends;
#[cfg(test)]
mod evading_tests;
mod moved;
mod mutants;
#[cfg(test)]
mod order_tests;
mod others;
mod shape;
#[cfg(test)]
mod tests;
mod whole;

use evidence::report::lacks_names;
use types::{
    AttemptId, Check, CheckEnd, CommitId, Ended, Level, Millis, TaskId, Trial, Weighed, WorkPath,
};

use crate::state::{CheckState, Run, TaskState};
pub(crate) use compare::{DID_NOT_PASS, complaint, report_of};
use compare::{has_tests, is_reported, keeps, turned, unreported};
pub(crate) use doubt::{Next, listed};
use doubt::{
    Tried, cannot_fail, excuses, fails_anew, gone, no_report, noted, notes, old_tests_fail,
    rewrites, sentences, signs,
};
use ends::{goal_changes, is_unread, is_untried, ordered, timed_out, trial};
pub(crate) use others::{OTHERS, seen_with_others};
pub(crate) use shape::Shape;
pub(crate) use whole::{broken_together, to_take_out, to_try_with_tests, unproven_tasks};

/// Maximum number of checks tried for one task.
const MOST_CHECKS: usize = 2;

pub(crate) fn next(run: &Run, task: &TaskId, task_state: &TaskState) -> Next {
    let findings = task_state.last.as_ref().map(|last| last.findings.0.as_slice());
    let notes = notes(run, findings.unwrap_or_default());
    match judged(run, task, task_state) {
        Next::Weighed(mut weighed) => {
            let said = sentences(&notes);
            weighed.because.splice(0..0, said.into_iter().map(|one| format!("to look at: {one}")));
            Next::Weighed(weighed)
        }
        Next::Doubt(fault, check) => Next::Doubt(noted(fault, &notes), check),
        next @ (Next::Wait | Next::Try(..) | Next::Tests(_)) => next,
    }
}

fn judged(run: &Run, task: &TaskId, task_state: &TaskState) -> Next {
    let Some(last) = &task_state.last else {
        return Next::Weighed(unproven("no attempt is recorded"));
    };
    let shape = Shape::of(&last.changes, &run.test_files());
    let findings = &last.findings.0;
    if let Some(doubt) = signs(run, findings) {
        return Next::Doubt(doubt, None);
    }
    if shape == Shape::default() {
        let because = vec!["it changes no code, tests or data".to_owned()];
        return Next::Weighed(Weighed { level: Level::Covered, because });
    }
    let mut tried = tried(run, task_state);
    tried.truncate(MOST_CHECKS);
    let mut because = Vec::new();
    let by_others = match others::first(run, task, task_state, (&shape, &tried), &mut because) {
        Ok(index) => index,
        Err(next) => return next,
    };
    let level = match of_checks(run, task_state, (&shape, &tried, by_others), &mut because) {
        Ok(None) if shape.code => {
            return Next::Weighed(unproven("no project check passed on it alone"));
        }
        Ok(level) => level.unwrap_or(Level::Covered),
        Err(next) => return next,
    };
    if level == Level::ProvenByOthers {
        return Next::Weighed(Weighed { level, because });
    }
    let level = match others::shown(run, task, task_state, (&shape, &tried), level, &mut because) {
        Ok(level) => level,
        Err(next) => return next,
    };
    match moved::stands(run, task_state, (&shape, &tried), level) {
        Some(next) => next,
        None => Next::Weighed(Weighed { level, because }),
    }
}

/// The level that the checks show, without the trials of the one by which tests of another author prove the change;
/// `None` without a check.
fn of_checks(
    run: &Run,
    task_state: &TaskState,
    (shape, tried, by_others): (&Shape, &[Tried<'_>], Option<usize>),
    because: &mut Vec<String>,
) -> Result<Option<Level>, Next> {
    let mut level = None;
    for one in tried {
        if let Some(doubt) = rewrites(one) {
            return Err(one.doubted(doubt));
        }
        let shown = match by_others {
            Some(index) if index == one.index => Level::ProvenByOthers,
            _ => of_check(run, task_state, shape, one, because)?,
        };
        if timed_out(run, task_state, one) && shown != Level::ProvenByOthers {
            because.push(format!("{} did not end in time in a trial", one.what.name));
            level = level.max(Some(Level::Unproven));
        } else {
            level = level.max(Some(shown));
        }
    }
    Ok(match level {
        Some(Level::Unproven) if !shape.code => {
            because.push("it changes no code".to_owned());
            Some(Level::Covered)
        }
        Some(Level::Unproven) if mutants::count_here(run) => {
            Some(mutants::keeps(run, task_state, tried, because)?)
        }
        level => level,
    })
}

pub(crate) fn unproven(why: &str) -> Weighed {
    Weighed { level: Level::Unproven, because: vec![why.to_owned()] }
}

/// The project's checks that passed on the result: those with a report first, then those that failed before.
fn tried<'a>(run: &'a Run, task_state: &'a TaskState) -> Vec<Tried<'a>> {
    let base = task_state.base.as_ref();
    let mut all: Vec<Tried<'_>> = Vec::new();
    for (index, what) in run.project_checks().iter().enumerate() {
        let state = task_state.checks.iter().find(|check| check.what.command == what.command);
        let state = state.filter(|state| !run.check_results().is_dropped(&state.what));
        let Some(now) = state.and_then(|state| state.end.as_ref()) else { continue };
        let before = base.and_then(|base| run.check_results().end(base, &what.command));
        if complaint(before, now).is_none() {
            all.push(Tried { index, what, before, now });
        }
    }
    let weight = |one: &Tried<'_>| {
        let reports = one.now.tests.is_some();
        let turned = one.before.is_some_and(|before| !before.passed());
        (!reports, !turned)
    };
    all.sort_by_key(weight);
    let telling = all.iter().filter(|one| weight(one) != (true, true)).count();
    all.truncate(telling.max(1));
    all
}

/// The objection to a finished check, given its result on the base commit. There is none to a dropped one.
pub(crate) fn stands(run: &Run, base: Option<&CommitId>, check: &CheckState) -> Option<String> {
    if run.check_results().is_dropped(&check.what) {
        return None;
    }
    let Some(end) = &check.end else { return Some("it has not finished".to_owned()) };
    if !run.policy().verify.evidence_decides() {
        return (!end.passed()).then(|| how_it_failed(end));
    }
    complaint(base.and_then(|base| run.check_results().end(base, &check.what.command)), end)
}

/// Why a check's command did not exit with 0.
fn how_it_failed(end: &CheckEnd) -> String {
    match (&end.cannot_run, end.ended) {
        (Some(why), _) => format!("it cannot run: {}", types::one_line(why, 200)),
        (None, Ended::Exited(_)) => DID_NOT_PASS.to_owned(),
        (None, ended @ (Ended::Signalled(_) | Ended::TimedOut | Ended::Stopped)) => {
            format!("it did not finish: {ended}")
        }
    }
}

/// The objection to a finished check of merged results. A failure that a person accepted is none, as long as its report
/// shows that no other test fails.
pub(crate) fn stands_merged(
    run: &Run,
    base: Option<&CommitId>,
    check: &CheckState,
) -> Option<String> {
    let known = run.check_results().accepted(&check.what).zip(check.end.as_ref());
    let accepted = known.is_some_and(|(accepted, end)| excuses(accepted, end));
    stands(run, base, check).filter(|_| !accepted)
}

/// Whether a check that reported its failures before fails with altered tests and reports nothing: code under test can
/// keep a runner from printing.
fn silenced(one: &Tried<'_>, altered: Option<&CheckEnd>) -> bool {
    let reported = one.before.is_some_and(|before| !before.passed() && is_reported(before));
    reported && altered.is_some_and(|end| !end.passed() && end.tests.is_none())
}

fn of_check(
    run: &Run,
    task_state: &TaskState,
    shape: &Shape,
    one: &Tried<'_>,
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    let name = &one.what.name;
    let by_base = with_old_tests(run, task_state, shape, one, because)?;
    let mut level = Level::Unproven;
    if turned(one.before, by_base) {
        level = Level::Proven;
        because.push(turned_says(name, by_base));
    } else if shape.code && shape.brings_tests {
        level = without_code(run, task_state, one, because)?;
    }
    let altered = trial(run, task_state, Trial::Altered, one)?;
    match altered {
        Some(end) if end.passed() || !end.unnoticed.is_empty() => {
            return Err(one.doubted(cannot_fail(one, end)));
        }
        Some(_) => because.push(format!("{name} detects altered expectations")),
        None if is_unread(task_state, one) => {
            because.push(format!("{name} does not read the tests that were altered"));
            level = Level::Unproven;
        }
        None if is_untried(task_state, one) => {
            because.push(format!("{name} was not tried with altered expectations"));
            if shape.code && level == Level::Proven && mutants::count_here(run) {
                level = level.min(mutants::shown(run, task_state, one, because)?);
            }
        }
        None => {
            because.push(format!("{name} took too long to be tried with altered expectations"));
            level = Level::Unproven;
        }
    }
    let Some(missing) = unreported(one.before, one.now) else { return Ok(level) };
    // Then this is not how the check passes, or fails.
    if run.check_results().reports_passes(&one.what.command) || silenced(one, altered) {
        return Err(one.doubted(no_report(one, missing)));
    }
    because.push(format!("{name} counts by its exit code alone: {missing}"));
    let most = if altered.is_some() { Level::Covered } else { Level::Unproven };
    Ok(level.min(most))
}

/// The end of a check with the tests of before, where that can differ from the plain one.
fn with_old_tests<'a>(
    run: &Run,
    task_state: &'a TaskState,
    shape: &Shape,
    one: &Tried<'a>,
    because: &mut Vec<String>,
) -> Result<&'a CheckEnd, Next> {
    let lost = one.now.tests.as_ref().map(|tests| tests.lost.as_slice()).unwrap_or_default();
    // New files among the tests can change what the old ones see.
    let beside = shape.code && shape.brings_tests && one.before.is_some_and(has_tests);
    if !(shape.tests_touched || beside || !lost.is_empty()) {
        return Ok(one.now);
    }
    let end = trial(run, task_state, Trial::BaseTests, one)?;
    let ordered = ordered(task_state, one, Trial::BaseTests);
    if !ordered.is_empty() {
        because.push(goal_changes(ordered));
    }
    match end {
        Some(end) if !keeps(end, one.now) => Err(one.doubted(old_tests_fail(one, end))),
        None if !lost.is_empty() && ordered.is_empty() => Err(one.doubted(gone(one, lost))),
        end => Ok(end.unwrap_or(one.now)),
    }
}

/// The level that new tests show by failing without the change.
fn without_code(
    run: &Run,
    task_state: &TaskState,
    one: &Tried<'_>,
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    let name = &one.what.name;
    let end = trial(run, task_state, Trial::NewTests, one)?;
    let (level, says) = match end.map(|end| (end, fails_anew(one.before, end))) {
        None => return Ok(Level::Unproven),
        Some((end, true)) if mutants::count_here(run) && lacks_names(&end.output.text) => {
            return mutants::shown(run, task_state, one, because);
        }
        Some((_, true)) => (Level::Proven, "fails with the new tests and the old code"),
        Some((_, false)) => (Level::Unproven, "also passes with the new tests and the old code"),
    };
    because.push(format!("{name} {says}"));
    Ok(level)
}

/// The check that a doubt about a result is about.
pub(crate) fn doubted(run: &Run, task: &TaskId, task_state: &TaskState) -> Option<Check> {
    match next(run, task, task_state) {
        Next::Doubt(_, check) => check.map(|check| *check),
        Next::Wait | Next::Try(..) | Next::Weighed(_) | Next::Tests(_) => None,
    }
}

fn turned_says(name: &str, now: &CheckEnd) -> String {
    match now.tests.as_ref().filter(|tests| tests.mended > 0) {
        Some(tests) => {
            let fixed = types::count(u64::from(tests.mended), "test");
            format!("{name}: the change fixes {fixed} that failed before")
        }
        None => format!("{name} failed before and passes with the change"),
    }
}

/// The comparison data of a trial.
pub(crate) fn against(run: &Run, attempt: &AttemptId, trial: Trial, index: u32) -> types::Against {
    let Some(task_state) = run.task_state(&attempt.task) else { return types::Against::default() };
    let Some(what) = run.project_checks().get(index as usize) else {
        return types::Against::default();
    };
    let plain = task_state.checks.iter().find(|check| check.what.command == what.command);
    let now = plain.and_then(|plain| plain.end.as_ref());
    let tests = now.and_then(|now| now.tests.as_deref());
    let won = tests.map(|tests| tests.won.clone());
    let failing = tests.map(|tests| tests.failing.clone()).unwrap_or_default();
    let base_tests = task_state.trials.iter().any(|one| {
        let end = one.state.end.as_ref();
        one.trial == Trial::BaseTests
            && one.index == index
            && end.is_some_and(|end| end.untried.is_none() && !run.timed_out(end))
            && end.is_some_and(|end| turned(before(run, task_state, what), end))
    });
    let alters = matches!(trial, Trial::Altered | Trial::Mutated | Trial::Moved);
    let of_won = trial == Trial::Moved || trial == Trial::Altered && !base_tests;
    let task = run.planned(&attempt.task);
    let title = task.map(|task| task.title.as_str()).unwrap_or_default();
    types::Against {
        goal: run.request().map(|request| request.text.clone()),
        named: named(run, task_state),
        title: title.to_owned(),
        failing,
        tests: won.filter(|_| of_won).unwrap_or_default(),
        base_tests,
        own: tests.and_then(|tests| Some(tests.all?.digest)).filter(|_| alters),
        most_ms: now.map_or(Millis(0), |now| ends::left(run, task_state, now)),
        took_ms: now.map_or(Millis(0), |now| now.elapsed_ms),
        narrow: now.is_some_and(ends::is_long),
        others: run.held_back(&attempt.task).filter(|_| trial.is_of_others()).into_iter().collect(),
        ..compared(run, task_state, what)
    }
}

/// The changed files whose change a person ordered in an answer.
fn named(run: &Run, task_state: &TaskState) -> Vec<WorkPath> {
    let paths = task_state.last_changes().0.iter().map(|change| &change.path);
    paths.filter(|path| run.questions().iter().any(|one| one.orders(path))).cloned().collect()
}

fn before<'a>(run: &'a Run, task_state: &TaskState, what: &Check) -> Option<&'a CheckEnd> {
    run.check_results().end(task_state.base.as_ref()?, &what.command)
}

/// The comparison data of a plain check of an attempt.
pub(crate) fn compared(run: &Run, task_state: &TaskState, what: &Check) -> types::Against {
    let report = before(run, task_state, what).and_then(report_of);
    let changes = task_state.last_changes().clone();
    let test_files = run.test_files();
    types::Against {
        base: task_state.base.clone(),
        report,
        changes,
        test_files,
        ..Default::default()
    }
}
