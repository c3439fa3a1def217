//! Tools: a model's call turned into environment calls. A tool says what a call would touch before anything is
//! permitted, and does it when told to; it never decides whether it may. What goes wrong in a tool is a sentence
//! for the model, never an error for the loop.

mod agents;
mod apply_patch;
mod ask_user;
mod context;
mod delete_file;
mod edit_file;
#[doc(hidden)]
pub mod fuzzing;
mod git;
mod git_clone;
mod git_command;
mod glob;
mod grep;
mod list_dir;
mod move_file;
mod outside;
mod patch;
mod printed;
mod process;
mod processes;
pub mod profile;
mod read_file;
mod registry;
mod schema;
mod secrets;
mod shell;
mod submit;
mod tame;
mod text;
mod typed;
mod web_fetch;
mod web_search;
mod write_file;

use async_trait::async_trait;
use serde_json::Value;
use types::{Inspection, ToolOutput, ToolSpec};

pub use context::{FileReadTracker, Page, ToolContext, Web};
pub use processes::{ProcessView, Processes};
pub use read_file::picture_type;
pub use registry::{Duplicate, Registry, UnknownTool};
pub use secrets::Secrets;
pub use types::{Family, ToolProfile};

/// What is said of names that no path can have.
pub(crate) const UNNAMED: &str = "are not valid paths (control characters, not UTF-8, or a leading ~); file tools cannot open these files, commands can";

/// Something that a model can call by name.
#[async_trait]
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// The name, the description and the schema that a model is told.
    fn spec(&self) -> &ToolSpec;

    /// What it is called where no profile gives it another name.
    fn plain_name(&self) -> &str {
        &self.spec().name
    }

    /// What a call would do. Touches nothing; the arguments fit the schema already.
    fn inspect(&self, arguments: &Value) -> Inspection;

    /// Does it. Called only for arguments that passed `inspect`.
    async fn run(&self, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput;
}
