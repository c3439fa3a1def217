//! The arguments of commands that are about one agent's session, and in whose words its log is told.

use std::path::PathBuf;

use clap::Args;
use types::{Effort, ModelRef};

use super::{RunRef, effort};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun chat
  bosun chat \"Why does the test fail?\" -m anthropic/claude-sonnet-4-5
  bosun chat --resume
  bosun chat --resume r_1a2b")]
pub(crate) struct Chat {
    /// What to say first
    pub(crate) text: Option<String>,
    /// Go on with a session [default: the newest one in this folder]
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["model", "script", "policy", "effort", "instruction", "base_url"])]
    pub(crate) resume: Option<Option<RunRef>>,
    /// The folder to work in; it need not be a repository
    #[arg(long = "repo", alias = "folder", default_value = ".", value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Work in your home folder itself; keys and Bosun's own state stay closed there, too
    #[arg(long)]
    pub(crate) here_anyway: bool,
    /// The model to talk with, as provider/model [default: the first provider for which there is a key]
    #[arg(long, short, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) model: Option<ModelRef>,
    /// How hard to think: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
    pub(crate) effort: Option<Effort>,
    /// What it shall always keep to, said after everything else
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// The server to ask instead of the provider's own, as long as the session lasts
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// Answer from this script instead of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// The rules to work by: a file with a role `solo` [default: the preset solo]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Only files that the session changed are written or removed; what was said stays in its log.

Example:
  bosun log r_1a2b
  bosun rewind r_1a2b --to 17")]
pub(crate) struct Rewind {
    /// The session, by its id or the beginning of it; `newest` is the newest one
    pub(crate) run: RunRef,
    /// The number of the line after which the files were as they shall be; `bosun log RUN` shows them
    #[arg(long, value_name = "SEQ")]
    pub(crate) to: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// In whose words a log is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Words {
    /// SESSION_START, TOOL_CALL_START, ... SESSION_END
    Session,
    /// turn_start, llm_start, ... done, with phase and taskIndex
    Coordinator,
    /// records with ts, role, type and data: start, plan, patch, test_result, ... end
    Strict,
    /// audit records: execution_start, agent_spawned, classification, ... execution_end
    Audit,
}

impl From<Words> for runtime::Words {
    fn from(words: Words) -> Self {
        match words {
            Words::Session => Self::Session,
            Words::Coordinator => Self::Coordinator,
            Words::Strict => Self::Strict,
            Words::Audit => Self::Audit,
        }
    }
}
