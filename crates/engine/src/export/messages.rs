//! The messages of design document 001 (docs/differences.md) between the coordinator, its planner, its supervisor,
//! agents and people, derived from a run's lines. Nothing was sent in this form, and nothing is delivered from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use types::{
    AttemptId, AttemptResult, Envelope, Event, Phase, Plan, PlanPhase, Priority, Severity, Task,
    TaskId, Timestamp, one_line,
};

use super::response::{request_id, uuid};
use crate::Run;

const COORDINATOR: &str = "coordinator";
/// The longest text in a message.
const SHOWN: usize = 300;
/// Words that mark a sentence of a goal as desirable or as optional.
const SHOULD: [&str; 5] = ["should", "ideally", "preferably", "would be good", "recommended"];
const NICE: [&str; 6] =
    ["nice to have", "optional", "if possible", "if there is time", "bonus", "would be nice"];

/// A message between the coordinator and another party.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub message_id: String,
    pub from: String,
    pub to: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub timestamp: Timestamp,
    /// The message that this one answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    pub payload: Value,
}

/// All messages of a run, in the order of its own lines.
pub(super) fn messages(run: &Run, lines: &[&Envelope], now: Timestamp) -> Vec<Message> {
    let mut teller = Teller {
        run,
        request: request_id(run, &run.view(now)),
        asked: BTreeMap::new(),
        planning: None,
        questions: BTreeMap::new(),
        phase: Phase::Initiation,
        total: 0,
        completed: 0,
        busy: Vec::new(),
    };
    lines.iter().flat_map(|line| teller.tell(line)).collect()
}

/// The state kept from line to line.
struct Teller<'a> {
    run: &'a Run,
    request: String,
    /// The message that requested each attempt.
    asked: BTreeMap<AttemptId, String>,
    planning: Option<String>,
    questions: BTreeMap<u32, Open>,
    phase: Phase,
    total: usize,
    completed: usize,
    busy: Vec<TaskId>,
}

/// A question that waits for its answer.
struct Open {
    message: String,
    severity: Severity,
    text: String,
}

/// A message without the common fields.
struct Said {
    from: String,
    to: String,
    kind: &'static str,
    answers: Option<String>,
    payload: Value,
}

fn said(from: &str, to: &str, kind: &'static str, answers: Option<String>, payload: Value) -> Said {
    Said { from: from.to_owned(), to: to.to_owned(), kind, answers, payload }
}

impl Teller<'_> {
    fn tell(&mut self, line: &Envelope) -> Vec<Message> {
        let id = |part: &str| uuid(&format!("{}/{}{part}", line.run, line.seq));
        let said = self.said(&line.event, &id(""));
        let update = self.moves(&line.event).then(|| self.update());
        let parts = said.into_iter().map(|said| (id(""), said));
        let parts = parts.chain(update.map(|said| (id(" progress"), said)));
        let message = |(message_id, said): (String, Said)| Message {
            message_id,
            from: said.from,
            to: said.to,
            kind: said.kind.to_owned(),
            timestamp: line.at,
            in_reply_to: said.answers,
            payload: said.payload,
        };
        parts.map(message).collect()
    }

    fn said(&mut self, event: &Event, id: &str) -> Option<Said> {
        let said = match event {
            Event::AttemptStarted { attempt, .. } if attempt.task == TaskId::plan() => {
                self.planning = Some(id.to_owned());
                said(COORDINATOR, "planner", "planning_request", None, self.planning_request())
            }
            Event::AttemptStarted { attempt, role, .. } => {
                self.asked.insert(attempt.clone(), id.to_owned());
                let payload = json!({ "task": attempt.task, "role": role });
                said(COORDINATOR, &attempt.to_string(), "task_request", None, payload)
            }
            Event::AttemptFinished { attempt, result, turns, .. } => {
                return self.finished(attempt, result, *turns);
            }
            Event::PlanAdopted { plan, .. } => self.planned(Some(plan), "success", &[])?,
            Event::PlanRefused { problems, .. } => self.planned(None, "failed", problems)?,
            Event::QuestionAsked { question, text, attempt, terms, .. } => {
                let severity = terms.as_ref().map_or(Severity::High, |terms| terms.severity);
                let (message, text) = (id.to_owned(), one_line(text, SHOWN));
                let payload = json!({ "question": question, "text": text });
                self.questions.insert(*question, Open { message, severity, text });
                let from = attempt.as_ref().map_or(COORDINATOR.to_owned(), ToString::to_string);
                said(&from, "person", "escalation", None, payload)
            }
            Event::QuestionAnswered { question, by, text, .. } => {
                let answers = self.questions.remove(question).map(|open| open.message);
                let payload = json!({ "question": question, "text": one_line(text, SHOWN) });
                said(by, COORDINATOR, "answer", answers, payload)
            }
            _ => return None,
        };
        Some(said)
    }

    fn finished(&self, attempt: &AttemptId, result: &AttemptResult, turns: u32) -> Option<Said> {
        let handed_in = matches!(result, AttemptResult::Submitted { .. });
        if attempt.task == TaskId::plan() {
            // A submission is answered by its outcome.
            let what = match result {
                AttemptResult::Failed { fault, .. } => one_line(&fault.what, SHOWN),
                _ => "cancelled".to_owned(),
            };
            return if handed_in { None } else { self.planned(None, "failed", &[what]) };
        }
        let status = if handed_in { "success" } else { "failure" };
        let payload = json!({ "task": attempt.task, "status": status, "turns": turns });
        let answers = self.asked.get(attempt).cloned();
        Some(said(&attempt.to_string(), COORDINATOR, "task_result", answers, payload))
    }

    fn planning_request(&self) -> Value {
        let request = self.run.request();
        let budget = self.run.ledger().budget();
        json!({
            "request_id": self.request,
            "objective": request.map(|request| request.text.as_str()),
            "requirements": requirements(self.run),
            "constraints": {
                "max_tokens": budget.tokens,
                "max_time_seconds": budget.time_ms.map(|time| time.0 / 1_000),
                "technologies": [],
                "project_type": request.and_then(|request| request.project_type.as_deref()),
            },
            "context": {},
        })
    }

    /// The planner's answer; `None` if no planner was asked.
    fn planned(&self, plan: Option<&Plan>, status: &str, problems: &[String]) -> Option<Said> {
        let answers = Some(self.planning.clone()?);
        let totals = plan.and_then(|plan| plan.totals.as_ref());
        let risk = |risk: &types::Risk| json!({ "risk": risk.description, "severity": risk.severity, "mitigation": risk.mitigation });
        let recommendations = plan.map_or(problems, |plan| plan.recommendations.as_slice());
        let payload = json!({
            "status": status,
            "plan": {
                "phases": plan.map(phases).unwrap_or_default(),
                "total_estimated_tokens": totals.map_or(0, |totals| totals.tokens),
                "total_estimated_time_seconds": totals.map_or(0, |totals| totals.time_ms.0 / 1_000),
            },
            "risks": plan.map(|plan| plan.risks.iter().map(risk).collect::<Vec<_>>()).unwrap_or_default(),
            "recommendations": recommendations,
        });
        Some(said("planner", COORDINATOR, "planning_response", answers, payload))
    }

    /// Whether the event is progress to report.
    fn moves(&mut self, event: &Event) -> bool {
        match event {
            Event::PlanAdopted { plan, .. } => (self.total, self.completed) = (plan.tasks.len(), 0),
            Event::AttemptStarted { attempt, .. } if attempt.task != TaskId::plan() => {
                self.busy.retain(|task| *task != attempt.task);
                self.busy.push(attempt.task.clone());
            }
            Event::TaskFinished { task, .. } => {
                self.completed += 1;
                self.busy.retain(|busy| busy != task);
            }
            Event::TaskFailed { task, .. } | Event::TaskSkipped { task, .. } => {
                self.busy.retain(|busy| busy != task);
            }
            // Tests beside a task are over when they are written.
            Event::TaskVerified { attempt, .. }
                if rules::beside::tested_by(&attempt.task).is_some() =>
            {
                self.busy.retain(|busy| *busy != attempt.task);
            }
            Event::GatePassed { phase, .. } => {
                let next = Phase::ALL.into_iter().find(|other| other > phase);
                self.phase = next.unwrap_or(Phase::Closure);
            }
            Event::QuestionAsked { .. } => {}
            _ => return false,
        }
        true
    }

    fn update(&self) -> Said {
        let blockers = self.questions.values().map(|open| {
            json!({
                "severity": open.severity.as_str(),
                "description": open.text,
                "requires_coordinator_decision": true,
            })
        });
        let percent = (self.completed * 100).checked_div(self.total).unwrap_or(0);
        let payload = json!({
            "request_id": self.request,
            "progress_percentage": percent,
            "current_phase": self.phase,
            "current_task": self.busy.first(),
            "tasks_completed": self.completed,
            "tasks_remaining": self.total.saturating_sub(self.completed),
            "blockers": blockers.collect::<Vec<_>>(),
        });
        said("supervisor", COORDINATOR, "progress_update", None, payload)
    }
}

/// The plan's tasks by the planner's own phases; tasks without one are development.
fn phases(plan: &Plan) -> Vec<Value> {
    let mut by_phase: BTreeMap<PlanPhase, Vec<Value>> = BTreeMap::new();
    for task in &plan.tasks {
        by_phase.entry(task.phase.unwrap_or(PlanPhase::Development)).or_default().push(told(task));
    }
    let told = |(phase, tasks): (PlanPhase, Vec<Value>)| json!({ "phase": phase.as_str(), "tasks": tasks });
    by_phase.into_iter().map(told).collect()
}

fn told(task: &Task) -> Value {
    let description = if task.description.is_empty() { &task.title } else { &task.description };
    json!({
        "task_id": task.id,
        "description": description,
        "assigned_to": task.role,
        "dependencies": task.depends_on,
        "estimated_tokens": task.estimate_tokens,
        "estimated_time_seconds": task.estimate_seconds,
    })
}

/// The requirements: those of the spec, or each sentence of the goal with the priority its wording implies.
fn requirements(run: &Run) -> Vec<Value> {
    let Some(request) = run.request() else { return vec![] };
    let listed = request.spec.as_deref().map(|spec| spec.requirements.as_slice());
    if let Some(listed) = listed.filter(|listed| !listed.is_empty()) {
        let told = listed.iter().map(|one| {
            let priority = match one.priority {
                Priority::Must => "must_have",
                Priority::Should => "should_have",
                Priority::Could => "nice_to_have",
            };
            let criteria: Vec<&String> = one.verification.iter().collect();
            json!({ "requirement": one.description, "priority": priority, "acceptance_criteria": criteria })
        });
        return told.collect();
    }
    let checks: Vec<&str> =
        run.project_checks().iter().map(|check| check.command.as_str()).collect();
    let sentences = sentences(&request.text).into_iter().map(|text| {
        json!({ "requirement": text, "priority": priority(&text), "acceptance_criteria": checks })
    });
    sentences.collect()
}

/// Splits a text after full stops, question and exclamation marks, and at line breaks.
fn sentences(text: &str) -> Vec<String> {
    let cut = text.replace(". ", ".\n").replace("! ", "!\n").replace("? ", "?\n");
    let bare = cut.lines().map(|part| part.trim().trim_start_matches(['-', '*']).trim());
    bare.filter(|part| !part.is_empty()).map(|part| one_line(part, SHOWN)).collect()
}

fn priority(sentence: &str) -> &'static str {
    let lower = sentence.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&NICE) {
        return "nice_to_have";
    }
    if says(&SHOULD) { "should_have" } else { "must_have" }
}

#[cfg(test)]
mod tests;
