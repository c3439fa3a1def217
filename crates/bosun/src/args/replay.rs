//! The arguments of `bosun replay` and `bosun fork`.

use std::path::PathBuf;

use clap::Args;
use types::RunId;

#[derive(Debug, Args)]
#[command(
    after_help = "Decides everything that is on record again, offline: each log line by line, and what ties the attempts \
    to their run. What came from outside is taken as it is recorded; what follows from it must follow again. \
    Exit codes: 0 nothing differs, 7 something does."
)]
pub(crate) struct Replay {
    /// The run or session [default: the newest one]
    pub(crate) run: Option<RunId>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new run begins as a copy of the old one, up to the decision that the line belongs to; `bosun resume` \
    goes on with it. Attempts that were open then begin anew. A session gets a folder of its own with the \
    files as they were then."
)]
pub(crate) struct Fork {
    /// The run or session
    pub(crate) run: RunId,
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
