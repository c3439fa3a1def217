//! Document 002's communication log: one record `{ts, role, type, data}` for every step, in the order of time. Nothing
//! in it is random, so the same run twice differs in `ts` alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{AttemptId, AttemptResult, Envelope, Event, Fault, RoleId, Status, TaskId};

/// How much of a reply that cannot be read is put into the log.
const SHOWN: usize = 1_200;
/// Who does what no agent does.
const ORCHESTRATOR: &str = "orchestrator";

/// Turns the lines of a run into document 002's records.
#[derive(Debug, Default)]
pub struct StrictLog {
    roles: BTreeMap<AttemptId, RoleId>,
    /// What each attempt that is not over said last.
    replies: BTreeMap<AttemptId, String>,
    plan: Option<Value>,
}

impl StrictLog {
    /// What a line says.
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
            Event::TaskReviewed { review, report, .. } => {
                vec![(self.role(review), "test_result", report.clone())]
            }
            Event::PlanRefused { problems, .. } => {
                vec![("planner".to_owned(), "validation_error", error(None, &problems.join("; ")))]
            }
            Event::TaskFailed { task, fault, .. } if !task.as_str().ends_with("-review") => {
                let task = (*task != TaskId::plan()).then_some(task);
                vec![(ORCHESTRATOR.to_owned(), "error", error(task, &reason(fault)))]
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

    /// The plan as the planner wrote it, by its id; nothing before it was adopted.
    #[must_use]
    pub fn snapshot(&self) -> Option<(&str, &Value)> {
        let plan = self.plan.as_ref()?;
        Some((plan["plan_id"].as_str()?, plan))
    }

    fn role(&self, attempt: &AttemptId) -> String {
        self.roles.get(attempt).map_or_else(|| ORCHESTRATOR.to_owned(), ToString::to_string)
    }

    fn finished(
        &mut self,
        attempt: &AttemptId,
        result: &AttemptResult,
    ) -> Vec<(String, &'static str, Value)> {
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
                let mut data = error(task.as_ref(), &reason(fault));
                data["text"] = reply.chars().take(SHOWN).collect::<String>().into();
                vec![(role, kind, data)]
            }
            AttemptResult::Failed { fault, .. } => {
                vec![(role, "error", error(task.as_ref(), &reason(fault)))]
            }
            AttemptResult::Cancelled => vec![],
        }
    }
}

/// The object with which anything that fails says so.
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

/// What went wrong, without what the agent said.
#[must_use]
pub fn reason(fault: &Fault) -> String {
    let what = fault.what.split(". It begins: ").next().unwrap_or_default();
    types::one_line(what, 400)
}
