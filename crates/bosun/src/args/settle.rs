//! The arguments of `bosun accept` and `bosun discard`.

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(
    after_help = "Fast-forwards your branch to the result and updates your files. Refused if there are uncommitted changes, if \
    the checked-out branch is not the one the run was started on, or if the run did not end as \
    done.\n\nExamples:\n  bosun accept\n  bosun accept r_1a2b --merge\n  bosun accept r_1a2b --author me"
)]
pub(crate) struct Accept {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository that can be accepted]
    pub(crate) run: Option<RunRef>,
    /// Create a merge commit if your branch has advanced since the run was started
    #[arg(long)]
    pub(crate) merge: bool,
    /// Accept the result of a run that failed, was cancelled, ran out of budget or got a no-go
    #[arg(long)]
    pub(crate) force: bool,
    /// Author of the commits: bosun keeps the run's commits, as named in its proof; me recreates them under your name, with reason and evidence in the messages
    #[arg(long, value_name = "WHO", value_enum, default_value_t)]
    pub(crate) author: Author,
    /// Print a JSON object: run, how, commit, way (forwarded, merged or already)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Author of the commits of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Author {
    #[default]
    Bosun,
    Me,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Removes the run's branch and worktrees; the log is kept. An accepted result cannot be \
    discarded.\n\nExample:\n  bosun discard r_1a2b3c4d --yes"
)]
pub(crate) struct Discard {
    /// Run id, unique prefix, or `newest`; if omitted, asks about the newest one in this repository (terminal only)
    pub(crate) run: Option<RunRef>,
    /// Skip confirmation; requires RUN
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print a JSON object: run, how, commit
    #[arg(long)]
    pub(crate) json: bool,
}
