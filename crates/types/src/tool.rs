//! A tool call as the rest of the product knows it: what it would touch, and what came of it. How a tool is described
//! to a model is in `options.rs`.

use serde::{Deserialize, Serialize};

use crate::{AgentCall, BlobRef, Digest, Ended, Millis, Source, Trees, WorkPath};

/// What a call would do, read off its arguments before anything is permitted or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    pub access: Access,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<WorkPath>,
    /// The command line that it would run, or the question that it would put to the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The folder that it would run it in, if that is not the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<WorkPath>,
    /// Hosts that it would reach, beside those that are granted anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    pub repeat: Repeat,
    /// The tool's plain name, if a profile calls it something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it wants of sub-agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentCall>,
}

impl CallFacts {
    /// A call that touches no path and runs no command.
    #[must_use]
    pub const fn new(access: Access, repeat: Repeat) -> Self {
        let (command, folder, tool, agent) = (None, None, None, None);
        Self { access, paths: vec![], command, folder, hosts: vec![], repeat, tool, agent }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Read,
    Write,
    Execute,
    /// Hands in the role's result; touches nothing.
    Submit,
    /// Fetches something from the network.
    Network,
    /// Puts a question to the person and waits for the answer; touches nothing.
    Ask,
    /// Starts, tells, awaits or ends a sub-agent; the conversation itself does that.
    Agent,
}

/// Whether a call that was cut off may simply be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// A second time does no more than the first: reads, whole-file writes.
    Safe,
    /// Nobody knows what a second time would do: commands.
    Unknown,
}

/// What a tool makes of a call's arguments: what it would do, or a sentence for the model on what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    Would(CallFacts),
    Invalid(String),
    /// It names something outside of the workspace.
    Outside(String),
}

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// A call whose arguments held a secret. They are recorded without it; this is the digest of the arguments, as JSON, that
/// the call is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCall {
    /// Its place among the calls of the reply.
    pub index: u32,
    pub digest: Digest,
}

/// What came of a call. A failure is a sentence for the model too, never an error for the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub success: bool,
    /// The text in full, up to what may be held in memory.
    pub text: String,
    /// Where the whole of it is kept, when it is large.
    pub blob: Option<BlobRef>,
    /// Pictures that belong to it.
    pub images: Vec<Source>,
    /// The files that it read or wrote whole, as they were then.
    pub files: Vec<FileState>,
    /// The workspace before and after it, where that is kept.
    pub trees: Option<Trees>,
    pub metadata: Box<Metadata>,
    /// Bytes from the middle of the text that were more than is held in memory.
    #[serde(default)]
    pub not_held: u64,
    /// Bytes of it that were more than is kept.
    #[serde(default)]
    pub not_kept: u64,
}

/// A file as somebody has seen it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub path: WorkPath,
    /// Of its content; nothing if it was not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What is known of a call beside its text. The model has the text; this is for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Somebody stopped it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// How long a command took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// How many bytes were read, written, printed or fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<WorkPath>,
    /// The commit that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<String>,
    /// How often a text was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<u64>,
    /// The status of an answer from the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether what was read has characters that nobody sees or that act on a screen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden_characters: bool,
}

impl Metadata {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What of it goes on record. How long a command took differs from one time to the next, and the record does not.
    #[must_use]
    pub fn on_record(&self) -> Self {
        Self { duration_ms: None, ..self.clone() }
    }

    /// How a command ended.
    #[must_use]
    pub fn ended(ended: Ended, elapsed: Millis, bytes: u64) -> Self {
        let mut metadata =
            Self { duration_ms: Some(elapsed), bytes: Some(bytes), ..Self::default() };
        match ended {
            Ended::Exited(code) => metadata.exit_code = Some(code),
            Ended::Signalled(signal) => metadata.signal = Some(signal),
            Ended::TimedOut => metadata.timed_out = true,
            Ended::Stopped => metadata.stopped = true,
        }
        metadata
    }
}

impl ToolOutput {
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(true, text.into())
    }

    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self::new(false, text.into())
    }

    fn new(success: bool, text: String) -> Self {
        let (images, files, metadata) = (Vec::new(), Vec::new(), Box::default());
        let (not_held, not_kept) = (0, 0);
        Self { success, text, blob: None, images, files, trees: None, metadata, not_held, not_kept }
    }
}

/// A text as it is shown and sent: possibly cut, with a pointer to the whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shown {
    pub text: String,
    /// How many characters were left out; nothing when it is all there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobRef>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
