//! The arguments of `bosun demo`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun demo
  bosun demo --keep              keep the repository and the script for inspection")]
pub(crate) struct Demo {
    /// Keep the repository and the run for inspection
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}
