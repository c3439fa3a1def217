//! Arguments of `bosun models`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun models
  bosun models --json
  bosun models --refresh catalogue.toml

A catalogue file has a table for each model, as in crates/llm/src/catalogue.toml:
  [\"openrouter/some/model\"]
  window = 131072
  price = [{ input = \"0.5\", output = \"1.5\" }]
--refresh merges it into models.toml in the configuration folder, whose comments are not kept.")]
pub(crate) struct Models {
    /// Merge a catalogue file into your own
    #[arg(long, value_name = "FILE")]
    pub(crate) refresh: Option<PathBuf>,
    /// Print a JSON line for each provider and each model
    #[arg(long)]
    pub(crate) json: bool,
}
