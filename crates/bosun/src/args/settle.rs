//! The arguments of the commands that take a run's result or throw it away.

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(
    after_help = "Moves your branch forward to the result, files and all. Nothing is done if there is uncommitted work, if \
    another branch is checked out than the run was started on, or if the run did not end as \
    done.\n\nExamples:\n  bosun accept\n  bosun accept r_1a2b --merge\n  bosun accept r_1a2b --author me"
)]
pub(crate) struct Accept {
    /// The run, by its id or the beginning of it [default: the newest one of this repository that can be accepted]
    pub(crate) run: Option<RunRef>,
    /// Make a merge commit if your branch went on since the run was started
    #[arg(long)]
    pub(crate) merge: bool,
    /// Take what is there although the run failed, was cancelled, or got a no-go
    #[arg(long)]
    pub(crate) force: bool,
    /// Who the commits are by: bosun takes the run's own commits, which its proof names; me makes them again by you, with messages that say why and with what evidence
    #[arg(long, value_name = "WHO", value_enum, default_value_t)]
    pub(crate) author: Author,
    /// Print one JSON object: run, how, commit, and in which way it was taken
    #[arg(long)]
    pub(crate) json: bool,
}

/// Who the commits of a result are by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Author {
    #[default]
    Bosun,
    Me,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Removes the run's branch and its worktrees; the log stays. What was accepted cannot be thrown \
    away.\n\nExample:\n  bosun discard r_1a2b3c4d --yes"
)]
pub(crate) struct Discard {
    /// The run, by its id or the beginning of it; on a terminal you are asked about the newest one of this repository
    pub(crate) run: Option<RunRef>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print one JSON object: run, how, commit
    #[arg(long)]
    pub(crate) json: bool,
}
