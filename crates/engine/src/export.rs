//! Projections of the log for other programs: pure folds over its lines, unused inside the engine. Pieces of replies
//! may be interleaved while they stream; without them each text is emitted as a whole.

mod audit;
mod checks;
mod coordinator;
pub mod explain;
mod junit;
mod messages;
pub mod proof;
mod pull_request;
pub mod replay;
mod response;
mod sarif;
mod session;
pub mod spec_outcome;
mod state;
mod stats;
mod strict;
mod transcript;
mod turns;

pub use crate::stages::brief::documents as documents_given;
pub use audit::AuditLog;
pub use checks::{Reports, kept_reports};
pub use coordinator::CoordinatorStream;
pub use junit::junit;
pub use messages::Message;
pub use pull_request::{PullRequest, commit_message, pull_request};
pub use response::{
    Blocker, Deliverable, Kind, Progress, RESPONSE_SCHEMA, Resources, Response, Standing, Verdict,
    next_steps, rejected, response,
};
pub use sarif::sarif;
pub use session::SessionStream;
pub use state::{ProjectState, project_state};
pub use stats::{Forecasts, Share, Stats, rounded_percent};
pub use strict::{StrictLog, error_object};
pub use transcript::{
    EntryKind, TranscriptEntry, TranscriptReader, escaped_html, transcript_html,
    transcript_markdown,
};
pub use turns::{SessionConfig, ToolResultEntry, Turn, Turns};

use serde_json::{Value, json};
use types::{Arguments, BlobRef, CallId, Envelope, Event, ModelReply, Money, SessionId, Usage};

/// A piece of a streaming reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    Thinking(&'a str),
}

/// The blob with a call's whole output, if the line has only a part. The caller of a projection looks it up.
#[must_use]
pub fn whole_output(line: &Envelope) -> Option<&BlobRef> {
    match &line.event {
        Event::ToolFinished { output, .. } => output.blob.as_ref(),
        _ => None,
    }
}

/// The calls of a reply, with their tools and arguments.
fn calls(
    session: SessionId,
    turn: u32,
    reply: &ModelReply,
) -> impl Iterator<Item = (CallId, (String, Value))> {
    reply.calls().zip(0..).map(move |(call, index)| {
        let arguments = match &call.arguments {
            Arguments::Json(value) => value.clone(),
            Arguments::Broken(text) => text.as_str().into(),
        };
        (CallId { session, turn, index }, (call.tool.clone(), arguments))
    })
}

fn usage(usage: Usage, cost: Option<Money>) -> Value {
    let mut value = json!({
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "total": usage.total(),
    });
    if let Some(cost) = cost {
        value["cost"] = json!(cost);
    }
    value
}

#[cfg(test)]
mod tests;
