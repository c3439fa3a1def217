//! Document 000's event stream: nine types, with usage summed at the end, and, for what happens in a run, the phase
//! and the task that it belongs to.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    Arguments, AttemptId, CallId, CallOutcome, Envelope, Event, Fault, FaultClass, ModelReply,
    Money, SessionEnd, SessionId, TaskId, Usage,
};

use super::{Piece, usage};

/// Turns the lines of a run, or of a session that stands alone, into document 000's events.
#[derive(Debug, Default)]
pub struct CoordinatorStream {
    /// The places of the tasks in the plan.
    places: BTreeMap<TaskId, usize>,
    talks: BTreeMap<(Option<AttemptId>, SessionId), Talk>,
    usage: Usage,
    cost: Option<Money>,
    last_words: String,
}

/// What is known of one conversation.
#[derive(Debug, Default)]
struct Talk {
    calls: BTreeMap<CallId, (String, Value)>,
    /// Calls of the turn that have no result yet.
    open: usize,
    /// Pieces of the current reply have come.
    spoke: bool,
    turn: u32,
    /// It goes on until somebody closes it.
    is_open: bool,
}

impl CoordinatorStream {
    /// What a line says. `whole` is the output of its call, where the line has only a part of it.
    pub fn line(&mut self, line: &Envelope, whole: Option<&str>) -> Vec<Value> {
        let events = match &line.event {
            Event::PlanAdopted { plan, .. } => {
                let places = plan.tasks.iter().enumerate();
                self.places = places.map(|(place, task)| (task.id.clone(), place)).collect();
                vec![]
            }
            Event::TaskFailed { fault, .. } => vec![wrong(&fault.what, false)],
            Event::RunRefused { decision } => vec![wrong(&decision.reason, false)],
            Event::RunCancelled { reason, .. } => {
                vec![wrong(&format!("aborted: {reason}"), false)]
            }
            Event::RunFinished { decision, .. } => {
                self.last_words = decision.reason.clone();
                vec![self.done()]
            }
            event => self.talked(line.attempt.as_ref(), event, whole),
        };
        events.into_iter().map(|event| self.placed(line.attempt.as_ref(), event)).collect()
    }

    /// A piece of a reply on its way.
    pub fn piece(
        &mut self,
        attempt: Option<&AttemptId>,
        session: SessionId,
        piece: Piece<'_>,
    ) -> Vec<Value> {
        let Piece::Text(text) = piece else { return vec![] };
        self.talk(attempt, session).spoke = true;
        vec![self.placed(attempt, json!({ "type": "llm_chunk", "delta": text }))]
    }

    fn talk(&mut self, attempt: Option<&AttemptId>, session: SessionId) -> &mut Talk {
        self.talks.entry((attempt.cloned(), session)).or_default()
    }

    /// Says to which phase and task an event belongs.
    fn placed(&self, attempt: Option<&AttemptId>, mut event: Value) -> Value {
        if let Some(attempt) = attempt {
            let plans = attempt.task == TaskId::plan();
            event["phase"] = if plans { "plan" } else { "execute" }.into();
            if let Some(place) = self.places.get(&attempt.task) {
                event["taskIndex"] = (*place).into();
            }
        }
        event
    }

    fn done(&self) -> Value {
        json!({
            "type": "done",
            "finalMessage": self.last_words,
            "totalUsage": usage(self.usage, self.cost),
        })
    }

    fn talked(
        &mut self,
        attempt: Option<&AttemptId>,
        event: &Event,
        whole: Option<&str>,
    ) -> Vec<Value> {
        match event {
            Event::SessionStarted { session, brief, .. } => {
                self.talk(attempt, *session).is_open = !brief.ending.is_submission();
                vec![]
            }
            Event::ModelAsked { session, turn, model, .. } => {
                let talk = self.talk(attempt, *session);
                (talk.turn, talk.spoke, talk.open) = (*turn, false, 0);
                vec![
                    json!({ "type": "turn_start", "turnNumber": turn }),
                    json!({ "type": "llm_start", "model": model.to_string() }),
                ]
            }
            Event::ModelReplied { session, turn, reply, .. } => {
                self.replied(attempt, *session, *turn, reply)
            }
            Event::ModelFailed { session, turn, fault, .. } => {
                let _ = self.talk(attempt, *session);
                vec![wrong(&fault.what, passes(fault)), turn_end(*turn)]
            }
            Event::ToolStarted { call, .. } => vec![self.talk(attempt, call.session).begun(*call)],
            Event::ToolRefused { call, outcome, decision, .. } => {
                let talk = self.talk(attempt, call.session);
                let begun = talk.begun(*call);
                let mut events = vec![begun];
                events.extend(talk.ended(*call, *outcome, &decision.reason));
                events
            }
            Event::ToolFinished { call, outcome, output, .. } => {
                let text = whole.unwrap_or(&output.text);
                self.talk(attempt, call.session).ended(*call, *outcome, text)
            }
            Event::ToolLost { call, workspace, recovered } => self
                .talk(attempt, call.session)
                .ended(*call, CallOutcome::of(*recovered), workspace),
            Event::SessionPaused { session, decision, .. } if *session == SessionId::ROOT => {
                vec![wrong(&decision.reason, true), self.done()]
            }
            Event::SessionEnded { session, end } if *session == SessionId::ROOT => match end {
                SessionEnd::Failed { fault } => vec![wrong(&fault.what, false)],
                SessionEnd::Cancelled => vec![wrong("aborted", false)],
                SessionEnd::Submitted { .. } | SessionEnd::Closed => vec![],
            },
            _ => vec![],
        }
    }

    fn replied(
        &mut self,
        attempt: Option<&AttemptId>,
        session: SessionId,
        turn: u32,
        reply: &ModelReply,
    ) -> Vec<Value> {
        self.usage = self.usage.plus(reply.usage);
        self.cost = match (self.cost, reply.cost) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => before.or(now),
        };
        let text = reply.text();
        let talk = self.talk(attempt, session);
        let mut events = Vec::new();
        if !talk.spoke && !text.is_empty() {
            events.push(json!({ "type": "llm_chunk", "delta": text }));
        }
        let calls = reply.calls().zip(0..).map(|(call, index)| {
            let params = match &call.arguments {
                Arguments::Json(value) => value.clone(),
                Arguments::Broken(text) => Value::from(text.as_str()),
            };
            (CallId { session, turn, index }, (call.tool.clone(), params))
        });
        talk.calls = calls.collect();
        talk.open = talk.calls.len();
        let (rests, is_open) = (talk.open == 0, talk.is_open);
        let said = usage(reply.usage, reply.cost);
        events.push(json!({ "type": "llm_end", "message": text, "usage": said }));
        if rests {
            events.push(turn_end(turn));
            if session == SessionId::ROOT {
                self.last_words = text;
                // A conversation that stands alone is done with its input; a run says so itself.
                events.extend(is_open.then(|| self.done()));
            }
        }
        events
    }
}

impl Talk {
    fn begun(&self, call: CallId) -> Value {
        let (tool, params) = self.calls.get(&call).cloned().unwrap_or_default();
        json!({ "type": "tool_call", "toolName": tool, "params": params })
    }

    fn ended(&mut self, call: CallId, outcome: CallOutcome, content: &str) -> Vec<Value> {
        let tool = self.calls.get(&call).map(|(tool, _)| tool.clone()).unwrap_or_default();
        let metadata = json!({
            "callId": call.to_string(),
            "isError": outcome != CallOutcome::Ok,
            "outcome": outcome.word(),
        });
        let result = json!({
            "type": "tool_result",
            "toolName": tool,
            "content": content,
            "metadata": metadata,
        });
        self.open = self.open.saturating_sub(1);
        if self.open == 0 { vec![result, turn_end(self.turn)] } else { vec![result] }
    }
}

fn turn_end(turn: u32) -> Value {
    json!({ "type": "turn_end", "turnNumber": turn })
}

fn wrong(message: &str, recoverable: bool) -> Value {
    json!({ "type": "error", "message": message, "recoverable": recoverable })
}

/// Whether what went wrong may go right another time.
fn passes(fault: &Fault) -> bool {
    matches!(fault.class, FaultClass::Transient | FaultClass::Structural)
}
