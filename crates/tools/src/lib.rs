//! Tools: turn a model's calls into environment calls. A tool reports what a call would touch before anything is
//! permitted, and performs it on request; it never decides whether it may. An error in a tool is a message for
//! the model, never an error of the loop.

mod apply_patch;
mod context;
mod conversation;
mod delete_file;
mod edit_file;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod git;
mod git_clone;
mod move_file;
mod patch;
mod printed;
mod process;
pub mod profile;
mod read_file;
mod registry;
mod schema;
mod search;
mod secrets;
mod shell;
mod tame;
mod text;
mod typed;
mod web;
mod write_file;

use async_trait::async_trait;
use serde_json::Value;
use types::{Inspection, ToolOutput, ToolSpec};

pub use context::{FileReadTracker, Page, ProcessView, Processes, ToolContext, Web};
pub use read_file::picture_type;
pub use registry::{Duplicate, Registry, UnknownTool};
pub use secrets::Secrets;
pub use types::{Family, ToolProfile};

/// A tool that a model can call by name.
#[async_trait]
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// Name, description and schema shown to the model.
    fn spec(&self) -> &ToolSpec;

    /// Name of the tool if no profile renames it.
    fn plain_name(&self) -> &str {
        &self.spec().name
    }

    /// Returns what a call would do, without touching anything. The arguments already match the schema.
    fn inspect(&self, arguments: &Value) -> Inspection;

    /// Performs the call. Called only for arguments that passed `inspect`.
    async fn run(&self, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput;
}
