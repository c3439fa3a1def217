//! Explains a decision: its rule, its inputs, and the earlier rules that did not match. It folds the log up to the
//! decision and evaluates the same rules again, so that an explanation cannot differ from the decision.

mod tables;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use types::{
    About, AttemptId, CallId, Decision, Envelope, Event, Input, Inspection, ModelReply, Policy,
    RuleId, Scope, TaskId, Timestamp, one_line,
};

use rules::looked::Looked;

use crate::stages::{failure, intake};
use crate::{Attempt, Machine, Run};
use rules::permit;

/// The longest text shown as an input.
const SHOWN: usize = 300;
/// Maximum number of lines that one evaluation of `due` may write.
const AT_ONCE: usize = 8;

/// An input of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub name: String,
    pub value: String,
}

/// The explanation of one decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// Its line: `12` in the run's log, `T1.1:5` in an attempt's.
    pub place: String,
    pub at: Timestamp,
    pub event: String,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    pub inputs: Vec<Given>,
    /// The rules in order, up to the one that matched. Empty for built-in rules.
    pub rules: Vec<Looked>,
    /// Whether deciding again gives the same result; `None` for facts from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<bool>,
}

/// The position of a line, as people type it.
#[must_use]
pub fn place(line: &Envelope) -> String {
    match &line.attempt {
        Some(attempt) => format!("{attempt}:{}", line.seq),
        None => line.seq.to_string(),
    }
}

/// The decision that a line records, if any.
#[must_use]
pub fn decision(event: &Event) -> Option<&Decision> {
    match event {
        Event::RunAccepted { decision }
        | Event::RunRefused { decision }
        | Event::RunRouted { decision, .. }
        | Event::RunFinished { decision, .. }
        | Event::SandboxProbed { decision, .. }
        | Event::PlanAdopted { decision, .. }
        | Event::PlanRefused { decision, .. }
        | Event::TaskVerified { decision, .. }
        | Event::TaskFailed { decision, .. }
        | Event::TaskSkipped { decision, .. }
        | Event::RetryScheduled { decision, .. }
        | Event::GatePassed { decision, .. }
        | Event::GateBlocked { decision, .. }
        | Event::QuestionAsked { decision, .. }
        | Event::BudgetWarned { decision, .. }
        | Event::BudgetExhausted { decision, .. }
        | Event::BudgetRaised { decision, .. }
        | Event::SpecWritten { decision, .. }
        | Event::TaskReviewed { decision, .. }
        | Event::RequestAdvised { decision, .. }
        | Event::SessionWarned { decision, .. }
        | Event::SessionPaused { decision, .. }
        | Event::SessionCompacted { decision, .. }
        | Event::ToolStarted { decision, .. }
        | Event::ToolRefused { decision, .. } => Some(decision),
        Event::ModelFailed { again: Some(again), .. } => Some(&again.decision),
        Event::CheckStarted { decision: Some(decision), .. } => Some(decision),
        _ => None,
    }
}

/// Whether a line is a decision: it names a rule, or one rule per document.
#[must_use]
pub fn is_decided(event: &Event) -> bool {
    decision(event).is_some() || matches!(event, Event::ContextSelected { .. })
}

/// Whether a decision concerns this task or an attempt at it.
#[must_use]
pub fn is_about(line: &Envelope, task: &TaskId) -> bool {
    let of = |attempt: &AttemptId| attempt.task == *task;
    line.attempt.as_ref().is_some_and(of)
        || match &line.event {
            Event::TaskVerified { attempt, .. }
            | Event::TaskReviewed { attempt, .. }
            | Event::RequestAdvised { attempt, .. }
            | Event::PlanRefused { attempt, .. } => of(attempt),
            Event::QuestionAsked { attempt, .. } => {
                attempt.as_ref().is_some_and(of)
                    || matches!(waits(&line.event), Some(About::Task(own)) if own == task)
            }
            Event::BudgetWarned { task: own, .. } | Event::BudgetRaised { task: own, .. } => {
                own.as_ref() == Some(task)
            }
            Event::TaskFailed { task: own, .. }
            | Event::TaskSkipped { task: own, .. }
            | Event::RetryScheduled { task: own, .. } => own == task,
            Event::PlanAdopted { .. } => *task == TaskId::plan(),
            _ => false,
        }
}

/// The subject that waits for the answer to a question.
fn waits(event: &Event) -> Option<&About> {
    match event {
        Event::QuestionAsked { terms, .. } => terms.as_ref()?.about.as_ref(),
        _ => None,
    }
}

/// Explains one line of a run. `blank` is the run before its first event; `lines` are those of the run and its
/// attempts.
#[must_use]
pub fn why(blank: &Run, lines: &[Envelope], line: &Envelope) -> Why {
    let policy = blank.policy();
    let own: Vec<&Envelope> = lines
        .iter()
        .filter(|other| other.attempt == line.attempt && other.seq < line.seq)
        .collect();
    let (told, again) = match &line.attempt {
        Some(_) => {
            let told = of_attempt(policy, &own, &line.event);
            (told, again(&Attempt::new(policy.clone()), &own, line))
        }
        None => {
            let told = of_run(&folded(blank, &own), &line.event);
            (told, again(blank, &own, line))
        }
    };
    let mut inputs = told.inputs;
    let seen = decision(&line.event).map(|decision| decision.seen.as_slice()).unwrap_or_default();
    inputs.extend(seen.iter().map(|seen| given("seen", seen)));
    Why {
        place: place(line),
        at: line.at,
        event: line.event.kind().to_owned(),
        summary: line.event.summary(),
        decision: decision(&line.event).cloned(),
        inputs,
        rules: told.rules,
        again,
    }
}

fn folded<M: Machine + Clone>(blank: &M, lines: &[&Envelope]) -> M {
    let mut machine = blank.clone();
    lines.iter().for_each(|line| machine.apply(&line.event, line.at));
    machine
}

/// Whether the line is due in the state before it. One evaluation may write several lines, so a few lines before it may
/// belong to the same one.
fn again<M: Machine + Clone>(blank: &M, before: &[&Envelope], line: &Envelope) -> Option<bool> {
    let found = (0..=before.len().min(AT_ONCE)).any(|back| {
        let known = before.get(..before.len() - back).unwrap_or_default();
        folded(blank, known).decide(&Input::Due, line.at).contains(&line.event)
    });
    let always_due = matches!(
        line.event,
        Event::RunAccepted { .. }
            | Event::RunRouted { .. }
            | Event::ContextSelected { .. }
            | Event::GatePassed { .. }
            | Event::GateBlocked { .. }
            | Event::TaskVerified { .. }
            | Event::ToolStarted { .. }
    );
    (found || always_due).then_some(found)
}

#[derive(Default)]
struct Told {
    inputs: Vec<Given>,
    rules: Vec<Looked>,
}

fn given(name: &str, value: impl AsRef<str>) -> Given {
    Given { name: name.to_owned(), value: one_line(value.as_ref(), SHOWN) }
}

fn of_run(run: &Run, event: &Event) -> Told {
    let rule = decision(event).map(|decision| decision.rule.as_str()).unwrap_or_default();
    let stage = rule.split_once('.').map_or("", |(stage, _)| stage);
    let policy = run.policy();
    let admits = policy.admission.iter().any(|known| known.id.as_str() == rule);
    let routes = policy.routing.iter().any(|known| known.id.as_str() == rule);
    // People, budgets and breakers settle failures too, without the table.
    let fails =
        rule == failure::NO_RULE || policy.failures.iter().any(|known| known.id.as_str() == rule);
    match (event, waits(event)) {
        (Event::ContextSelected { .. }, _) => documents(run),
        (Event::GatePassed { phase, .. } | Event::GateBlocked { phase, .. }, _)
        | (_, Some(About::Gate(phase))) => {
            Told { inputs: vec![], rules: tables::gates(policy, *phase) }
        }
        (Event::QuestionAsked { attempt: Some(_), .. }, _) => Told::default(),
        (Event::TaskFailed { task, .. } | Event::RetryScheduled { task, .. }, _)
        | (_, Some(About::Task(task)))
            if fails =>
        {
            failed(run, task)
        }
        _ if admits || stage == "intake" => request(run, true),
        _ if routes || stage == "route" => request(run, false),
        _ if stage == "context" => documents(run),
        _ => Told::default(),
    }
}

/// The inputs of admission or of routing.
fn request(run: &Run, admission: bool) -> Told {
    let Some(asked) = run.asked() else { return Told::default() };
    let policy = run.policy();
    let mut reading = intake::reading(run, &asked.request);
    reading.facts.hint = reading.facts.hint.or_else(|| crate::stages::route::answered(run));
    let facts = &reading.facts;
    let mut inputs =
        vec![given("text", run.full_text()), given("words", reading.words().len().to_string())];
    let tokens = |n: u64| format!("{n} tokens");
    inputs.extend(facts.estimate.map(|estimate| given("estimate", tokens(estimate))));
    inputs.extend(facts.tokens.map(|budget| given("budget", tokens(budget))));
    let seconds = |n: u64| format!("{n} s");
    inputs.extend(facts.estimate_seconds.map(|time| given("estimated time", seconds(time))));
    inputs.extend(facts.seconds.map(|time| given("time budget", seconds(time))));
    inputs.extend(facts.hint.map(|hint| given("hint", format!("{hint:?}").to_lowercase())));
    inputs.extend(facts.project_type.as_ref().map(|named| given("project type", named)));
    inputs.extend(facts.insists.as_ref().map(|why| given("insists", why)));
    if facts.attached {
        inputs.push(given("attachments", asked.request.attachments.len().to_string()));
    }
    let rules = if admission {
        tables::admission(policy, &reading)
    } else {
        tables::routing(policy, &reading.prose())
    };
    Told { inputs, rules }
}

fn documents(run: &Run) -> Told {
    let Some(asked) = run.asked() else { return Told::default() };
    let text = run.full_text();
    let inputs =
        vec![given("text", &text), given("documents", asked.survey.documents.len().to_string())];
    let again = run.chose_before();
    let registry = asked.request.registry.as_deref();
    let available = rules::context::Available::of(&asked.survey.documents, registry);
    Told { inputs, rules: rules::context::look(run.policy(), &available, &text, again) }
}

fn failed(run: &Run, task: &TaskId) -> Told {
    let Some(task_state) = run.task_state(task) else { return Told::default() };
    let Some(fault) = task_state.faults.last() else { return Told::default() };
    let inputs = vec![
        given("task", task.as_str()),
        given("class", fault.class.as_str()),
        given("code", &fault.code),
        given("message", &fault.what),
        given("failures of the task so far", task_state.faults.len().to_string()),
    ];
    Told { inputs, rules: tables::failures(run.policy(), fault) }
}

/// The inputs of a call's decision: its scope and its effects.
fn of_attempt(policy: &Arc<Policy>, before: &[&Envelope], event: &Event) -> Told {
    let (call, tool) = match event {
        Event::ToolStarted { call, tool, .. } | Event::ToolRefused { call, tool, .. } => {
            (*call, tool.clone())
        }
        Event::QuestionAsked { call: Some(call), .. } => {
            let place = call.index as usize;
            let asked = replied(before, *call).and_then(|(reply, _)| reply.calls().nth(place));
            (*call, asked.map(|call| call.tool.clone()).unwrap_or_default())
        }
        _ => return Told::default(),
    };
    let scope = before.iter().find_map(|line| match &line.event {
        Event::SessionStarted { session, brief, .. } if *session == call.session => {
            Some(brief.scope.clone())
        }
        _ => None,
    });
    let scope = scope.unwrap_or_else(|| Scope(vec![]));
    let mut inputs = vec![given("tool", &tool), given("scope", written(&scope))];
    let inspections = replied(before, call).map(|(_, inspections)| inspections);
    let Some(Inspection::Would(facts)) =
        inspections.and_then(|inspections| inspections.get(call.index as usize))
    else {
        return Told { inputs, rules: vec![] };
    };
    inputs.extend(facts.command.as_ref().map(|command| given("command", command)));
    inputs.extend(facts.paths.iter().map(|path| given("path", path.as_str())));
    // A built-in rule may apply before the policy's, which are then not evaluated.
    let own = decision(event).is_some_and(|decision| is_own(policy, &decision.rule));
    let rules = if own { vec![] } else { permit::look(policy, &scope, &tool, facts) };
    Told { inputs, rules }
}

fn written(scope: &Scope) -> String {
    if scope.0.is_empty() { "no write access".to_owned() } else { scope.to_string() }
}

fn is_own(policy: &Policy, rule: &RuleId) -> bool {
    let asked = ["permit.default", "permit.carries", "permit.no_rule"];
    !asked.contains(&rule.as_str()) && !policy.permissions.iter().any(|known| known.id == *rule)
}

/// The reply with a call, and the inspections of its calls.
fn replied<'a>(
    before: &[&'a Envelope],
    call: CallId,
) -> Option<(&'a ModelReply, &'a [Inspection])> {
    before.iter().rev().find_map(|line| match &line.event {
        Event::ModelReplied { session, turn, reply, inspections, .. }
            if (*session, *turn) == (call.session, call.turn) =>
        {
            Some((&**reply, inspections.as_slice()))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests;
