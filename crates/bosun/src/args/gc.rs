//! The arguments of `bosun gc`.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Removes old runs and sessions: logs, outputs that no other log refers to, branches, worktrees and snapshots; \
    also old copies of files removed after commands (`removed/` in the home folder). Runs that are open or \
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
