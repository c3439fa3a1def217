//! Usage errors, mostly about names of runs, tasks, attempts or lines, each with the way out. See `exit.rs` for others.

use types::RunId;

/// A mistake on the command line, usually a name that cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("notifications are signed: put a secret of your own into BOSUN_WEBHOOK_SECRET")]
    NoWebhookSecret,
    #[error("{what} which run? {run} would be next ({goal}): bosun {what} {run}")]
    WhichRun { what: &'static str, run: RunId, goal: String },
    #[error("no run is open; `bosun list` shows all runs")]
    NothingToCancel,
    #[error("no result of this repository waits to be discarded; `bosun list` shows all runs")]
    NothingToDiscard,
    #[error(
        "{name:?} is not a task such as T1, nor an attempt such as T1.2; `bosun show {run}` lists those of the run"
    )]
    NotAPart { name: String, run: RunId },
    #[error(
        "there is no transcript of {name} in run {run}; `bosun show {run}` lists its tasks and attempts"
    )]
    NoConversation { name: String, run: RunId },
    #[error(
        "{place:?} is not a place to comment on; name a task, a file of it and a line: T2:src/main.rs:12"
    )]
    NotAPlace { place: String },
    #[error("there is no file {name:?}; to work by the preset of that name: --preset {name}")]
    PresetAsFile { name: &'static str },
    #[error("the comment on {place} is empty; write what is to be changed")]
    EmptyComment { place: String },
    #[error(
        "{next} follows up {run}, as a review asks for, and is {status}; `bosun show {next}` says how far it is. To take the \
         earlier result all the same, name it: bosun {what} {run}"
    )]
    FollowedUp { what: &'static str, run: RunId, next: RunId, status: &'static str },
    #[error("standard input is empty: there is nothing to ask")]
    NothingAsked,
    #[error("nothing waits for an answer; `bosun questions` lists what does")]
    NothingWaits,
    #[error(
        "several wait for an answer: {}; name one: bosun answer {} …",
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
