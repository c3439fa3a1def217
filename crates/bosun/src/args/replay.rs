//! The arguments of `bosun replay` and `bosun fork`.

use std::path::PathBuf;

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(
    after_help = "Decides everything that is on record again, offline: each log line by line, and what ties the attempts \
    to their run. What came from outside is taken as it is recorded; what follows from it must follow again. \
    Exit codes: 0 nothing differs, 7 something does.\n\nExamples:\n  bosun replay\n  bosun replay r_1a2b --json"
)]
pub(crate) struct Replay {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new run begins as a copy of the old one, up to the decision that the line belongs to; `bosun resume` \
    goes on with it. Attempts that were open then begin anew. A session gets a folder of its own with the \
    files as they were then.\n\nExamples:\n  bosun log r_1a2b\n  bosun fork r_1a2b --at 41\n  bosun fork r_5e6f \
    --at 12 --into ../other-folder"
)]
pub(crate) struct Fork {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// The number of the line after which it goes its own way; `bosun log RUN` shows them
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: u64,
    /// For a session: the folder for its files, new or empty
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
