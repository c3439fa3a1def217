//! The event stream of a session in design document 003 (docs/differences.md): thirteen kinds, tool outputs in full,
//! sub-agents' events wrapped.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    CallId, CallOutcome, Compaction, Decision, Envelope, Event, ModelReply, RunId, SessionEnd,
    SessionId,
};

use super::{Piece, calls};

/// Turns the lines of a session's log into document 003's events.
#[derive(Debug, Default)]
pub struct SessionStream {
    run: Option<RunId>,
    talks: BTreeMap<SessionId, Talk>,
}

/// The state of one conversation.
#[derive(Debug, Default)]
struct Talk {
    parent: Option<SessionId>,
    /// The calls of the last reply: tool and arguments.
    calls: BTreeMap<CallId, (String, Value)>,
    /// A text is being streamed.
    speaking: bool,
    /// Pieces of thinking arrived for the current turn.
    thought: bool,
    /// Its end was emitted.
    over: bool,
    /// The last error, which is emitted once.
    error: Option<String>,
}

impl SessionStream {
    /// The events of a line. `whole` is the output of its call, if the line has only a part of it.
    pub fn line(&mut self, line: &Envelope, whole: Option<&str>) -> Vec<Value> {
        self.run.get_or_insert_with(|| line.run.clone());
        let Some(session) = session_of(&line.event) else { return vec![] };
        let events = self.said(session, &line.event, whole);
        events.into_iter().map(|event| self.wrapped(session, event)).collect()
    }

    /// A piece of a streaming reply.
    pub fn piece(&mut self, session: SessionId, piece: Piece<'_>) -> Vec<Value> {
        let talk = self.talks.entry(session).or_default();
        let mut events = Vec::new();
        match piece {
            Piece::Text(text) => {
                if !std::mem::replace(&mut talk.speaking, true) {
                    events.push(json!({ "kind": "ASSISTANT_TEXT_START" }));
                }
                events.push(json!({ "kind": "ASSISTANT_TEXT_DELTA", "text": text }));
            }
            Piece::Thinking(text) => {
                talk.thought = true;
                events.push(json!({ "kind": "THINKING_DELTA", "text": text }));
            }
        }
        events.into_iter().map(|event| self.wrapped(session, event)).collect()
    }

    /// The end of a session that is no longer followed; empty if its end was emitted or it never began.
    pub fn left(&mut self) -> Vec<Value> {
        let id = self.session_id(SessionId::ROOT);
        let talk = self.talks.get_mut(&SessionId::ROOT).filter(|talk| !talk.over);
        talk.map(|talk| talk.closed(&id, None)).unwrap_or_default()
    }

    fn wrapped(&self, session: SessionId, event: Value) -> Value {
        let parent = self.talks.get(&session).and_then(|talk| talk.parent);
        match parent {
            None => event,
            Some(parent) => {
                let id = session.to_string();
                let event = json!({ "kind": "SUBAGENT_EVENT", "subagentId": id, "event": event });
                self.wrapped(parent, event)
            }
        }
    }

    fn session_id(&self, session: SessionId) -> String {
        match (&self.run, session) {
            (Some(run), SessionId::ROOT) => run.to_string(),
            _ => session.to_string(),
        }
    }

    fn said(&mut self, session: SessionId, event: &Event, whole: Option<&str>) -> Vec<Value> {
        let id = self.session_id(session);
        let talk = self.talks.entry(session).or_default();
        match event {
            Event::SessionStarted { parent, .. } => {
                talk.parent = parent.map(|call| call.session);
                vec![json!({ "kind": "SESSION_START", "sessionId": id })]
            }
            Event::SessionEnded { end, .. } => talk.closed(&id, Some(end)),
            Event::ModelReplied { turn, reply, .. } => talk.replied(session, *turn, reply),
            Event::ModelFailed { fault, .. } => {
                let mut events = talk.hushed();
                events.extend(talk.wrong(&fault.what));
                events
            }
            Event::ToolStarted { call, .. } => vec![talk.begun(*call)],
            Event::ToolRefused { call, outcome, decision, .. } => {
                vec![talk.begun(*call), talk.ended(*call, *outcome, &decision.reason)]
            }
            Event::ToolFinished { call, outcome, output, .. } => {
                vec![talk.ended(*call, *outcome, whole.unwrap_or(&output.text))]
            }
            Event::ToolLost { call, workspace, recovered } => {
                vec![talk.ended(*call, CallOutcome::of(*recovered), workspace)]
            }
            Event::SessionWarned { decision, .. } => match decision.rule.as_str() {
                "session.loop" => {
                    vec![json!({ "kind": "LOOP_DETECTION", "message": decision.reason })]
                }
                "context.warn" => {
                    let percent = decision.seen.first().and_then(|seen| seen.parse::<u64>().ok());
                    vec![json!({ "kind": "CONTEXT_WARNING", "usagePercent": percent })]
                }
                _ => vec![],
            },
            Event::SessionCompacted { how, decision, .. } => vec![compacted(how, decision)],
            Event::SessionPaused { decision, .. } => talk.paused(decision),
            _ => vec![],
        }
    }
}

impl Talk {
    /// Ends a streamed text.
    fn hushed(&mut self) -> Vec<Value> {
        let spoke = std::mem::take(&mut self.speaking);
        if spoke { vec![json!({ "kind": "ASSISTANT_TEXT_END" })] } else { vec![] }
    }

    fn closed(&mut self, id: &str, end: Option<&SessionEnd>) -> Vec<Value> {
        self.over = true;
        let mut events = self.hushed();
        if let Some(SessionEnd::Failed { fault }) = end {
            events.extend(self.wrong(&fault.what));
        }
        events.push(json!({ "kind": "SESSION_END", "sessionId": id }));
        events
    }

    fn paused(&mut self, decision: &Decision) -> Vec<Value> {
        let mut events = self.hushed();
        events.extend(match decision.rule.as_str() {
            "session.interrupted" => {
                Some(json!({ "kind": "ERROR", "error": decision.reason, "interrupted": true }))
            }
            "session.round_limit" => {
                Some(json!({ "kind": "TURN_LIMIT", "reason": "max_tool_rounds" }))
            }
            "session.turn_limit" => Some(json!({ "kind": "TURN_LIMIT", "reason": "max_turns" })),
            "session.loop" => Some(json!({ "kind": "LOOP_DETECTION", "message": decision.reason })),
            _ => self.wrong(&decision.reason),
        });
        events
    }

    fn wrong(&mut self, what: &str) -> Option<Value> {
        let known = self.error.replace(what.to_owned());
        (known.as_deref() != Some(what)).then(|| json!({ "kind": "ERROR", "error": what }))
    }

    fn replied(&mut self, session: SessionId, turn: u32, reply: &ModelReply) -> Vec<Value> {
        self.error = None;
        let mut events = Vec::new();
        let thinking = reply.thinking();
        if !std::mem::take(&mut self.thought) && !thinking.is_empty() {
            events.push(json!({ "kind": "THINKING_DELTA", "text": thinking }));
        }
        let text = reply.text();
        if !self.speaking && !text.is_empty() {
            self.speaking = true;
            events.push(json!({ "kind": "ASSISTANT_TEXT_START" }));
            events.push(json!({ "kind": "ASSISTANT_TEXT_DELTA", "text": text }));
        }
        events.extend(self.hushed());
        self.calls = calls(session, turn, reply).collect();
        events
    }

    fn begun(&self, call: CallId) -> Value {
        let (tool, args) = self.calls.get(&call).cloned().unwrap_or_default();
        json!({ "kind": "TOOL_CALL_START", "toolCallId": call.to_string(), "toolName": tool, "args": args })
    }

    fn ended(&self, call: CallId, outcome: CallOutcome, output: &str) -> Value {
        let tool = self.calls.get(&call).map(|(tool, _)| tool.as_str()).unwrap_or_default();
        json!({
            "kind": "TOOL_CALL_END",
            "toolCallId": call.to_string(),
            "toolName": tool,
            "output": output,
            "isError": outcome != CallOutcome::Ok,
        })
    }
}

/// Compaction: the window was full, or over-full if the provider said so.
fn compacted(how: &Compaction, decision: &Decision) -> Value {
    let how = match how {
        Compaction::Trimmed => "trimmed",
        Compaction::Summarised { .. } => "summarised",
        Compaction::Dropped => "dropped",
    };
    let percent = (decision.rule.as_str() == "context.too_long").then_some(100);
    json!({
        "kind": "CONTEXT_WARNING",
        "usagePercent": percent,
        "compacted": how,
        "message": decision.reason,
    })
}

/// The conversation that an event belongs to.
fn session_of(event: &Event) -> Option<SessionId> {
    match event {
        Event::SessionStarted { session, .. }
        | Event::SessionEnded { session, .. }
        | Event::SessionWarned { session, .. }
        | Event::SessionPaused { session, .. }
        | Event::SessionCompacted { session, .. }
        | Event::ModelReplied { session, .. }
        | Event::ModelFailed { session, .. } => Some(*session),
        Event::ToolStarted { call, .. }
        | Event::ToolRefused { call, .. }
        | Event::ToolFinished { call, .. }
        | Event::ToolLost { call, .. } => Some(call.session),
        _ => None,
    }
}
