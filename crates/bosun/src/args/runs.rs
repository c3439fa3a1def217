//! The arguments of the commands that list, follow, resume, cancel and replay runs, and of those about the journal.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use types::{AttemptId, Timestamp};

use super::{RunRef, Words};

#[derive(Debug, Args)]
#[command(after_help = "\
Continues from the end of the log without repeating finished work. Only new events are printed; `bosun log RUN` and \
--json print all of them.

Examples:
  bosun resume
  bosun resume r_1a2b
  bosun resume r_1a2b --money 5      $5 in total, for a run that is out of budget
  bosun resume r_1a2b --repo ../moved-repository")]
pub(crate) struct Resume {
    /// Run or session id, unique prefix, or `newest` [default: newest unfinished one]
    pub(crate) run: Option<RunRef>,
    /// New location of the run's repository or the session's folder, if it was moved
    #[arg(long = "repo", alias = "repository", value_name = "DIR", requires = "run")]
    pub(crate) repository: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) raised: super::run::Raised,
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

#[derive(Debug, Args)]
#[command(after_help = "\
Shows the live view of `bosun run` for a run driven by another process; read-only. q or Ctrl-C closes the view without \
stopping the run.

Examples:
  bosun watch
  bosun watch r_1a2b
  bosun watch r_1a2b --json | jq -r .event

Exit codes: those of the run; 130 if the view was closed.")]
pub(crate) struct Watch {
    /// Run id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Shows state, open questions, tasks, age, cost and last action of every unfinished run; press q to quit.

Examples:
  bosun top
  bosun top --once                print the current table, for a pipe
  bosun top --json | jq -r 'select(.questions > 0).run'")]
pub(crate) struct Top {
    /// Print the table once and exit; the default without a terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON Lines once, one per run
    #[arg(long)]
    pub(crate) json: bool,
}

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

#[derive(Debug, Args)]
#[command(after_help = "\
Covers all runs in the journal: completed runs, tasks finished at the first attempt, tasks recovered after a failure, \
forecast and actual spending, and cost by model, role and project. Sessions are not counted, nor is the history that a \
fork copied from its origin.

Examples:
  bosun stats --since 30d
  bosun stats --since 2026-10-01 --json")]
pub(crate) struct Stats {
    /// Only runs started since WHEN: a number of days, such as 30d, or a date, such as 2026-10-01
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Start of the period to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Days(u32),
    Date(Timestamp),
}

fn since(word: &str) -> Result<Since, String> {
    if let Some(days) = word.strip_suffix('d').and_then(|days| days.parse().ok()) {
        return Ok(Since::Days(days));
    }
    let midnight = serde_json::Value::from(format!("{word}T00:00:00.000Z"));
    let date = serde_json::from_value(midnight).map(Since::Date);
    date.map_err(|_| {
        "expected a number of days, such as 30d, or a date, such as 2026-10-01".to_owned()
    })
}

#[derive(Debug, Args)]
#[command(
    after_help = "Removes old runs and sessions: logs, outputs that no other log refers to, branches, worktrees and snapshots; \
    also old copies of files removed after commands or replaced by an undo (`removed/` in the home folder). Runs that are open or \
    waiting for an answer are always kept. The removal of a log is recorded, with its last hash.\n\nExample:\n  \
    bosun gc --keep-days 90 --dry-run"
)]
pub(crate) struct Gc {
    /// Keep runs and sessions active within the last N days
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) keep_days: u32,
    /// Keep the newest N, regardless of age
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) keep: usize,
    /// Also remove runs with a result neither accepted nor discarded
    #[arg(long)]
    pub(crate) results: bool,
    /// Also remove sessions waiting for input
    #[arg(long)]
    pub(crate) sessions: bool,
    /// Only print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Copies the whole journal to a new file while runs continue, and verifies the \
    copy.\n\nExample:\n  bosun backup /media/backup/"
)]
pub(crate) struct Backup {
    /// New file, or a folder to create it in
    #[arg(value_name = "FILE|DIR")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Verifies the whole backup, then replaces the journal with it. The old journal is kept under another name. \
    Runs return to their state at the time of the backup: `bosun resume` would repeat calls made since \
    then.\n\nExample:\n  bosun restore /media/backup/journal-2026-11-16T090807Z.db"
)]
pub(crate) struct Restore {
    /// File written by `bosun backup`
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
}
