//! The event stream of design document 000 (docs/differences.md): nine types, with usage summed at the end; events of a
//! run carry their phase and task. A successful run ends with `done`, any other with an `error`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    AttemptId, CallId, CallOutcome, Envelope, Event, Metadata, ModelReply, Money, SessionEnd,
    SessionId, Status, TaskId, Usage,
};

use super::{Piece, calls, usage};

/// Turns the lines of a run, or of a session without a run, into document 000's events.
#[derive(Debug, Default)]
pub struct CoordinatorStream {
    /// The indexes of the tasks in the plan; `None` before there is one.
    places: Option<BTreeMap<TaskId, usize>>,
    talks: BTreeMap<(Option<AttemptId>, SessionId), Talk>,
    /// The last failure of each task, until its remedy is decided.
    troubles: BTreeMap<TaskId, String>,
    usage: Usage,
    cost: Option<Money>,
    last_words: String,
}

/// The state of one conversation.
#[derive(Debug, Default)]
struct Talk {
    calls: BTreeMap<CallId, (String, Value)>,
    /// Calls of the turn without a result.
    open: usize,
    /// The model was asked and has not replied.
    asked: bool,
    /// The part of the current reply already emitted.
    said: String,
    /// Pieces that arrived before the line that starts their turn.
    early: Vec<String>,
    turn: u32,
    /// Stays open until it is closed.
    is_open: bool,
}

/// The part of a run that an event belongs to.
#[derive(Clone, Copy)]
enum Of<'a> {
    /// A conversation without a run.
    Talk,
    Task(&'a TaskId),
    Run,
}

impl CoordinatorStream {
    /// The events of a line. `whole` is the output of its call, if the line has only a part of it.
    pub fn line(&mut self, line: &Envelope, whole: Option<&str>) -> Vec<Value> {
        let (of, events) = match &line.event {
            Event::PlanAdopted { plan, .. } => {
                let places = plan.tasks.iter().enumerate();
                self.places = Some(places.map(|(place, task)| (task.id.clone(), place)).collect());
                (Of::Run, vec![])
            }
            Event::TaskRejected { attempt, fault } => {
                self.troubles.insert(attempt.task.clone(), fault.what.clone());
                (Of::Run, vec![])
            }
            Event::RetryScheduled { task, decision, .. } => {
                let what = self.troubles.remove(task).unwrap_or_else(|| decision.reason.clone());
                (Of::Task(task), vec![wrong(&what, true)])
            }
            Event::TaskFailed { task, fault, .. } => {
                self.troubles.remove(task);
                (Of::Task(task), vec![wrong(&fault.what, false)])
            }
            Event::RunCancelled { reason, .. } => {
                (Of::Run, vec![wrong(&format!("aborted: {reason}"), false)])
            }
            Event::RunFinished { status, decision } => {
                self.last_words = decision.reason.clone();
                let end = match status {
                    Status::Done => self.done(),
                    _ => wrong(&decision.reason, false),
                };
                (Of::Run, vec![end])
            }
            event => {
                let attempt = line.attempt.as_ref();
                (of_attempt(attempt), self.talked(attempt, event, whole))
            }
        };
        events.into_iter().map(|event| self.placed(of, event)).collect()
    }

    /// A piece of a streaming reply. A piece that arrives before its turn has started is emitted when it has.
    pub fn piece(
        &mut self,
        attempt: Option<&AttemptId>,
        session: SessionId,
        piece: Piece<'_>,
    ) -> Vec<Value> {
        let Piece::Text(text) = piece else { return vec![] };
        let talk = self.talk(attempt, session);
        if !talk.asked {
            talk.early.push(text.to_owned());
            return vec![];
        }
        talk.said.push_str(text);
        vec![self.placed(of_attempt(attempt), chunk(text))]
    }

    fn talk(&mut self, attempt: Option<&AttemptId>, session: SessionId) -> &mut Talk {
        self.talks.entry((attempt.cloned(), session)).or_default()
    }

    /// Adds the phase and task to an event.
    fn placed(&self, of: Of<'_>, mut event: Value) -> Value {
        let task = match of {
            Of::Talk => return event,
            Of::Task(task) => Some(task),
            Of::Run => None,
        };
        let plans = task.map_or(self.places.is_none(), |task| *task == TaskId::plan());
        event["phase"] = if plans { "plan" } else { "execute" }.into();
        let places = self.places.as_ref();
        let place = task.and_then(|task| {
            places?.get(task).or_else(|| places?.get(&rules::beside::task_of(task)?))
        });
        if let Some(place) = place {
            event["taskIndex"] = (*place).into();
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
                let mut events = vec![
                    json!({ "type": "turn_start", "turnNumber": turn }),
                    json!({ "type": "llm_start", "model": model.to_string() }),
                ];
                (talk.turn, talk.asked, talk.open) = (*turn, true, 0);
                talk.said = talk.early.concat();
                events.extend(talk.early.drain(..).map(|text| chunk(&text)));
                events
            }
            Event::ModelReplied { session, turn, reply, .. } => {
                self.replied(attempt, *session, *turn, reply)
            }
            Event::ModelFailed { session, turn, fault, again } => {
                self.talk(attempt, *session).asked = false;
                vec![wrong(&fault.what, again.is_some()), turn_end(*turn)]
            }
            Event::ToolStarted { call, .. } => vec![self.talk(attempt, call.session).begun(*call)],
            Event::ToolRefused { call, outcome, decision, .. } => {
                let talk = self.talk(attempt, call.session);
                let mut events = vec![talk.begun(*call)];
                events.extend(talk.ended(*call, *outcome, &decision.reason, None));
                events
            }
            Event::ToolFinished { call, outcome, output, metadata, .. } => {
                let text = whole.unwrap_or(&output.text);
                self.talk(attempt, call.session).ended(*call, *outcome, text, Some(metadata))
            }
            Event::ToolLost { call, workspace, recovered } => self
                .talk(attempt, call.session)
                .ended(*call, CallOutcome::of(*recovered), workspace, None),
            Event::SessionPaused { session, decision, .. } if *session == SessionId::ROOT => {
                // Nothing follows by itself: the session has to be resumed.
                vec![wrong(&decision.reason, false)]
            }
            Event::SessionEnded { session, end, .. } if *session == SessionId::ROOT => {
                self.ended(attempt, end)
            }
            _ => vec![],
        }
    }

    /// In a run, whether a failed attempt is retried is decided after it has ended, and emitted then.
    fn ended(&mut self, attempt: Option<&AttemptId>, end: &SessionEnd) -> Vec<Value> {
        match (end, attempt) {
            (SessionEnd::Failed { fault }, Some(attempt)) => {
                self.troubles.insert(attempt.task.clone(), fault.what.clone());
                vec![]
            }
            (SessionEnd::Failed { fault }, None) => vec![wrong(&fault.what, false)],
            (SessionEnd::Cancelled, _) => vec![wrong("aborted", false)],
            (SessionEnd::Submitted { .. } | SessionEnd::Closed, _) => vec![],
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
        self.cost = self.cost.into_iter().chain(reply.cost).reduce(Money::plus);
        let text = reply.text();
        let talk = self.talk(attempt, session);
        let mut events = Vec::new();
        // Emits the rest of the message, also if pieces were missed or there was no listener.
        let rest = text.strip_prefix(std::mem::take(&mut talk.said).as_str()).unwrap_or_default();
        if !rest.is_empty() {
            events.push(chunk(rest));
        }
        talk.asked = false;
        talk.calls = calls(session, turn, reply).collect();
        talk.open = talk.calls.len();
        let (rests, is_open) = (talk.open == 0, talk.is_open);
        let said = usage(reply.usage, reply.cost);
        events.push(json!({ "type": "llm_end", "message": text, "usage": said }));
        if rests {
            events.push(turn_end(turn));
            if session == SessionId::ROOT {
                self.last_words = text;
                // A conversation without a run is done with its input; a run reports that itself.
                events.extend(is_open.then(|| self.done()));
            }
        }
        events
    }
}

fn of_attempt(attempt: Option<&AttemptId>) -> Of<'_> {
    attempt.map_or(Of::Talk, |attempt| Of::Task(&attempt.task))
}

impl Talk {
    fn begun(&self, call: CallId) -> Value {
        let (tool, params) = self.calls.get(&call).cloned().unwrap_or_default();
        json!({ "type": "tool_call", "toolName": tool, "params": params })
    }

    fn ended(
        &mut self,
        call: CallId,
        outcome: CallOutcome,
        content: &str,
        known: Option<&Metadata>,
    ) -> Vec<Value> {
        let tool = self.calls.get(&call).map(|(tool, _)| tool.clone()).unwrap_or_default();
        let mut metadata = json!({
            "callId": call.to_string(),
            "isError": outcome != CallOutcome::Ok,
            "outcome": outcome.as_str(),
        });
        known.into_iter().for_each(|known| tell(known, &mut metadata));
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

/// Adds a tool's metadata in the document's spelling.
fn tell(known: &Metadata, metadata: &mut Value) {
    let ran = known.exit_code.is_some() || known.signal.is_some() || known.timed_out;
    let all = [
        ("exitCode", known.exit_code.map(Value::from)),
        ("signal", known.signal.map(Value::from)),
        ("timedOut", ran.then(|| known.timed_out.into())),
        ("stopped", known.stopped.then(|| true.into())),
        ("bytes", known.bytes.map(Value::from)),
        ("path", known.path.as_ref().map(|path| path.as_str().into())),
        ("commit", known.sha.as_deref().map(Value::from)),
        ("replacements", known.replacements.map(Value::from)),
        ("status", known.status.map(Value::from)),
    ];
    for (name, value) in all {
        value.into_iter().for_each(|value| metadata[name] = value);
    }
}

fn chunk(text: &str) -> Value {
    json!({ "type": "llm_chunk", "delta": text })
}

fn turn_end(turn: u32) -> Value {
    json!({ "type": "turn_end", "turnNumber": turn })
}

fn wrong(message: &str, recoverable: bool) -> Value {
    json!({ "type": "error", "message": message, "recoverable": recoverable })
}
