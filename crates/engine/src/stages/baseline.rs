//! Baseline: every check runs on the untouched tree before planning, so that existing failures are known, and a check
//! that cannot run becomes a question before tokens are spent. Runs nothing itself and never blames an agent.

use types::{
    About, Check, CheckEnd, CheckId, Choice, Decision, Escalation, Event, Phase, RuleId, Severity,
    Subject, Terms, Timestamp,
};

use crate::stages::{advice, limits, question};
use crate::state::{CheckState, Question, Run};
use types::choices::{AGAIN, CHECK, LEAVE, SETUP, STOP};

/// The output lines of a check that are shown with the question.
const LAST_LINES: usize = 8;
const WITHOUT: &str = "continue without this check";
const NOTHING_CHANGED: &str = "end the run; nothing was changed";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if !wanted(run) {
        return vec![];
    }
    if is_over(run) {
        return no_go(run).into_iter().collect();
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
        return vec![limits::start(run, check, what, commit)];
    }
    if let Some(again) = limits::again(run, &Subject::Base, tried) {
        return vec![again];
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
    let cannot = |end: &CheckEnd| end.cannot_run.is_some() || run.timed_out(end);
    run.check_results().baseline.iter().position(|check| check.end.as_ref().is_some_and(cannot))
}

/// Whether a question is about the baseline. If there is no check and such a question was answered, the run continues
/// without one.
fn is_ours(question: &Question) -> bool {
    matches!(question.about(), Some(About::Baseline(_)))
}

/// Whether a person decided to go on without any check.
pub(crate) fn goes_without(run: &Run) -> bool {
    let mut ours = run.questions().iter().filter(|question| is_ours(question));
    run.project_checks().is_empty() && ours.any(|question| question.choice() == Some(LEAVE))
}

/// Asks about a check that cannot run, or about missing checks; not while such a question is open.
fn ask(run: &Run, index: Option<usize>, now: Timestamp) -> Option<Event> {
    let open = |question: &Question| question.is_open() && is_ours(question);
    if run.policy().headless || run.questions().iter().any(open) {
        return None;
    }
    let index = index.and_then(|index| u32::try_from(index).ok());
    let state = index.and_then(|index| run.check_results().baseline.get(index as usize));
    let (said, choices) = match state.and_then(|state| Some((state, state.end.as_ref()?))) {
        Some((state, end)) if run.timed_out(end) => (timed_out(state, end), choices_if_late(state)),
        Some((state, end)) => (cannot_run(&state.what, end), choices(true)),
        None => (no_checks(), choices(false)),
    };
    let (escalation, severity) = (Escalation::TechnicalBlocker, Severity::High);
    let terms = Terms::escalation(escalation, severity, About::Baseline(index), choices, STOP);
    Some(question::ask(run, said, None, Some(terms), now))
}

/// Ends a run before any model is called, if a check needs something that no task can bring and nobody can be asked.
fn no_go(run: &Run) -> Option<Event> {
    let phase = Phase::Initiation;
    let spends = run.policy().headless && !run.only_plans();
    if !spends || run.phase() != phase || run.verdict(phase).is_some() {
        return None;
    }
    let mut ended = run.check_results().baseline.iter();
    let (what, end) = ended.find_map(|check| {
        let end = check.end.as_ref().filter(|end| lacks_a_program(end) || lacks_a_download(end))?;
        Some((&check.what, end))
    })?;
    let why = end.cannot_run.as_deref().unwrap_or_default();
    let reason = format!("the check {} cannot run on the untouched tree: {why}", named(what));
    let decision = seen(Decision::new(RuleId::fixed("baseline.cannot_run"), reason), what, end);
    Some(Event::GateBlocked { phase, decision, card: None })
}

/// Whether a check needs a program that no task can bring. A file that is missing may be what a task is to write.
fn lacks_a_program(end: &CheckEnd) -> bool {
    let named = end.cannot_run.as_deref().and_then(|why| why.strip_prefix("the command "));
    let name = named.and_then(|why| why.split(' ').next());
    name.is_some_and(|name| !name.contains(['/', '.']))
}

/// Whether a check needs dependencies that a set-up command has to download.
fn lacks_a_download(end: &CheckEnd) -> bool {
    end.cannot_run.as_deref().is_some_and(|why| why.contains("no network access"))
}

fn cannot_run(check: &Check, end: &CheckEnd) -> (String, Decision) {
    let why = end.cannot_run.as_deref().unwrap_or_default().trim_end_matches('.');
    let text = format!(
        "the check {} cannot run on the untouched tree: {why}. Planning has not started. \
         How should the run continue?",
        named(check)
    );
    let reason = "a check that cannot run cannot verify any work";
    (text, seen(Decision::new(RuleId::fixed("baseline.cannot_run"), reason), check, end))
}

fn timed_out(state: &CheckState, end: &CheckEnd) -> (String, Decision) {
    let text = format!(
        "the check {} did not end within {} on the untouched tree. Planning has not started. \
         How should the run continue?",
        named(&state.what),
        state.limit.unwrap_or(end.elapsed_ms)
    );
    let reason = "a check that does not end in time cannot verify any work";
    (text, seen(Decision::new(RuleId::fixed("baseline.timed_out"), reason), &state.what, end))
}

fn named(check: &Check) -> String {
    match check.name == check.command {
        true => format!("`{}`", check.command),
        false => format!("{} (`{}`)", check.name, check.command),
    }
}

/// The end of a check and its last lines, for the person who decides.
fn seen(decision: Decision, check: &Check, end: &CheckEnd) -> Decision {
    let decision = decision.seeing(format!("{}: {}", check.command, end.ended));
    let lines: Vec<&str> = end.output.text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    last.iter().fold(decision, |decision, line| decision.seeing(types::one_line(line, 200)))
}

fn no_checks() -> (String, Decision) {
    let text = "no checks were found in this repository, so the result cannot be verified. \
                How should the run continue?";
    let reason = "without checks there is no evidence that the result works";
    (text.to_owned(), Decision::new(RuleId::fixed("baseline.no_checks"), reason))
}

/// The answers about a check that did not end in time.
fn choices_if_late(state: &CheckState) -> Vec<Choice> {
    vec![
        Choice::new(AGAIN, &format!("run it again, for up to {}", state.longer())),
        another_check(),
        Choice::new(LEAVE, WITHOUT),
        Choice::new(STOP, NOTHING_CHANGED),
    ]
}

fn another_check() -> Choice {
    Choice::new(CHECK, "use this command as the check, for example `check make test`").with_words()
}

fn choices(there_is_one: bool) -> Vec<Choice> {
    let mut choices = vec![another_check()];
    if there_is_one {
        choices.push(
            Choice::new(SETUP, "run this command first in every fresh checkout, then retry")
                .with_words(),
        );
        choices.push(Choice::new(AGAIN, "run the checks again after fixing the problem"));
        choices.push(Choice::new(LEAVE, WITHOUT));
    } else {
        choices.push(Choice::new(LEAVE, "continue without checks; the result remains unproven"));
    }
    choices.push(Choice::new(STOP, NOTHING_CHANGED));
    choices
}

/// Tests that fail on the untouched tree, by check, for the agents that are to fix them.
pub(crate) fn failing(run: &Run) -> Vec<(&Check, Vec<&str>)> {
    let failed = run.check_results().baseline.iter().filter_map(|state| {
        let end = state.end.as_ref().filter(|end| !end.passed() && !run.timed_out(end))?;
        let tests = end.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
        Some((&state.what, tests.iter().map(String::as_str).collect()))
    });
    failed.collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{proving, run_with, same};

    /// What one input leads to, where nobody can be asked.
    fn alone(input: &str) -> String {
        let mut policy = proving();
        policy.headless = true;
        let mut bench = run_with(policy);
        bench.tell("begin Build a CLI");
        bench.tell(input)
    }

    #[test]
    fn a_program_that_is_missing_ends_a_run_that_can_ask_nobody_before_it_spends() {
        same(
            &alone("check base/0 exits 127 lacks=pytest"),
            "check.finished base/0 exit 127
             gate.blocked initiation: the check tests (`make test`) cannot run on the untouched tree: the command pytest is not found (exit 127)
             run.finished no-go, baseline.cannot_run",
        );
    }

    #[test]
    fn so_do_dependencies_that_are_not_downloaded() {
        same(
            &alone("check base/0 exits 101 offline"),
            "check.finished base/0 exit 101
             gate.blocked initiation: the check tests (`make test`) cannot run on the untouched tree: cannot download: checks have no network access
             run.finished no-go, baseline.cannot_run",
        );
    }

    /// The first task may be about to write it.
    #[test]
    fn a_file_that_is_missing_does_not() {
        for file in ["test.sh", "./run"] {
            let events = alone(&format!("check base/0 exits 127 lacks={file}"));
            assert!(events.contains("attempt.started plan.1"), "{file}: {events}");
        }
    }
}
