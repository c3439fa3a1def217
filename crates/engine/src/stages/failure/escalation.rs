//! Failures that a person decides: the question with its full context, and the consequence of the answer.

use types::{
    About, Check, Choice, Decision, Escalation, Event, FailureRule, FaultClass, Package, Remedy,
    RuleId, Severity, TIMED_OUT, TaskId, Terms, Timestamp,
};

use super::retry::{Failed, Next, evidence, executions, retry, rule_for};
use crate::agent::BLOCKED;
use crate::stages::{brief, limits, question, trials, verify};
use crate::state::{Run, current};
use rules::truncate::head_and_tail;
use types::choices::{ACCEPT, AGAIN, DROP, RETRY, STOP};

const SKIP: &str = "skip";
/// The most characters of a task's title in a question.
const MOST_TITLE: usize = 60;

/// Asks a person about the failure. If no person can be asked, the task is abandoned.
pub(super) fn ask(
    run: &Run,
    failed: &Failed<'_>,
    rule: Option<&FailureRule>,
    decision: Decision,
    now: Timestamp,
) -> Event {
    if run.policy().headless {
        return failed.given_up(decision.seeing("no person can be asked"), false);
    }
    let escalation = match rule.and_then(|rule| rule.escalation) {
        None if is_late(failed) => Escalation::TechnicalBlocker,
        escalation => escalation.unwrap_or(Escalation::Unknown),
    };
    let severity = rule.and_then(|rule| rule.severity).unwrap_or(Severity::High);
    let about = About::Task(failed.task.clone());
    let terms = Terms {
        package: package(run, failed).map(Box::new),
        ..Terms::escalation(escalation, severity, about, choices(run, failed), STOP)
    };
    question::ask(run, (text(run, failed), decision), None, Some(terms), now)
}

fn text(run: &Run, failed: &Failed<'_>) -> String {
    let (task, fault) = (&failed.task, failed.fault);
    if is_doubt(failed) {
        let what = &fault.what;
        let title = run.planned(task).map(|task| types::headline(&task.title, MOST_TITLE));
        let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
        return format!(
            "the result of {task}{title} is in doubt: {what}. How should the run continue?"
        );
    }
    let what = fault.what.trim_end_matches('.');
    if is_late(failed) {
        return format!(
            "{task} could not be verified: {what}. This may be the machine, or the change may make \
             it hang. How should the run continue?"
        );
    }
    if fault.code == BLOCKED {
        return format!("{task} is blocked: {what}. How should the run continue?");
    }
    let end = if what.ends_with(['?', '!']) { "" } else { "." };
    let class = fault.class.as_str();
    format!("{task} failed ({class}): {what}{end} How should the run continue?")
}

fn choices(run: &Run, failed: &Failed<'_>) -> Vec<Choice> {
    let task = &failed.task;
    let mut choices = vec![];
    let late = limits::late(run, &failed.task_state.checks).filter(|_| is_late(failed));
    if let Some(longer) = late.map(|(_, check)| check.longer()).max() {
        let says = format!("run the check again on this result, for up to {longer}");
        choices.push(Choice::new(AGAIN, &says));
    }
    choices.push(
        Choice::new(RETRY, "make one more attempt; text that you add is passed to the agent")
            .with_words(),
    );
    if is_doubt(failed) || is_late(failed) || has_failed_checks(failed) {
        choices.push(Choice::new(ACCEPT, "accept the result after your own review"));
    }
    let objecting = objecting(run, failed);
    if !objecting.is_empty() {
        let says = format!(
            "accept the result and drop {}: it is not run again in this run",
            named(&objecting)
        );
        choices.push(Choice::new(DROP, &says));
    }
    // Without a plan there is nothing to continue with.
    if *task != TaskId::plan() {
        choices.push(Choice::new(SKIP, "skip this task and continue with the others"));
    }
    choices.push(Choice::new(STOP, "end the run; all existing work is kept"));
    choices
}

/// Whether the checks passed and only their evidence is in doubt.
fn is_doubt(failed: &Failed<'_>) -> bool {
    failed.fault.code.starts_with("evidence.") && failed.commit.is_some()
}

/// Whether a result is there and its checks failed, alone or merged with other results.
fn has_failed_checks(failed: &Failed<'_>) -> bool {
    failed.fault.class == FaultClass::CheckFailed
        && [verify::CHECK_FAILED, verify::MERGED_CHECK_FAILED].contains(&failed.fault.code.as_str())
        && failed.commit.is_some()
}

/// The checks that object to a result.
fn objecting(run: &Run, failed: &Failed<'_>) -> Vec<Check> {
    let (task, task_state) = (&failed.task, failed.task_state);
    if is_doubt(failed) {
        return trials::doubted(run, &failed.task, task_state).into_iter().collect();
    }
    if is_late(failed) {
        let late = limits::late(run, &task_state.checks);
        return late.map(|(_, check)| check.what.clone()).collect();
    }
    if !has_failed_checks(failed) {
        return vec![];
    }
    match failed.fault.code.as_str() {
        verify::CHECK_FAILED => {
            let failed = verify::failed(run, task, task_state);
            failed.into_iter().map(|one| one.check.clone()).collect()
        }
        _ => {
            let failed = verify::failed_when_merged(run, task_state);
            failed.map(|check| check.what.clone()).collect()
        }
    }
}

fn named(checks: &[Check]) -> String {
    let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    let word = if names.len() == 1 { "the check" } else { "the checks" };
    format!("{word} {}", names.join(", "))
}

/// Whether nothing is known against the result except that its checks did not end in time.
fn is_late(failed: &Failed<'_>) -> bool {
    failed.fault.code == TIMED_OUT && failed.commit.is_some()
}

/// The agent's brief, its output, and the problem.
fn package(run: &Run, failed: &Failed<'_>) -> Option<Package> {
    let last = failed.task_state.last.as_ref()?;
    let most = run.policy().limits.report_chars;
    let cut = |text: &str| head_and_tail(text, most, None).text;
    // A doubt comes with its own evidence, and the output of other checks would only hide it.
    let evidence = match failed.fault.code.as_str() {
        trials::OTHERS => trials::seen_with_others(failed.task_state),
        _ if is_doubt(failed) => String::new(),
        _ => evidence(run, &failed.task_state.checks),
    };
    let attempt = current(&failed.task, failed.task_state);
    Some(Package {
        input: cut(&brief::told(run, &attempt, &last.running)),
        documents: brief::documents(run, &last.running.role),
        output: match &last.output {
            Some(output) => cut(&output.to_string()),
            None => cut(&failed.fault.evidence),
        },
        commit: failed.commit.cloned(),
        changes: last.changes.clone(),
        fault: failed.fault.clone(),
        evidence: cut(evidence.trim()),
        attempt,
    })
}

/// The consequence of the person's answer for a task.
pub(super) fn follow(
    run: &Run,
    failed: &Failed<'_>,
    question: u32,
    now: Timestamp,
) -> Option<Event> {
    let question = run.questions().get(question as usize)?;
    let said = &question.answer.as_ref()?.said;
    let by = |word: &'static str, what: &str| {
        Decision::new(RuleId::fixed(word), format!("{} {what}", said.by)).seeing(&said.text)
    };
    Some(match question.choice() {
        Some(RETRY) => {
            let words = question.words().map(|words| format!("{} says: {words}", said.by));
            let next = Next { left: 0, at: now, words };
            once_more(run, failed, next, by("person.retry", "requested one more attempt"))
        }
        Some(ACCEPT) if is_doubt(failed) || is_late(failed) || has_failed_checks(failed) => {
            let fails = has_failed_checks(failed);
            let set_aside = if fails { objecting(run, failed) } else { vec![] };
            let decision = by(types::ACCEPTED_IN_DOUBT, "reviewed and accepted the result");
            accepted(failed, set_aside, decision)
        }
        Some(DROP) => {
            let checks = objecting(run, failed);
            let what = format!("dropped {} and accepted the result", named(&checks));
            accepted(failed, checks, by(types::DROPPED_CHECK, &what))
        }
        Some(SKIP) => Event::TaskSkipped {
            task: failed.task.clone(),
            decision: by("person.skip", "skipped this task"),
        },
        _ => failed.given_up(by("person.stop", "ended the run"), true),
    })
}

/// The result of a task, accepted by a person in spite of some checks.
fn accepted(failed: &Failed<'_>, set_aside: Vec<Check>, decision: Decision) -> Event {
    Event::TaskVerified {
        attempt: current(&failed.task, failed.task_state),
        commit: failed.commit.cloned().unwrap_or_default(),
        decision,
        evidence: None,
        set_aside: set_aside.into_iter().map(|check| check.command).collect(),
    }
}

/// Another attempt, which continues from the files of the failed one only if the rule requires it.
fn once_more(run: &Run, failed: &Failed<'_>, next: Next, decision: Decision) -> Event {
    if is_late(failed) {
        return retry(run, failed, Remedy::RetryWithFeedback, None, next, decision);
    }
    let Some(rule) = rule_for(run, failed.fault) else {
        let (task, at, left) = (failed.task.clone(), next.at, next.left);
        let (start, feedback, role, model) = (None, next.words, None, None);
        return Event::RetryScheduled { task, at, left, start, feedback, role, model, decision };
    };
    let executions = executions(run, failed.task_state, rule);
    let (most, id) = (rule.max_executions, &rule.id);
    let decision = decision.seeing(format!("execution {executions} of {most} under {id}"));
    let how = match rule.action {
        Remedy::RetryWithFeedback => Remedy::RetryWithFeedback,
        _ => Remedy::RetryFresh,
    };
    retry(run, failed, how, Some(rule), next, decision)
}
