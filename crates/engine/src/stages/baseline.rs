//! Baseline: every check runs on the untouched tree before planning, so that existing failures are known, and a check
//! that cannot run becomes a question before tokens are spent. Runs nothing itself and never blames an agent.

use types::{
    About, Check, CheckEnd, CheckId, Choice, Decision, Escalation, Event, RuleId, Severity,
    Subject, Terms, Timestamp,
};

use crate::stages::{advice, question};
use crate::state::{Question, Run};
use types::choices::{AGAIN, CHECK, LEAVE, SETUP, STOP};

/// The output lines of a check that are shown with the question.
const LAST_LINES: usize = 8;

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if !wanted(run) || is_over(run) {
        return vec![];
    }
    let checks = run.project_checks();
    if checks.is_empty() {
        return ask(run, None, now).into_iter().collect();
    }
    let tried = &run.check_results().baseline;
    if tried.iter().any(|check| check.end.is_none()) {
        return vec![];
    }
    if let Some(what) = checks.get(tried.len()) {
        let Ok(index) = u32::try_from(tried.len()) else { return vec![] };
        let check = CheckId { on: Subject::Base, index };
        let commit = run.survey().map(|survey| survey.base.clone()).unwrap_or_default();
        return vec![Event::CheckStarted { check, what: what.clone(), commit }];
    }
    ask(run, first_that_cannot_run(run), now).into_iter().collect()
}

fn wanted(run: &Run) -> bool {
    run.policy().verify.baseline
        && run.documents().is_some()
        && run.proof().is_some_and(|proof| proof.level >= run.policy().sandbox.require)
        && !run.winds_down()
        && advice::is_over(run)
}

/// Whether nothing is left to run or ask; always true if the policy wants no baseline.
pub(crate) fn is_over(run: &Run) -> bool {
    if !run.policy().verify.baseline {
        return true;
    }
    let checks = run.project_checks();
    if checks.is_empty() {
        return run.policy().headless
            || brings_checks(run)
            || run.questions().iter().any(|one| is_ours(one) && !one.is_open());
    }
    let tried = &run.check_results().baseline;
    tried.len() == checks.len()
        && tried.iter().all(|check| check.end.is_some())
        && (first_that_cannot_run(run).is_none() || run.policy().headless)
}

/// Whether the request came with a plan or spec that has checks.
fn brings_checks(run: &Run) -> bool {
    run.request().is_some_and(|request| {
        let given = request.planning.given.as_ref();
        request.spec.is_some()
            || given.is_some_and(|plan| plan.tasks.iter().any(|task| !task.checks.is_empty()))
    })
}

fn first_that_cannot_run(run: &Run) -> Option<usize> {
    let cannot = |end: &CheckEnd| end.cannot_run.is_some();
    run.check_results().baseline.iter().position(|check| check.end.as_ref().is_some_and(cannot))
}

/// Whether a question is about the baseline. If there is no check and such a question was answered, the run continues
/// without one.
fn is_ours(question: &Question) -> bool {
    matches!(question.about(), Some(About::Baseline(_)))
}

/// Asks about a check that cannot run, or about missing checks; not while such a question is open.
fn ask(run: &Run, index: Option<usize>, now: Timestamp) -> Option<Event> {
    let open = |question: &Question| question.is_open() && is_ours(question);
    if run.policy().headless || run.questions().iter().any(open) {
        return None;
    }
    let index = index.and_then(|index| u32::try_from(index).ok());
    let state = index.and_then(|index| run.check_results().baseline.get(index as usize));
    let said = match state.and_then(|state| Some((&state.what, state.end.as_ref()?))) {
        Some((check, end)) => cannot_run(check, end),
        None => no_checks(),
    };
    let choices = choices(index.is_some());
    let (escalation, severity) = (Escalation::TechnicalBlocker, Severity::High);
    let terms = Terms::escalation(escalation, severity, About::Baseline(index), choices, STOP);
    Some(question::ask(run, said, None, Some(terms), now))
}

fn cannot_run(check: &Check, end: &CheckEnd) -> (String, Decision) {
    let why = end.cannot_run.as_deref().unwrap_or_default().trim_end_matches('.');
    let named = match check.name == check.command {
        true => format!("`{}`", check.command),
        false => format!("{} (`{}`)", check.name, check.command),
    };
    let text = format!(
        "the check {named} cannot run on the untouched tree: {why}. Planning has not started. \
         How should the run continue?"
    );
    let reason = "a check that cannot run cannot verify any work";
    let mut decision = Decision::new(RuleId::fixed("baseline.cannot_run"), reason)
        .seeing(format!("{}: {}", check.command, end.ended));
    let lines: Vec<&str> = end.output.text.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        decision = decision.seeing(types::one_line(line, 200));
    }
    (text, decision)
}

fn no_checks() -> (String, Decision) {
    let text = "no checks were found in this repository, so the result cannot be verified. \
                How should the run continue?";
    let reason = "without checks there is no evidence that the result works";
    (text.to_owned(), Decision::new(RuleId::fixed("baseline.no_checks"), reason))
}

fn choices(there_is_one: bool) -> Vec<Choice> {
    let mut choices = vec![
        Choice::new(CHECK, "use this command as the check, for example `check make test`")
            .with_words(),
    ];
    if there_is_one {
        choices.push(
            Choice::new(SETUP, "run this command first in every fresh checkout, then retry")
                .with_words(),
        );
        choices.push(Choice::new(AGAIN, "run the checks again after fixing the problem"));
        choices.push(Choice::new(LEAVE, "continue without this check"));
    } else {
        choices.push(Choice::new(LEAVE, "continue without checks; the result remains unproven"));
    }
    choices.push(Choice::new(STOP, "end the run; nothing was changed"));
    choices
}

/// Tests that fail on the untouched tree, by check, for the agents that are to fix them.
pub(crate) fn failing(run: &Run) -> Vec<(&Check, Vec<&str>)> {
    let failed = run.check_results().baseline.iter().filter_map(|state| {
        let end = state.end.as_ref().filter(|end| !end.passed())?;
        let tests = end.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
        Some((&state.what, tests.iter().map(String::as_str).collect()))
    });
    failed.collect()
}
