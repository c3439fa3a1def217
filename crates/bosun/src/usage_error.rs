//! Usage errors, mostly about names of runs, tasks, attempts or lines, each with the way out. See `exit.rs` for others.

use types::RunId;

/// A mistake on the command line, usually a name that cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("--webhook needs a signing secret; set BOSUN_WEBHOOK_SECRET")]
    NoWebhookSecret,
    #[error("no run given; the newest candidate is {run} ({goal}): bosun {what} {run}")]
    WhichRun { what: &'static str, run: RunId, goal: String },
    #[error("no open run to cancel; `bosun list` shows all runs")]
    NothingToCancel,
    #[error("no result to discard in this repository; `bosun list` shows all runs")]
    NothingToDiscard,
    #[error(
        "{name:?} is neither a task (T1) nor an attempt (T1.2) of run {run}; `bosun show {run}` lists them"
    )]
    NotAPart { name: String, run: RunId },
    #[error(
        "no transcript of {name} in run {run}; `bosun show {run}` lists its tasks and attempts"
    )]
    NoConversation { name: String, run: RunId },
    #[error("invalid place {place:?}; expected TASK[:PATH[:LINE]], such as T2:src/main.rs:12")]
    NotAPlace { place: String },
    #[error("no such file: {name}; for the preset of that name, use --preset {name}")]
    PresetAsFile { name: &'static str },
    #[error("the comment on {place} is empty; say what to change")]
    EmptyComment { place: String },
    #[error(
        "{next} follows up {run} after a review and is {status}; `bosun show {next}` shows its progress. To use the \
         earlier result anyway, name it: bosun {what} {run}"
    )]
    FollowedUp { what: &'static str, run: RunId, next: RunId, status: &'static str },
    #[error("standard input is empty; nothing to ask")]
    NothingAsked,
    #[error("no run or session is waiting for an answer; `bosun list` shows all")]
    NothingWaits,
    #[error(
        "several runs are waiting for an answer: {}; name one: bosun answer {} …",
        runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", "),
        runs.first().map_or("RUN", RunId::as_str)
    )]
    SeveralWait { runs: Vec<RunId> },
}

impl UsageError {
    /// Whether the error means that no run matches.
    pub(crate) fn means_no_run(&self) -> bool {
        matches!(self, Self::NothingToCancel | Self::NothingToDiscard)
    }
}
