//! One task in full: its brief, its scope, and its attempts side by side.

use std::collections::BTreeMap;

use engine::export::documents_given;
use schemars::JsonSchema;
use serde::Serialize;
use types::{
    Artifact, AttemptId, AttemptResult, Changes, Check, CommitId, Event, Fault, IsolationLevel,
    ModelRef, Money, RoleId, RuleId, Scope, Selected, Task, TaskId, TaskPriority, TaskStage,
    TaskView, Timestamp, Usage, WorkPath, one_line,
};

use super::gate::FindingItem;
use super::source::Recorded;

/// Maximum number of refused calls listed for an attempt.
const MOST_REFUSED: usize = 200;

/// One task in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskDetail {
    pub task: TaskView,
    pub description: String,
    /// Why it is a task of its own.
    pub rationale: String,
    pub role: Option<RoleId>,
    pub priority: Option<TaskPriority>,
    pub estimate_tokens: Option<u64>,
    pub estimate_seconds: Option<u64>,
    pub acceptance: Vec<String>,
    /// Its own checks; empty, if those of the request decide.
    pub checks: Vec<Check>,
    /// The first message to the agent, of the newest attempt that has one.
    pub brief: String,
    /// The system prompt of that attempt.
    pub system: String,
    pub scope: TaskScope,
    pub documents: Documents,
    /// What held the sandbox when it was attacked from inside; not there before it was.
    pub sandbox: Option<SandboxProof>,
    pub attempts: Vec<AttemptDetail>,
}

/// Where a task may write.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct TaskScope {
    /// What the plan promises of it.
    pub artifacts: Vec<Artifact>,
    /// Where its newest attempt may write.
    pub writes: Vec<Artifact>,
    /// The hosts that its commands may reach by the policy; none means no network.
    pub network: Vec<String>,
}

/// The documents of the repository that its agent was given, and those that it was not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Documents {
    pub given: Vec<DocumentItem>,
    pub withheld: Vec<DocumentItem>,
}

/// A document with the rule that decided about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentItem {
    pub path: WorkPath,
    pub rule: RuleId,
    /// Only agents on this side get it: `product` or `dev`; all, if it is not there.
    pub side: Option<String>,
}

/// The isolation of a run's commands, as it was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxProof {
    pub level: IsolationLevel,
    pub attacks: Vec<AttackItem>,
    /// Why there is no higher level.
    pub missing: Vec<String>,
    pub rule: RuleId,
    pub reason: String,
}

/// One attack on the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttackItem {
    pub what: String,
    /// How it got through; held, if it is not there.
    pub through: Option<String>,
}

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttemptDetail {
    pub attempt: AttemptId,
    pub role: RoleId,
    pub model: Option<ModelRef>,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub outcome: AttemptOutcome,
    /// What it failed with, or what was wrong with its result.
    pub fault: Option<Fault>,
    /// What it was told of earlier attempts.
    pub feedback: Option<String>,
    pub tokens: u64,
    pub cost: Money,
    pub usage: Usage,
    pub turns: u32,
    /// Calls of tools that were made, and those of them that failed.
    pub calls: u32,
    pub failed_calls: u32,
    /// Calls that no rule allowed, or that could not be made; the first of them.
    pub refused: Vec<RefusedCall>,
    /// The isolation that its commands need.
    pub sandbox: Option<IsolationLevel>,
    pub changes: Changes,
    pub commit: Option<CommitId>,
    pub findings: Vec<FindingItem>,
    /// What it says about its own work.
    pub said: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    Running,
    /// It handed something in, which is not judged yet.
    Submitted,
    /// Its result passed.
    Verified,
    /// Its result was not good enough.
    Rejected,
    /// It handed nothing in.
    Failed,
    Cancelled,
}

/// A call that was not made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedCall {
    pub call: String,
    pub tool: String,
    pub at: Timestamp,
    pub rule: RuleId,
    pub reason: String,
    /// What the rule saw.
    pub seen: Vec<String>,
    /// It lies outside of what the agent may do at all.
    pub violation: bool,
}

/// A task of the plan, or the task of planning, a review or the adviser; `None` if the run has no such task.
#[must_use]
pub fn task(recorded: &Recorded, id: &TaskId) -> Option<TaskDetail> {
    let planned = recorded.plan().and_then(|plan| plan.tasks.iter().find(|one| one.id == *id));
    let shown = recorded.run.task_shown(id).or_else(|| planned.map(not_begun))?;
    let attempts = attempts(recorded, id);
    let last = attempts.last();
    let role = last.map(|one| one.role.clone()).or_else(|| Some(planned?.role.clone()));
    let briefs = attempts.iter().rev().filter_map(|one| {
        recorded.of(&one.attempt).find_map(|line| match &line.event {
            Event::SessionStarted { brief, parent: None, .. } => Some(brief),
            _ => None,
        })
    });
    let brief = briefs.into_iter().next();
    let writes = recorded.own().rev().find_map(|line| match &line.event {
        Event::AttemptStarted { attempt, scope: Scope(writes), .. } if attempt.task == *id => {
            Some(writes.clone())
        }
        _ => None,
    });
    let artifacts = planned.map(|task| task.artifacts.clone()).unwrap_or_default();
    Some(TaskDetail {
        task: shown,
        description: planned.map(|task| task.description.clone()).unwrap_or_default(),
        rationale: planned.map(|task| task.rationale.clone()).unwrap_or_default(),
        priority: planned.map(|task| task.priority),
        estimate_tokens: planned.and_then(|task| task.estimate_tokens),
        estimate_seconds: planned.and_then(|task| task.estimate_seconds),
        acceptance: planned.map(|task| task.acceptance.clone()).unwrap_or_default(),
        checks: planned.map(|task| task.checks.clone()).unwrap_or_default(),
        brief: brief.map(|brief| brief.task.clone()).unwrap_or_default(),
        system: brief.map(|brief| brief.system.clone()).unwrap_or_default(),
        scope: TaskScope {
            writes: writes.unwrap_or_else(|| artifacts.clone()),
            artifacts,
            network: recorded.run.policy().sandbox.network.clone(),
        },
        documents: documents(recorded, role.as_ref()),
        role,
        sandbox: sandbox(recorded),
        attempts,
    })
}

/// A task of a plan awaiting approval.
fn not_begun(task: &Task) -> TaskView {
    TaskView {
        id: task.id.clone(),
        title: task.title.clone(),
        stage: TaskStage::Waiting,
        depends_on: task.depends_on.clone(),
        attempts: 0,
        checks: vec![],
        commit: None,
        fault: None,
        evidence: None,
        accepted: None,
        tests: None,
    }
}

/// The last selection of documents, split by whether this role receives them.
fn documents(recorded: &Recorded, role: Option<&RoleId>) -> Documents {
    let chosen = recorded.own().rev().find_map(|line| match &line.event {
        Event::ContextSelected { included, excluded } => Some((included, excluded)),
        _ => None,
    });
    let Some((included, excluded)) = chosen else { return Documents::default() };
    let item = |one: &Selected| DocumentItem {
        path: one.path.clone(),
        rule: one.rule.clone(),
        side: one.side.map(|side| side.as_str().to_owned()),
    };
    let gets = role.map(|role| documents_given(&recorded.run, role)).unwrap_or_default();
    let (given, kept): (Vec<&Selected>, Vec<&Selected>) =
        included.iter().partition(|one| role.is_none() || gets.contains(&one.path));
    Documents {
        given: given.into_iter().map(item).collect(),
        withheld: kept.into_iter().chain(excluded).map(item).collect(),
    }
}

fn sandbox(recorded: &Recorded) -> Option<SandboxProof> {
    recorded.own().rev().find_map(|line| match &line.event {
        Event::SandboxProbed { proof, decision } => Some(SandboxProof {
            level: proof.level,
            attacks: proof
                .attacks
                .iter()
                .map(|one| AttackItem { what: one.what.clone(), through: one.through.clone() })
                .collect(),
            missing: proof.missing.clone(),
            rule: decision.rule.clone(),
            reason: decision.reason.clone(),
        }),
        _ => None,
    })
}

fn attempts(recorded: &Recorded, id: &TaskId) -> Vec<AttemptDetail> {
    let mut found: BTreeMap<AttemptId, AttemptDetail> = BTreeMap::new();
    for line in &recorded.lines {
        if let Event::AttemptStarted { attempt, role, feedback, model, .. } = &line.event
            && attempt.task == *id
        {
            let one = AttemptDetail {
                attempt: attempt.clone(),
                role: role.clone(),
                model: model.clone(),
                started: line.at,
                ended: None,
                outcome: AttemptOutcome::Running,
                fault: None,
                feedback: feedback.clone(),
                tokens: 0,
                cost: Money::ZERO,
                usage: Usage::default(),
                turns: 0,
                calls: 0,
                failed_calls: 0,
                refused: vec![],
                sandbox: None,
                changes: Changes::default(),
                commit: None,
                findings: vec![],
                said: String::new(),
            };
            found.insert(attempt.clone(), one);
        }
    }
    for line in &recorded.lines {
        let of = line.attempt.as_ref().or_else(|| judged(&line.event));
        let Some(one) = of.and_then(|attempt| found.get_mut(attempt)) else { continue };
        match &line.attempt {
            Some(_) => one.take_own(&line.event, line.at),
            None => one.take_run(&line.event, line.at),
        }
    }
    found.into_values().collect()
}

/// The attempt that an event of the run's log is about.
const fn judged(event: &Event) -> Option<&AttemptId> {
    match event {
        Event::AttemptFinished { attempt, .. }
        | Event::TaskVerified { attempt, .. }
        | Event::TaskRejected { attempt, .. }
        | Event::PlanRefused { attempt, .. } => Some(attempt),
        _ => None,
    }
}

impl AttemptDetail {
    /// Applies a line of the attempt's own log.
    fn take_own(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::SessionStarted { brief, parent: None, .. } => {
                self.model = Some(brief.model.clone());
                self.sandbox = Some(brief.isolation);
            }
            // After the attempt has ended, the figures of the run's log apply.
            Event::ModelReplied { reply, .. } if self.ended.is_none() => {
                self.turns = self.turns.saturating_add(1);
                self.usage = self.usage.plus(reply.usage);
                self.tokens = self.tokens.saturating_add(reply.usage.total());
                self.cost = self.cost.plus(reply.cost.unwrap_or_default());
            }
            Event::ToolStarted { .. } => self.calls = self.calls.saturating_add(1),
            Event::ToolFinished { outcome, .. } if *outcome != types::CallOutcome::Ok => {
                self.failed_calls = self.failed_calls.saturating_add(1);
            }
            Event::ToolRefused { call, tool, decision, violation, .. }
                if self.refused.len() < MOST_REFUSED =>
            {
                self.refused.push(RefusedCall {
                    call: call.to_string(),
                    tool: one_line(tool, 80),
                    at,
                    rule: decision.rule.clone(),
                    reason: decision.reason.clone(),
                    seen: decision.seen.clone(),
                    violation: *violation,
                });
            }
            Event::AttemptSealed { commit, changes, findings } => {
                self.commit = Some(commit.clone());
                self.changes = changes.clone();
                let attempt = self.attempt.clone();
                self.findings = FindingItem::of(findings, Some(&attempt));
            }
            _ => {}
        }
    }

    /// Applies a line of the run's log.
    fn take_run(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::AttemptFinished { result, spent, usage, turns, .. } => {
                self.ended = Some(at);
                (self.tokens, self.cost) = (spent.tokens, spent.money);
                (self.usage, self.turns) = (*usage, *turns);
                match result {
                    AttemptResult::Submitted { commit, changes, submission, .. } => {
                        self.outcome = AttemptOutcome::Submitted;
                        self.commit = Some(commit.clone());
                        self.changes = changes.clone();
                        let said = submission.get("summary").and_then(serde_json::Value::as_str);
                        self.said = said.unwrap_or_default().to_owned();
                    }
                    AttemptResult::Failed { fault, commit } => {
                        self.outcome = AttemptOutcome::Failed;
                        self.fault = Some(fault.clone());
                        self.commit = commit.clone().or(self.commit.take());
                    }
                    AttemptResult::Cancelled => self.outcome = AttemptOutcome::Cancelled,
                }
            }
            Event::TaskVerified { .. } => self.outcome = AttemptOutcome::Verified,
            Event::TaskRejected { fault, .. } => {
                if self.outcome == AttemptOutcome::Submitted {
                    self.outcome = AttemptOutcome::Rejected;
                }
                self.fault = Some(fault.clone());
            }
            Event::PlanRefused { fault, problems, .. } => {
                self.outcome = AttemptOutcome::Rejected;
                let why = || Fault::structural("plan.refused", problems.join("; "));
                self.fault = Some(fault.as_deref().cloned().unwrap_or_else(why));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
