//! An attempt was not good enough: is there another one, by whom, and what is it told; or does a person decide? One
//! table, keyed by the class of the failure. Infrastructure errors are retried, wrong results are not; the two
//! are never mixed up.

mod escalation;

use types::{
    CommitId, Decision, Event, FailureRule, Fault, Millis, Remedy, Retry, RuleId, TaskId, Timestamp,
};

use crate::stages::budget;
use crate::state::{CheckState, Run, Stage, TaskState, passed};
use rules::truncate::head_and_tail;

/// What decides where no rule speaks of a failure.
pub(crate) const NO_RULE: &str = "failure.no_rule";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    run.busy()
        .find_map(|(task, task_state)| match task_state.stage() {
            // What a person is asked to pay for waits for the answer.
            Stage::Rejected { fault, commit } if !budget::is_ours(run, fault) => {
                let failed = Failed { task, task_state, fault, commit: commit.as_ref() };
                Some(answer(run, &failed, now))
            }
            Stage::Escalated { fault, commit, question } => {
                let failed = Failed { task, task_state, fault, commit: commit.as_ref() };
                escalation::follow(run, &failed, *question, now)
            }
            _ => None,
        })
        .into_iter()
        .collect()
}

/// A task whose last attempt was not good enough.
struct Failed<'a> {
    task: TaskId,
    task_state: &'a TaskState,
    fault: &'a Fault,
    /// What the attempt left behind.
    commit: Option<&'a CommitId>,
}

impl Failed<'_> {
    /// The task is given up.
    fn given_up(&self, decision: Decision, halts: bool) -> Event {
        Event::TaskFailed { task: self.task.clone(), fault: self.fault.clone(), decision, halts }
    }
}

fn answer(run: &Run, failed: &Failed<'_>, now: Timestamp) -> Event {
    let Some(rule) = rule_for(run, failed.fault) else {
        let class = failed.fault.class.as_str();
        let reason = format!("no rule says what to do about a {class} failure");
        let decision = Decision::new(RuleId::fixed(NO_RULE), reason);
        return escalation::ask(run, failed, None, decision, now);
    };
    let executions = executions(run, failed.task_state, rule);
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{}: {}", failed.fault.class.as_str(), failed.fault.what))
        .seeing(format!("execution {executions} of {}", rule.max_executions));
    let remedy = remedy(rule, executions);
    let (remedy, decision) = match rule.fresh_after {
        Some(rounds) if remedy == Remedy::RetryWithFeedback && executions > rounds => {
            (Remedy::RetryFresh, decision.seeing(format!("fresh after {rounds} with feedback")))
        }
        _ => (remedy, decision),
    };
    match remedy {
        Remedy::Stop => failed.given_up(decision, false),
        Remedy::Halt => failed.given_up(decision, true),
        Remedy::Ask => escalation::ask(run, failed, Some(rule), decision, now),
        again => {
            let left = rule.max_executions.saturating_sub(executions);
            let wait = backoff(rule.backoff_ms, executions).max(asked_for(failed.fault));
            let next = Next { left, at: now.after(wait), words: None };
            retry(run, failed, again, rule, next, decision)
        }
    }
}

fn rule_for<'a>(run: &'a Run, fault: &Fault) -> Option<&'a FailureRule> {
    run.policy().failures.iter().find(|rule| covers(rule, fault))
}

/// Whether a rule speaks of a failure.
pub(crate) fn covers(rule: &FailureRule, fault: &Fault) -> bool {
    (rule.classes.is_empty() || rule.classes.contains(&fault.class))
        && (rule.codes.is_empty() || rule.codes.contains(&fault.code))
}

/// How many attempts at this task have ended in a way that this rule answers.
fn executions(run: &Run, task_state: &TaskState, rule: &FailureRule) -> u32 {
    let same = |fault: &&Fault| rule_for(run, fault).is_some_and(|other| other.id == rule.id);
    u32::try_from(task_state.faults().iter().filter(same).count()).unwrap_or(u32::MAX)
}

/// What is done now. When there is no execution left, it is what comes then; if that is one more attempt, it is made
/// once, and after that a person decides.
fn remedy(rule: &FailureRule, executions: u32) -> Remedy {
    let retries = |remedy: Remedy| !matches!(remedy, Remedy::Stop | Remedy::Halt | Remedy::Ask);
    if !retries(rule.action) || executions < rule.max_executions {
        return rule.action;
    }
    match rule.then {
        Some(then) if retries(then) && executions > rule.max_executions => Remedy::Ask,
        Some(then) => then,
        None => Remedy::Stop,
    }
}

/// When the next attempt is made, how many are left then, and what a person wants it to be told.
struct Next {
    left: u32,
    at: Timestamp,
    words: Option<String>,
}

fn retry(
    run: &Run,
    failed: &Failed<'_>,
    how: Remedy,
    rule: &FailureRule,
    next: Next,
    decision: Decision,
) -> Event {
    let (start, told) = match how {
        Remedy::RetryWithFeedback => {
            (failed.commit.cloned(), Some(feedback(run, failed.task_state, failed.fault)))
        }
        _ => (None, None),
    };
    let other = how == Remedy::Alternative;
    let role = rule.role.clone().filter(|_| other);
    let model = rule.model.clone().filter(|_| other);
    let who = role.as_ref().or(failed.task_state.last().map(|last| &last.running.role));
    let at = who.map_or(next.at, |who| run.breakers().not_before(who, next.at));
    let told = [told, next.words].into_iter().flatten().collect::<Vec<_>>();
    let feedback = (!told.is_empty()).then(|| told.join("\n\n"));
    let (task, left) = (failed.task.clone(), next.left);
    Event::RetryScheduled { task, at, left, start, feedback, role, model, decision }
}

/// Doubles with each execution, up to a minute.
fn backoff(first: Millis, executions: u32) -> Millis {
    let factor = 1_u64.checked_shl(executions.saturating_sub(1)).unwrap_or(u64::MAX);
    Millis(first.0.saturating_mul(factor).min(60_000))
}

/// How long whoever failed wants to be left alone, up to an hour.
fn asked_for(fault: &Fault) -> Millis {
    match fault.retry {
        Retry::After(span) => span.min(Millis::seconds(3_600)),
        Retry::Never | Retry::Now => Millis(0),
    }
}

/// What the next attempt is told: the fault, and what the checks that failed had to say.
fn feedback(run: &Run, task_state: &TaskState, fault: &Fault) -> String {
    let mut text = fault.what.clone();
    if !fault.evidence.is_empty() {
        text.push_str(&format!("\n\n{}", fault.evidence));
    }
    text + &evidence(run, task_state.checks())
}

/// What the checks that failed had to say.
pub(crate) fn evidence(run: &Run, checks: &[CheckState]) -> String {
    let mut text = String::new();
    // What a hidden check says would give it away.
    let told = |check: &&CheckState| passed(check) == Some(false) && !check.what.hidden;
    for check in checks.iter().filter(told) {
        let Some(end) = &check.end else { continue };
        let output = head_and_tail(&end.output.text, run.policy().limits.report_chars, None).text;
        let (name, command) = (&check.what.name, &check.what.command);
        text.push_str(&format!("\n\n{name} (`{command}`): {}\n{output}", end.ended));
    }
    text
}

#[cfg(test)]
mod remedy_tests;
#[cfg(test)]
mod tests;
