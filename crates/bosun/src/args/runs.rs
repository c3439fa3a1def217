//! The arguments of the commands that list, resume and cancel runs, and show what was recorded of them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use types::AttemptId;

use super::{RunRef, Words};

#[derive(Debug, Args)]
#[command(after_help = "\
Continues from the end of the log: what is finished is not done again. Only new events are printed; `bosun log RUN` has all of them, and so has --json.

Examples:
  bosun resume
  bosun resume r_1a2b
  bosun resume r_1a2b --repo ../moved-repository")]
pub(crate) struct Resume {
    /// The run or session, by its id or the beginning of it [default: the newest one that is not over]
    pub(crate) run: Option<RunRef>,
    /// Where the run's repository, or the session's folder, is now, if it was moved
    #[arg(long = "repo", alias = "repository", value_name = "DIR", requires = "run")]
    pub(crate) repository: Option<PathBuf>,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A run that was cancelled cannot be resumed; Ctrl-C in `bosun run` stops one that can.

Examples:
  bosun cancel r_1a2b
  bosun cancel r_1a2b --reason \"the wrong branch\"")]
pub(crate) struct Cancel {
    /// The run or session, by its id or the beginning of it; on a terminal you are asked about the newest open one
    pub(crate) run: Option<RunRef>,
    /// Why, for the record
    #[arg(long, default_value = "cancelled by hand")]
    pub(crate) reason: String,
    /// Print the report as a JSON line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The newest first. The cost is what models charged, as far as their prices are known.

Examples:
  bosun list --here
  bosun list --state waiting --state running
  bosun list --repo ../shop --limit 5
  bosun list -q --state done        only the ids, for scripts")]
pub(crate) struct List {
    /// Only runs in this repository, and sessions in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "here")]
    pub(crate) repo: Option<PathBuf>,
    /// Only runs in the repository of the current folder; outside of one, those in this folder or below it
    #[arg(long)]
    pub(crate) here: bool,
    /// Only runs in this state; may be given several times
    #[arg(long = "state", value_name = "STATE", value_enum)]
    pub(crate) states: Vec<ListState>,
    /// At most so many, the newest
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print a JSON line for each run
    #[arg(long)]
    pub(crate) json: bool,
}

/// A state by which a list is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListState {
    /// Running or waiting; sessions that are not closed
    Open,
    Running,
    #[value(alias = "escalated")]
    Waiting,
    Done,
    Failed,
    OutOfBudget,
    Refused,
    NoGo,
    Cancelled,
    /// Done or ended otherwise, and the result is neither accepted nor discarded
    Unsettled,
    Accepted,
    Discarded,
    /// Conversations of one agent, whatever their state
    Session,
}

impl From<ListState> for runtime::ListState {
    fn from(state: ListState) -> Self {
        use types::{Settling, Status};
        match state {
            ListState::Open => Self::Open,
            ListState::Running => Self::Is(Status::Running),
            ListState::Waiting => Self::Is(Status::Waiting),
            ListState::Done => Self::Is(Status::Done),
            ListState::Failed => Self::Is(Status::Failed),
            ListState::OutOfBudget => Self::Is(Status::OutOfBudget),
            ListState::Refused => Self::Is(Status::Refused),
            ListState::NoGo => Self::Is(Status::NoGo),
            ListState::Cancelled => Self::Is(Status::Cancelled),
            ListState::Unsettled => Self::Unsettled,
            ListState::Accepted => Self::Settled(Settling::Accepted),
            ListState::Discarded => Self::Settled(Settling::Discarded),
            ListState::Session => Self::Session,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun log                       the newest run
  bosun log r_1a2b --attempt T1.2
  bosun log r_1a2b --follow
  bosun log --verify              every log of every run
  bosun log r_1a2b --json | jq -r .event")]
pub(crate) struct Log {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// The log of one attempt, such as T1.2, instead of the run's own
    #[arg(long, value_name = "ATTEMPT")]
    pub(crate) attempt: Option<AttemptId>,
    /// Print the stored lines as they are, one JSON object each
    #[arg(long)]
    pub(crate) json: bool,
    /// Print it in the words that a program expects: the events of one session, or those of a coordinator
    #[arg(long = "as", value_name = "WORDS", value_enum, conflicts_with_all = ["json", "attempt", "verify"])]
    pub(crate) words: Option<Words>,
    /// Go on printing what is recorded until the run is over
    #[arg(long, short, conflicts_with_all = ["verify", "attempt"])]
    pub(crate) follow: bool,
    /// Check that nothing was changed, cut off or lost since it was written: all logs of the run, or of all runs where none is named, and what they point to
    #[arg(long, conflicts_with_all = ["json", "attempt"])]
    pub(crate) verify: bool,
    /// Go on without what the run's logs lost when the journal's files were damaged
    #[arg(long, requires = "run", conflicts_with_all = ["json", "attempt", "verify", "follow", "words"])]
    pub(crate) accept_loss: bool,
}
