//! The audit records of design document 004 (docs/differences.md): `{timestamp, taskId, eventType, agentId?, data}`. A
//! complete record of a run's actions, with the agents, rules and documents involved.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    AttemptId, AttemptResult, Brief, CallId, CallOutcome, Category, Decision, Envelope, Event,
    RoleId, Selected, SessionEnd, SessionId, Side, Terms,
};

use super::calls;
use crate::stages::brief;

/// The only agent that is not an attempt.
const COORDINATOR: &str = "coordinator-1";

/// Turns the lines of a run into document 004's records.
#[derive(Debug, Default)]
pub struct AuditLog {
    roles: BTreeMap<AttemptId, RoleId>,
    /// The calls of attempts, with their arguments.
    calls: BTreeMap<(AttemptId, CallId), (String, Value)>,
    /// The route of the request, until its documents are known.
    routed: Option<Value>,
    /// The side that the request was routed to.
    side: Option<Side>,
    /// The selected documents of both sides.
    chosen: Vec<Selected>,
    /// Whether the classification was recorded.
    classified: bool,
}

/// A record without time and task.
type Record = (&'static str, Option<String>, Value);

impl AuditLog {
    /// The records of a line.
    pub fn line(&mut self, line: &Envelope) -> Vec<Value> {
        let records = match &line.attempt {
            Some(attempt) => self.of_agent(attempt, &line.event),
            None => self.of_run(&line.event),
        };
        let record = |(kind, agent, data): Record| {
            let mut record = json!({ "timestamp": line.at, "taskId": line.run, "eventType": kind });
            if let Some(agent) = agent {
                record["agentId"] = agent.into();
            }
            record["data"] = data;
            record
        };
        records.into_iter().map(record).collect()
    }

    fn of_run(&mut self, event: &Event) -> Vec<Record> {
        match event {
            Event::RunRequested { request, policy, .. } => {
                let input = json!({ "type": request.hint, "body": request.text });
                vec![
                    ("execution_start", None, json!({ "input": input, "policy": policy })),
                    (
                        "agent_spawned",
                        Some(COORDINATOR.to_owned()),
                        json!({ "role": "coordinator" }),
                    ),
                ]
            }
            Event::RunRouted { to, category, confidence, doctrine, decision } => {
                self.side = category.map(Category::side);
                self.routed = Some(json!({
                    "status": "routed",
                    "routed_to": to,
                    "category": category,
                    "classification_confidence": confidence,
                    "doctrine_version": doctrine,
                    "rule_applied": decision.rule,
                    "reason": decision.reason,
                    "manifest_selected": to,
                }));
                vec![]
            }
            Event::ContextSelected { included, excluded } => self.chosen(included, excluded),
            Event::RunRefused { decision } => self.stopped("failed", decision),
            Event::SpecWritten { spec, digest, decision } => {
                let data = ruled(decision, json!({ "spec_id": spec["spec_id"], "hash": digest }));
                let inline = decision.rule.as_str() == "spec.inline";
                let skipped = ("product_skipped", None, ruled(decision, json!({})));
                let skipped = inline.then_some(skipped);
                skipped.into_iter().chain([("spec_written", None, data)]).collect()
            }
            _ => self.of_work(event),
        }
    }

    fn of_work(&mut self, event: &Event) -> Vec<Record> {
        match event {
            Event::AttemptStarted { attempt, role, scope, budget, .. } => {
                self.roles.insert(attempt.clone(), role.clone());
                let data = json!({ "role": role, "scope": scope, "limits": budget });
                vec![("agent_spawned", Some(self.agent(attempt)), data)]
            }
            Event::AttemptFinished { attempt, result, usage, denied, .. } => {
                let data = json!({ "result": ended(result), "usage": usage, "denied": denied });
                vec![("agent_destroyed", Some(self.agent(attempt)), data)]
            }
            Event::RetryScheduled { task, left, decision, .. } => {
                let data = ruled(decision, json!({ "task": task, "retries_left": left }));
                vec![("retry", None, data)]
            }
            Event::CheckFinished { check, end } => {
                let data = json!({
                    "on": check.on.to_string(),
                    "ended": end.ended.to_string(),
                    "output": end.output.text,
                });
                vec![("check", None, data)]
            }
            Event::TaskReviewed { review, passed, report, decision, .. } => {
                let data = ruled(decision, json!({ "passed": passed, "report": report }));
                vec![("verdict", Some(self.agent(review)), data)]
            }
            Event::TaskRejected { attempt, fault } => {
                let data =
                    json!({ "class": fault.class, "code": fault.code, "detail": fault.what });
                vec![("violation", Some(self.agent(attempt)), data)]
            }
            Event::QuestionAsked { text, decision, terms, .. } => {
                vec![("escalation", None, escalated(text, decision, terms.as_deref()))]
            }
            Event::TaskFailed { task, fault, decision, .. } => {
                let more = json!({ "task": task, "escalation_reason": fault.what });
                let data = ruled(decision, more);
                vec![("escalation", None, data)]
            }
            Event::RunFinished { status, decision } => {
                let mut records = self.stopped("escalated", decision);
                let data = ruled(decision, json!({ "status": status.as_str() }));
                records.push(("execution_end", None, data));
                records
            }
            _ => vec![],
        }
    }

    fn of_agent(&mut self, attempt: &AttemptId, event: &Event) -> Vec<Record> {
        let agent = Some(self.agent(attempt));
        match event {
            Event::SessionStarted { session: SessionId::ROOT, brief, .. } => {
                let data = json!({
                    "model": brief.model,
                    "tools": brief.tools,
                    "injected_context": self.injected(brief),
                });
                vec![("agent_execution_start", agent, data)]
            }
            Event::ModelReplied { session, turn, model, reply, .. } => {
                let calls = calls(*session, *turn, reply);
                self.calls.extend(calls.map(|(id, call)| ((attempt.clone(), id), call)));
                let data = json!({ "model": model, "turn": turn, "usage": reply.usage, "output": reply.text() });
                vec![("llm_call", agent, data)]
            }
            Event::ToolStarted { call, tool, decision } => {
                // A call that code made from a reply has no arguments there; the decision's inputs describe it.
                let seen = json!({ "seen": decision.seen });
                let call = (attempt.clone(), *call);
                self.calls.entry(call).or_insert_with(|| (tool.clone(), seen));
                vec![]
            }
            Event::ToolFinished { call, outcome, output, .. } => {
                vec![("tool_call", agent, self.called(attempt, *call, *outcome, &output.text))]
            }
            Event::ToolRefused { call, outcome, decision, .. } => {
                let mut data = self.called(attempt, *call, *outcome, &decision.reason);
                data["rule"] = json!(decision.rule);
                vec![("tool_call", agent, data)]
            }
            Event::SessionEnded { session: SessionId::ROOT, end, .. } => {
                let data = match end {
                    SessionEnd::Submitted { .. } => json!({ "status": "completed" }),
                    SessionEnd::Failed { fault } => json!({
                        "status": "failed",
                        "error": { "type": fault.code, "class": fault.class, "detail": fault.what },
                    }),
                    SessionEnd::Cancelled | SessionEnd::Closed => json!({ "status": "cancelled" }),
                };
                vec![("agent_execution_end", agent, data)]
            }
            _ => vec![],
        }
    }

    fn agent(&self, attempt: &AttemptId) -> String {
        let role = self.roles.get(attempt).map(RoleId::as_str).unwrap_or("agent");
        format!("{role}-{attempt}")
    }

    fn called(
        &mut self,
        attempt: &AttemptId,
        call: CallId,
        outcome: CallOutcome,
        result: &str,
    ) -> Value {
        let (tool, args) = self.calls.remove(&(attempt.clone(), call)).unwrap_or_default();
        json!({ "call": call.to_string(), "tool": tool, "args": args, "outcome": outcome.as_str(), "result": result })
    }

    /// The documents of a routed request; selected again if this is not the first time.
    fn chosen(&mut self, included: &[Selected], excluded: &[Selected]) -> Vec<Record> {
        let side = self.side;
        let is_given = |one: &&Selected| match (one.side, side) {
            (Some(only), Some(side)) => only == side,
            _ => true,
        };
        let told = |one: &Selected| match one.side {
            Some(side) => json!({ "ref": one.path, "rule": one.rule, "side": side }),
            None => json!({ "ref": one.path, "rule": one.rule }),
        };
        // The other side's documents were not given to this one.
        let others = included.iter().filter(|one| !is_given(one));
        let given: Vec<Value> = included.iter().filter(is_given).map(told).collect();
        let held: Vec<Value> = excluded.iter().chain(others).map(told).collect();
        self.chosen = included.to_vec();
        let again = self.routed.is_none();
        let mut data = self.routed.take().unwrap_or_else(|| json!({}));
        data["context_injected"] = given.into();
        data["context_excluded"] = held.into();
        if again {
            return vec![("context_reevaluated", None, data)];
        }
        self.classified = true;
        classified(data, "completed")
    }

    /// The documents given to an agent, with the rule for each.
    fn injected(&self, brief: &Brief) -> Vec<Value> {
        let told: Value = match brief.reply {
            Some(_) => serde_json::from_str(&brief.task).unwrap_or_default(),
            None => Value::Null,
        };
        let refs = told["injected_context"].as_array().into_iter().flatten();
        let refs: Vec<&str> = refs.filter_map(|one| one["ref"].as_str()).collect();
        let was_given = |one: &&Selected| match brief.reply {
            Some(_) => refs.contains(&one.path.as_str()),
            None => brief.system.contains(&brief::heading(&one.path)),
        };
        let given = self.chosen.iter().filter(was_given);
        given.map(|one| json!({ "ref": one.path, "rule": one.rule })).collect()
    }

    /// The request ended before it was classified.
    fn stopped(&mut self, status: &str, decision: &Decision) -> Vec<Record> {
        if std::mem::replace(&mut self.classified, true) {
            return vec![];
        }
        let more = json!({ "status": status, "escalation_reason": decision.reason });
        classified(ruled(decision, more), status)
    }
}

/// The classification, and the end of the coordinator's part.
fn classified(data: Value, result: &str) -> Vec<Record> {
    let coordinator = Some(COORDINATOR.to_owned());
    vec![
        ("classification", coordinator.clone(), data),
        ("agent_destroyed", coordinator, json!({ "result": result })),
    ]
}

/// A question for a person, with everything handed over with it.
fn escalated(text: &str, decision: &Decision, terms: Option<&Terms>) -> Value {
    let more = json!({ "status": "escalated", "escalation_reason": text });
    let mut data = ruled(decision, more);
    if let Some(package) = terms.and_then(|terms| terms.package.as_ref()) {
        data["package"] = json!(package);
    }
    data
}

/// The rule and the reason of a decision, followed by more fields.
fn ruled(decision: &Decision, more: Value) -> Value {
    let mut data = json!({ "rule_applied": decision.rule, "reason": decision.reason });
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    data
}

fn ended(result: &AttemptResult) -> &'static str {
    match result {
        AttemptResult::Submitted { .. } => "completed",
        AttemptResult::Failed { .. } => "failed",
        AttemptResult::Cancelled => "cancelled",
    }
}
