//! The project state of design document 001 (docs/differences.md): a run as one object that another program can store
//! and read back. It is a copy of the log, which stays authoritative; nothing is ever restored from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Envelope, Event, GateView, Phase, Plan, RunView, TaskStage, Timestamp, one_line};

use super::messages::{Message, messages};
use super::response::{
    Blocker, Deliverable, Progress, blockers, deliverables, dollars, progress, request_id, standing,
};
use crate::Run;

/// The longest text in a message.
const SHOWN: usize = 300;

/// Everything known of a request, in document 001's terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectState {
    pub request_id: String,
    pub status: Progress,
    pub phase: Phase,
    pub progress_percentage: u8,
    pub tasks_completed: u64,
    pub tasks_remaining: u64,
    pub start_time: Timestamp,
    pub last_update_time: Timestamp,
    pub tokens_budget: Option<u64>,
    pub tokens_used: u64,
    pub tokens_remaining: Option<u64>,
    pub api_calls: u64,
    pub cost_usd: f64,
    pub plan: Option<Plan>,
    /// The outputs of each completed phase.
    pub phase_outputs: BTreeMap<Phase, Vec<String>>,
    pub deliverables: Vec<Deliverable>,
    pub risks: Vec<Value>,
    /// Problems so far, including fixed ones.
    pub issues: Vec<String>,
    pub blockers: Vec<Blocker>,
    /// Messages to and from agents and people.
    pub messages: Vec<Message>,
    /// The attempts in progress.
    pub active_agents: Vec<String>,
    pub go_decisions: BTreeMap<Phase, GateView>,
}

/// The state of a run at `now`. The lines are those of the run and its attempts.
#[must_use]
pub fn project_state(run: &Run, lines: &[Envelope], now: Timestamp) -> ProjectState {
    let view = run.view(now);
    let (standing, gates) = (standing(&view), view.gates.iter());
    let own: Vec<&Envelope> = lines.iter().filter(|line| line.attempt.is_none()).collect();
    ProjectState {
        request_id: request_id(run, &view),
        status: progress(view.status),
        phase: standing.phase,
        progress_percentage: standing.progress_percentage,
        tasks_completed: standing.tasks_completed,
        tasks_remaining: standing.tasks_remaining,
        start_time: view.started,
        last_update_time: own.last().map_or(view.started, |line| line.at),
        tokens_budget: view.budget.tokens,
        tokens_used: view.spent.tokens,
        tokens_remaining: view.budget.tokens.map(|all| all.saturating_sub(view.spent.counted())),
        api_calls: view.spent.calls,
        cost_usd: dollars(view.spent.money),
        plan: run.plan().cloned(),
        // The evidence of each gate.
        phase_outputs: gates.map(|gate| (gate.phase, gate.decision.seen.clone())).collect(),
        deliverables: deliverables(run, &view),
        risks: risks(run),
        issues: own.iter().flat_map(|line| issues(&line.event)).collect(),
        blockers: blockers(&view),
        messages: messages(run, &own, now),
        active_agents: active(&view),
        go_decisions: view.gates.iter().map(|gate| (gate.phase, gate.clone())).collect(),
    }
}

/// The risks that the plan names, as it names them.
fn risks(run: &Run) -> Vec<Value> {
    let plan = run.plan().and_then(|plan| serde_json::to_value(plan).ok()).unwrap_or_default();
    plan.get("risks").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn active(view: &RunView) -> Vec<String> {
    let busy = view.tasks.iter().filter(|task| task.stage == TaskStage::Running);
    busy.map(|task| format!("{}.{}", task.id, task.attempts)).collect()
}

/// The problems in an event. Calls that no rule allowed are listed one by one.
fn issues(event: &Event) -> Vec<String> {
    let text = |text: &str| one_line(text, SHOWN);
    match event {
        Event::AttemptFinished { attempt, denied, .. } => {
            denied.iter().map(|call| format!("{attempt}: refused {}", text(call))).collect()
        }
        Event::TaskRejected { attempt, fault } => vec![format!("{attempt}: {}", text(&fault.what))],
        Event::TaskFailed { task, fault, .. } => vec![format!("{task}: {}", text(&fault.what))],
        Event::PlanRefused { attempt, problems, .. } => {
            vec![format!("{attempt}: {}", text(&problems.join("; ")))]
        }
        Event::GateBlocked { phase, decision, .. } => {
            vec![format!("{}: {}", phase.as_str(), text(&decision.reason))]
        }
        Event::BudgetWarned { decision, .. } | Event::BudgetExhausted { decision } => {
            vec![text(&decision.reason)]
        }
        _ => vec![],
    }
}
