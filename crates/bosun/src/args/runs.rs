//! The arguments of the commands that list, resume and cancel runs, and print their logs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use types::AttemptId;

use super::{RunRef, Words};

#[derive(Debug, Args)]
#[command(after_help = "\
Continues from the end of the log without repeating finished work. Only new events are printed; `bosun log RUN` and \
--json print all of them.

Examples:
  bosun resume
  bosun resume r_1a2b
  bosun resume r_1a2b --repo ../moved-repository")]
pub(crate) struct Resume {
    /// Run or session id, unique prefix, or `newest` [default: newest unfinished one]
    pub(crate) run: Option<RunRef>,
    /// New location of the run's repository or the session's folder, if it was moved
    #[arg(long = "repo", alias = "repository", value_name = "DIR", requires = "run")]
    pub(crate) repository: Option<PathBuf>,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A cancelled run cannot be resumed. To suspend a run instead, press Ctrl-C in `bosun run`.

Examples:
  bosun cancel r_1a2b
  bosun cancel r_1a2b --reason \"the wrong branch\"")]
pub(crate) struct Cancel {
    /// Run or session id, unique prefix, or `newest`; if omitted, asks about the newest open run (terminal only)
    pub(crate) run: Option<RunRef>,
    /// Reason to record
    #[arg(long, default_value = "cancelled by hand")]
    pub(crate) reason: String,
    /// Print the report as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Costs include only models with known prices.

Examples:
  bosun list --here
  bosun list --state waiting --state running
  bosun list --repo ../shop --limit 5
  bosun list -q --state done        ids only, for scripts")]
pub(crate) struct List {
    /// Only runs in this repository and sessions in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "here")]
    pub(crate) repo: Option<PathBuf>,
    /// Only runs in the current repository; outside a repository, in the current folder or below
    #[arg(long)]
    pub(crate) here: bool,
    /// Only runs in this state; repeatable
    #[arg(long = "state", value_name = "STATE", value_enum)]
    pub(crate) states: Vec<ListState>,
    /// Show only the newest N
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON Lines, one per run
    #[arg(long)]
    pub(crate) json: bool,
}

/// A state to filter the list by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListState {
    /// Running or waiting runs, and sessions that are not closed
    Open,
    /// Driven by a process
    Running,
    /// Neither over nor driven by a process; `bosun resume` continues it
    Interrupted,
    #[value(alias = "escalated")]
    Waiting,
    Done,
    Failed,
    OutOfBudget,
    Refused,
    NoGo,
    Cancelled,
    /// Ended runs with a result neither accepted nor discarded
    Unsettled,
    Accepted,
    Discarded,
    /// Sessions in any state
    Session,
}

impl From<ListState> for runtime::ListState {
    fn from(state: ListState) -> Self {
        use types::{Settling, Status};
        match state {
            ListState::Open => Self::Open,
            ListState::Running | ListState::Interrupted => Self::Is(Status::Running),
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
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Print the log of an attempt, such as T1.2, instead of the run's
    #[arg(long, value_name = "ATTEMPT")]
    pub(crate) attempt: Option<AttemptId>,
    /// Print the stored lines unchanged, as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
    /// Print events as JSON Lines in another event format
    #[arg(long = "as", value_name = "WORDS", value_enum, conflicts_with_all = ["json", "attempt", "verify"])]
    pub(crate) words: Option<Words>,
    /// Keep printing new events until the run ends
    #[arg(long, short, conflicts_with_all = ["verify", "attempt"])]
    pub(crate) follow: bool,
    /// Verify that nothing was changed, truncated or lost, in all logs of the run (of all runs, if none is given) and the data they refer to
    #[arg(long, conflicts_with_all = ["json", "attempt"])]
    pub(crate) verify: bool,
    /// Accept the loss of log lines in a damaged journal, so that the run can continue
    #[arg(long, requires = "run", conflicts_with_all = ["json", "attempt", "verify", "follow", "words"])]
    pub(crate) accept_loss: bool,
}
