//! The arguments of `bosun chat`, `rewind`, `ask` and `models`, and the vocabularies for printed logs.

use std::path::PathBuf;

use clap::Args;
use runtime::llm::Dialect;
use types::{Effort, ModelRef};

use super::{RunRef, parsed};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun chat
  bosun chat \"Why does the test fail?\" -m anthropic/claude-sonnet-4-5
  bosun chat --resume
  bosun chat --resume r_1a2b")]
pub(crate) struct Chat {
    /// First message
    pub(crate) text: Option<String>,
    /// Resume a session [default: newest session in this folder]
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = ["model", "script", "policy", "effort", "instruction", "base_url"])]
    pub(crate) resume: Option<Option<RunRef>>,
    /// Folder to work in; need not be a repository
    #[arg(long = "repo", alias = "folder", default_value = ".", value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Allow working directly in your home folder; keys and Bosun's own state stay inaccessible
    #[arg(long)]
    pub(crate) here_anyway: bool,
    /// Model, as provider/model [default: the configured model, else the first provider with a key]
    #[arg(long, short, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) model: Option<ModelRef>,
    /// Reasoning effort: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = parsed::<Effort>)]
    pub(crate) effort: Option<Effort>,
    /// Instruction appended to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// Endpoint to use instead of the provider's own, for the whole session
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
    /// Use scripted replies (TOML) instead of a model
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Policy file with a `solo` role [default: the solo preset]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Undoes what the session's own calls changed after that line; the conversation stays in its log. An undo among the
changes is undone, too. Files that something else has changed since (you, an editor, another branch) are left alone and
listed with a diff; the exit code is then 3. Every replaced or removed version is kept in a folder that is printed.

Examples:
  bosun log r_1a2b
  bosun rewind r_1a2b --to 17
  bosun rewind r_1a2b --to 17 --replace src/a.rs")]
pub(crate) struct Rewind {
    /// Session id, unique prefix, or `newest`
    pub(crate) run: RunRef,
    /// Number of the log line after which changes are undone; see `bosun log RUN`
    #[arg(long, value_name = "SEQ")]
    pub(crate) to: u64,
    /// Also restore this file of the session's folder if something else has changed it; a folder stands for everything in it, `.` for all; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) replace: Vec<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Event format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Words {
    /// SESSION_START, TOOL_CALL_START, ... SESSION_END
    Session,
    /// turn_start, llm_start, ... done, with phase and taskIndex
    Coordinator,
    /// Records with ts, role, type and data: start, plan, patch, test_result, ... end
    Strict,
    /// Audit records: execution_start, agent_spawned, classification, ... execution_end
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun ask \"What is a monad?\" -m anthropic/claude-sonnet-4-5
  git diff | bosun ask - --system \"Review this change\"
  bosun ask \"Three colours\" --schema colours.schema.json --json")]
pub(crate) struct Ask {
    /// Prompt; - reads standard input
    #[arg(conflicts_with = "messages")]
    pub(crate) text: Option<String>,
    /// Model, as provider/model [default: the configured model, else the first provider with a key]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// System prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Conversation to send, as a JSON list of messages
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Tools to offer, as a JSON list of name, description and schema; calls are not executed
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// JSON Schema that the answer must match; a mismatch is a failure
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Endpoint to use instead of the provider's own
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// API dialect of the endpoint: messages, responses, chat, gemini or ollama
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// Reasoning effort: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = parsed::<Effort>)]
    pub(crate) effort: Option<Effort>,
    /// Maximum number of output tokens
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_output: u64,
    /// Disable streaming
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn dialect(word: &str) -> Result<Dialect, String> {
    let known = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == word);
    known.ok_or_else(|| {
        let words: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::as_str).collect();
        format!("expected one of {}", words.join(", "))
    })
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun models
  bosun models --json
  bosun models --refresh catalogue.toml

A catalogue file has one table per model, as in crates/llm/src/catalogue.toml:
  [\"openrouter/some/model\"]
  window = 131072
  price = [{ input = \"0.5\", output = \"1.5\" }]
--refresh merges it into models.toml in the configuration folder; comments in models.toml are lost.")]
pub(crate) struct Models {
    /// Merge a catalogue file into your models.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) refresh: Option<PathBuf>,
    /// Print JSON Lines, one per provider and model
    #[arg(long)]
    pub(crate) json: bool,
}
