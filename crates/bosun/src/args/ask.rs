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
    /// What to ask; - reads it from standard input
    #[arg(conflicts_with = "messages")]
    pub(crate) text: Option<String>,
    /// The model, as provider/model [default: the first provider for which there is a key]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// What the model is told before anything else
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// A whole conversation to send, as a JSON list of messages
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Tools to offer, as a JSON list of name, description and schema; none is run
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// A JSON Schema that the answer must fit; an answer that does not is a failure
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// The server to ask instead of the provider's own
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The language that the server speaks: messages, responses, chat, gemini or ollama
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub(crate) dialect: Option<Dialect>,
    /// How hard to think: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
    pub(crate) effort: Option<Effort>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) max_output: u64,
    /// Ask for the answer in one piece
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn dialect(word: &str) -> Result<Dialect, String> {
    let known = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == word);
    known.ok_or_else(|| {
        let words: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::as_str).collect();
        format!("known are {}", words.join(", "))
    })
}

pub(crate) fn effort(word: &str) -> Result<Effort, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}
