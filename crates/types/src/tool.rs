//! Tool calls: their predicted effects, and their results. `options.rs` has the description for a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentCall, BlobRef, Digest, Ended, Millis, Source, Trees, WorkPath};

/// The effects of a call, derived from its arguments before anything is permitted or run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    pub access: Access,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<WorkPath>,
    /// The command line that it would run, or the question that it would ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its working folder, if not the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<WorkPath>,
    /// Hosts that it would reach, in addition to those already granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    pub repeat: Repeat,
    /// The tool's base name, if a profile renames it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its request about sub-agents.
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
    /// Submits the role's result; touches nothing.
    Submit,
    /// Fetches something from the network.
    Network,
    /// Asks the person and waits for the answer; touches nothing.
    Ask,
    /// Starts, messages, awaits or ends a sub-agent; the session itself does that.
    Agent,
}

/// Whether an interrupted call may simply be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// Idempotent: reads, whole-file writes.
    Safe,
    /// The effect of repeating it is unknown: commands.
    Unknown,
}

/// A tool's interpretation of a call's arguments: its effects, or an error message for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inspection {
    Would(CallFacts),
    Invalid(String),
    /// It names something outside the workspace.
    Outside(String),
}

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// A call whose arguments contained a secret. They are recorded without it; this is the digest of the exact arguments,
/// as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCall {
    /// Its index among the calls of the reply.
    pub index: u32,
    pub digest: Digest,
}

/// The result of a call. A failure is a message for the model too, never an error for the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub success: bool,
    /// The text in full, up to the memory limit.
    pub text: String,
    /// The blob with the full text, if it is large.
    pub blob: Option<BlobRef>,
    /// Images that belong to it.
    pub images: Vec<Source>,
    /// The files that it read or wrote whole, as they were then.
    pub files: Vec<FileState>,
    /// The workspace before and after it, if snapshots are kept.
    pub trees: Option<Trees>,
    pub metadata: Box<Metadata>,
    /// Number of bytes dropped from the middle of the text, beyond the memory limit.
    #[serde(default)]
    pub not_held: u64,
    /// Number of bytes beyond the storage limit.
    #[serde(default)]
    pub not_kept: u64,
}

/// A file as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileState {
    pub path: WorkPath,
    /// The digest of its content; `None` if it no longer existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// Facts about a call besides its text. The model gets the text; this is for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Metadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// It was stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The duration of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Millis>,
    /// The number of bytes read, written, printed or fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<WorkPath>,
    /// The number of lines of the file that was replaced whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_lines: Option<u64>,
    /// The commit that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<String>,
    /// How often a text was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<u64>,
    /// The HTTP status of a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether the content has invisible characters or terminal controls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden_characters: bool,
}

impl Metadata {
    /// The recorded part. The duration of a command varies, and the record must not.
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

/// A text as shown and sent: possibly truncated, with a pointer to the full one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shown {
    pub text: String,
    /// The number of characters left out; 0 if nothing is.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub removed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobRef>,
}

impl Shown {
    /// The text with a note after it, as the model gets it.
    #[must_use]
    pub fn noted(&self, note: Option<&str>) -> String {
        let Some(note) = note else { return self.text.clone() };
        format!("{}\n{note}", self.text.trim_end_matches('\n'))
    }
}
