//! The arguments of `bosun replay` and `bosun fork`.

use std::path::PathBuf;

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(
    after_help = "Makes every recorded decision again, offline: each log line by line, and the links between the attempts \
    and their run. External input is taken from the logs; the decisions derived from it must be the same. \
    Exit codes: 0 no difference, 7 a difference.\n\nExamples:\n  bosun replay\n  bosun replay r_1a2b --json"
)]
pub(crate) struct Replay {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new run starts as a copy of the original, up to and including the decision that the line belongs to; \
    `bosun resume` continues it. Attempts that were open at that point start over. A session gets its own \
    folder with the files as they were at that point.\n\nExamples:\n  bosun log r_1a2b\n  bosun fork r_1a2b \
    --at 41\n  bosun fork r_5e6f --at 12 --into ../other-folder"
)]
pub(crate) struct Fork {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Number of the last log line to copy; see `bosun log RUN`
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: u64,
    /// New or empty folder for the files of a session
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
