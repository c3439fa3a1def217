//! The arguments of `bosun demo`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun demo
  bosun demo --keep              leaves the repository and the script to look at")]
pub(crate) struct Demo {
    /// Leave the repository and the run for inspection
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
}
