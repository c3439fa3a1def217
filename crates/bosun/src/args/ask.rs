//! The arguments of `bosun ask`.

use std::path::PathBuf;

use clap::Args;
use runtime::llm::Dialect;
use types::{Effort, ModelRef};

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
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
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

pub(crate) fn effort(word: &str) -> Result<Effort, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}
