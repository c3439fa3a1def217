//! The communication log of design document 002 (docs/differences.md): one record `{ts, role, type, data}` per step, in
//! order of time. Nothing in it is random: two runs differ in `ts` only.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    AttemptId, AttemptResult, Check, CheckEnd, CheckId, Envelope, Event, RoleId, Status, Subject,
    TaskId, Weighed,
};

use crate::stages::review::{MODEL_PASSED, MODEL_TEXT, exit_code};

/// The longest excerpt of an unreadable reply in the log.
const SHOWN: usize = 1_200;
/// The longest text of a record, in characters; longer outputs are truncated by the rule for reports.
const TEXT: usize = 4_000;
/// The role of steps that no agent makes.
const ORCHESTRATOR: &str = "orchestrator";

/// Turns the lines of a run into document 002's records.
#[derive(Debug, Default)]
pub struct StrictLog {
    roles: BTreeMap<AttemptId, RoleId>,
    /// The last reply of each unfinished attempt.
    replies: BTreeMap<AttemptId, String>,
    plan: Option<Value>,
    /// The running checks.
    checks: BTreeMap<CheckId, Check>,
}

type Record = (String, &'static str, Value);

impl StrictLog {
    /// The records of a line.
    pub fn line(&mut self, line: &Envelope) -> Vec<Value> {
        let records = match &line.event {
            Event::ModelReplied { reply, .. } => {
                if let Some(attempt) = &line.attempt {
                    self.replies.insert(attempt.clone(), reply.text());
                }
                vec![]
            }
            Event::RunRequested { request, .. } => {
                vec![(ORCHESTRATOR.to_owned(), "start", json!({ "goal": request.text }))]
            }
            Event::AttemptStarted { attempt, role, .. } => {
                self.roles.insert(attempt.clone(), role.clone());
                vec![]
            }
            Event::AttemptFinished { attempt, result, .. } => self.finished(attempt, result),
            Event::PlanAdopted { .. } => {
                let plan = self.plan.clone().unwrap_or_default();
                vec![("planner".to_owned(), "plan", plan)]
            }
            Event::CheckStarted { check, what, .. } => {
                self.checks.insert(check.clone(), what.clone());
                vec![]
            }
            Event::CheckFinished { check, end } => self.ran(check, end),
            Event::TaskReviewed { review, report, decision, .. } => {
                self.reviewed(review, report, &decision.reason)
            }
            Event::RetryScheduled { task, decision, .. } => {
                let data = json!({ "task_id": task, "reason": decision.reason });
                vec![(ORCHESTRATOR.to_owned(), "retry", data)]
            }
            Event::PlanRefused { problems, .. } => {
                vec![("planner".to_owned(), "validation_error", error(None, &problems.join("; ")))]
            }
            Event::TaskFailed { task, fault, .. } if !task.as_str().ends_with("-review") => {
                let task = (*task != TaskId::plan()).then_some(task);
                vec![(ORCHESTRATOR.to_owned(), "error", error(task, &fault.cause()))]
            }
            Event::TaskVerified { attempt, evidence: Some(evidence), .. } => {
                let Weighed { level, because } = evidence;
                let data = json!({ "task_id": attempt.task, "level": level, "because": because });
                vec![(ORCHESTRATOR.to_owned(), "evidence", data)]
            }
            Event::RunRefused { decision } => {
                vec![(ORCHESTRATOR.to_owned(), "error", error(None, &decision.reason))]
            }
            Event::RunFinished { status, decision } => {
                let data = match status {
                    Status::Done => json!({ "status": "complete" }),
                    _ => error(None, &decision.reason),
                };
                vec![(ORCHESTRATOR.to_owned(), "end", data)]
            }
            _ => vec![],
        };
        let record =
            |(role, kind, data)| json!({ "ts": line.at, "role": role, "type": kind, "data": data });
        records.into_iter().map(record).collect()
    }

    /// The plan as the planner wrote it, by its id; `None` before it is adopted.
    #[must_use]
    pub fn snapshot(&self) -> Option<(&str, &Value)> {
        let plan = self.plan.as_ref()?;
        Some((plan["plan_id"].as_str()?, plan))
    }

    fn role(&self, attempt: &AttemptId) -> String {
        self.roles.get(attempt).map_or_else(|| ORCHESTRATOR.to_owned(), ToString::to_string)
    }

    /// A command with its exit code and output.
    fn ran(&mut self, check: &CheckId, end: &CheckEnd) -> Vec<Record> {
        let Some(what) = self.checks.remove(check).filter(|_| end.untried.is_none()) else {
            return vec![];
        };
        let mut data = json!({ "on": check.on.to_string(), "command": what.command });
        if let Subject::Attempt(attempt) | Subject::Landed(attempt) = &check.on {
            data["task_id"] = json!(attempt.task);
        }
        data["exit_code"] = exit_code(end.ended).into();
        data["output"] = rules::truncate::report(&end.output.text, TEXT, None).text.into();
        vec![(ORCHESTRATOR.to_owned(), "command", data)]
    }

    /// The result that counts, and the model's own claim if it differs.
    fn reviewed(&self, review: &AttemptId, report: &Value, reason: &str) -> Vec<Record> {
        let mut result = report.clone();
        let mut said = json!({ "task_id": report["task_id"] });
        for key in [MODEL_PASSED, MODEL_TEXT] {
            let value = result.as_object_mut().and_then(|object| object.remove(key));
            value.into_iter().for_each(|value| said[key] = value);
        }
        let mut records = Vec::new();
        if said.as_object().is_some_and(|said| said.len() > 1) {
            said["reason"] = match said.get(MODEL_PASSED) {
                Some(_) => reason.into(),
                None => "the report is the command's output, not the model's text".into(),
            };
            records.push((ORCHESTRATOR.to_owned(), "correction", said));
        }
        records.insert(0, (self.role(review), "test_result", result));
        records
    }

    fn finished(&mut self, attempt: &AttemptId, result: &AttemptResult) -> Vec<Record> {
        let reply = self.replies.remove(attempt).unwrap_or_default();
        let role = self.role(attempt);
        let task = attempt.task.as_str().trim_end_matches("-review").parse::<TaskId>().ok();
        let task = task.filter(|task| *task != TaskId::plan());
        match result {
            AttemptResult::Submitted { .. } if attempt.task == TaskId::plan() => {
                self.plan = serde_json::from_str(&reply).ok();
                vec![]
            }
            AttemptResult::Submitted { submission, .. } => match submission.get("files") {
                Some(files) => vec![(role, "patch", json!({ "task_id": task, "files": files }))],
                None => vec![],
            },
            AttemptResult::Failed { fault, .. } if fault.code == "contract.malformed" => {
                let is_json = serde_json::from_str::<Value>(&reply).is_ok();
                let kind = if is_json { "validation_error" } else { "json_parse_error" };
                let mut data = error(task.as_ref(), &fault.cause());
                data["text"] = reply.chars().take(SHOWN).collect::<String>().into();
                vec![(role, kind, data)]
            }
            AttemptResult::Failed { fault, .. } => {
                vec![(role, "error", error(task.as_ref(), &fault.cause()))]
            }
            AttemptResult::Cancelled => vec![],
        }
    }
}

/// The error object of any failure.
#[must_use]
pub fn error_object(reason: &str) -> Value {
    json!({ "status": "error", "reason": reason })
}

fn error(task: Option<&TaskId>, reason: &str) -> Value {
    match task {
        Some(task) => json!({ "task_id": task, "status": "error", "reason": reason }),
        None => error_object(reason),
    }
}
