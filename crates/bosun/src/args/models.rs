//! Arguments of `bosun models`.

use std::path::PathBuf;

use clap::Args;

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
