//! The arguments of `bosun gc`.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Removes old runs and sessions: their logs, the outputs that no other log names, branches, worktrees and \
    snapshots; and old copies of files that were taken away after commands (`removed/` in the home). Runs that are open or wait for an answer always stay. That a log was removed stays on record, \
    with its last hash.\n\nExample:\n  bosun gc --keep-days 90 --dry-run"
)]
pub(crate) struct Gc {
    /// Keep whatever happened within so many days
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) keep_days: u32,
    /// Keep the newest N, however old they are
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) keep: usize,
    /// Also remove results that were neither accepted nor discarded
    #[arg(long)]
    pub(crate) results: bool,
    /// Also remove sessions that wait for the next input
    #[arg(long)]
    pub(crate) sessions: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
