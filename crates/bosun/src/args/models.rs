//! Arguments of `bosun models`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun models
  bosun models --json")]
pub(crate) struct Models {
    /// Print a JSON line for each provider and each model
    #[arg(long)]
    pub(crate) json: bool,
}
