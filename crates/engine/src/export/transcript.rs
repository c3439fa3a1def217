//! Transcripts of conversations, entry by entry, for people: derived from the lines of their logs. Texts are as
//! recorded, including hostile ones; `markdown.rs` and `html.rs` escape them, and a terminal needs its own escaping.

mod html;
mod markdown;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use types::{
    Arguments, AttemptId, BlockBody, CallId, CallOutcome, Envelope, Event, ModelReply, SessionId,
    Timestamp, one_line,
};

pub use html::{escaped_html, transcript_html};
pub use markdown::transcript_markdown;
pub(super) use markdown::{escaped as markdown_escaped, fenced as markdown_fenced};

/// Maximum length of a displayed model name; that of a script is long.
const MOST_MODEL: usize = 48;

/// One thing that was said or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TranscriptEntry {
    /// The line of the log that it is from.
    pub seq: u64,
    pub at: Timestamp,
    /// Not there in a conversation that stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    pub session: SessionId,
    pub kind: EntryKind,
    /// Who said it, or which tool it is about; one line that no terminal acts on.
    pub title: String,
    /// What was said, as it is recorded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How many characters of the text are not here.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A conversation began, with its task.
    Start,
    System,
    Person,
    /// The program said something to the model, or noticed something.
    Note,
    Thinking,
    Model,
    Call,
    Result,
    Question,
    Answer,
    End,
}

impl EntryKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::System => "system prompt",
            Self::Person => "person",
            Self::Note => "note",
            Self::Thinking => "thinking",
            Self::Model => "model",
            Self::Call => "call",
            Self::Result => "result",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::End => "end",
        }
    }

    /// Whether it is shown only in full transcripts.
    #[must_use]
    pub const fn is_detail(self) -> bool {
        matches!(self, Self::System | Self::Thinking)
    }
}

/// Converts lines to entries. Lines of several attempts may follow one another.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    /// Tool names by call.
    tools: BTreeMap<(Option<AttemptId>, CallId), String>,
}

impl TranscriptReader {
    /// The entries of a line; most lines have one or none.
    pub fn line(&mut self, line: &Envelope) -> Vec<TranscriptEntry> {
        let entry = |kind: EntryKind, session: SessionId, title: String, text: String| {
            let (attempt, failed) = (line.attempt.clone(), false);
            let (seq, at) = (line.seq, line.at);
            TranscriptEntry { seq, at, attempt, session, kind, title, text, left_out: 0, failed }
        };
        match &line.event {
            Event::SessionStarted { session, brief, parent, .. } => {
                let sub = if parent.is_some() { ", sub-agent" } else { "" };
                let model = one_line(&brief.model.to_string(), MOST_MODEL);
                let title = format!("{} with {model}{sub}", brief.role);
                vec![
                    entry(EntryKind::Start, *session, title, brief.task.clone()),
                    entry(EntryKind::System, *session, String::new(), brief.system.clone()),
                ]
            }
            Event::SessionTold { session, how, by, text, .. } => {
                let title = format!("{} ({})", one_line(by, 40), how.as_str());
                vec![entry(EntryKind::Person, *session, title, text.clone())]
            }
            Event::SessionWarned { session, decision, say } => {
                let text = say.clone().unwrap_or_else(|| decision.reason.clone());
                vec![entry(EntryKind::Note, *session, decision.rule.to_string(), text)]
            }
            Event::ModelReplied { session, turn, model, reply, .. } => {
                let title = one_line(&model.to_string(), MOST_MODEL);
                self.replied(line, (*session, *turn), reply, |kind, text| {
                    entry(kind, *session, title.clone(), text)
                })
            }
            Event::ModelFailed { session, .. } => {
                let failed = entry(EntryKind::Note, *session, line.event.summary(), String::new());
                vec![TranscriptEntry { failed: true, ..failed }]
            }
            Event::SessionPaused { session, said, .. } => {
                let text = said.clone().unwrap_or_default();
                vec![entry(EntryKind::Note, *session, line.event.summary(), text)]
            }
            Event::SessionCompacted { session, .. } => {
                vec![entry(EntryKind::Note, *session, line.event.summary(), String::new())]
            }
            Event::SessionEnded { session, .. } => {
                vec![entry(EntryKind::End, *session, line.event.summary(), String::new())]
            }
            Event::AttemptSealed { .. } | Event::SealFailed { .. } => {
                let title = format!("{}: {}", line.event.kind(), line.event.summary());
                vec![entry(EntryKind::End, SessionId::ROOT, title, String::new())]
            }
            Event::QuestionAsked { question, text, call, .. } => {
                let session = call.map_or(SessionId::ROOT, |call| call.session);
                let title = format!("#{question}");
                vec![entry(EntryKind::Question, session, title, text.clone())]
            }
            Event::QuestionAnswered { question, by, text, .. } => {
                let title = format!("#{question}, {}", one_line(by, 40));
                vec![entry(EntryKind::Answer, SessionId::ROOT, title, text.clone())]
            }
            _ => self.called(line, entry),
        }
    }

    /// The result of a call.
    fn called(
        &self,
        line: &Envelope,
        entry: impl Fn(EntryKind, SessionId, String, String) -> TranscriptEntry,
    ) -> Vec<TranscriptEntry> {
        let result = |call: &CallId, outcome: CallOutcome, said: &str, text: &str, left_out| {
            let tool = self.tools.get(&(line.attempt.clone(), *call));
            let tool = tool.map_or("", String::as_str);
            let title = format!("{call} {tool}{said}").trim_end().to_owned();
            let failed = outcome != CallOutcome::Ok;
            let result = entry(EntryKind::Result, call.session, title, text.to_owned());
            vec![TranscriptEntry { left_out, failed, ..result }]
        };
        match &line.event {
            Event::ToolFinished { call, outcome, output, note, .. } => {
                result(call, *outcome, "", &output.noted(note.as_deref()), output.removed)
            }
            Event::ToolRefused { call, outcome, decision, .. } => {
                let said = format!(", refused by {}", decision.rule);
                result(call, *outcome, &said, &decision.reason, 0)
            }
            Event::ToolLost { call, workspace, recovered } => {
                result(call, CallOutcome::of(*recovered), ", cut off", workspace, 0)
            }
            _ => vec![],
        }
    }

    fn replied(
        &mut self,
        line: &Envelope,
        (session, turn): (SessionId, u32),
        reply: &ModelReply,
        entry: impl Fn(EntryKind, String) -> TranscriptEntry,
    ) -> Vec<TranscriptEntry> {
        let mut entries = Vec::new();
        let mut index = 0;
        for block in &reply.blocks {
            match &block.body {
                BlockBody::Text { text } if text.trim().is_empty() => {}
                BlockBody::Text { text } => entries.push(entry(EntryKind::Model, text.clone())),
                BlockBody::Thinking { text, .. } if text.trim().is_empty() => {}
                BlockBody::Thinking { text, .. } => {
                    entries.push(entry(EntryKind::Thinking, text.clone()));
                }
                BlockBody::Call(call) => {
                    let id = CallId { session, turn, index };
                    index += 1;
                    let tool = one_line(&call.tool, 60);
                    let title = format!("{id} {tool}");
                    self.tools.insert((line.attempt.clone(), id), tool);
                    let text = arguments(&call.arguments);
                    entries.push(TranscriptEntry { title, ..entry(EntryKind::Call, text) });
                }
                BlockBody::Opaque => {}
            }
        }
        entries
    }
}

/// The arguments of a call, one per line; a multi-line text goes below its name.
fn arguments(arguments: &Arguments) -> String {
    let object = match arguments {
        Arguments::Json(Value::Object(object)) => object,
        Arguments::Json(value) => return value.to_string(),
        Arguments::Broken(text) => return text.clone(),
    };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) if text.contains('\n') => format!("{name}:\n{text}"),
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    object.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
