//! The arguments of `bosun backup` and `bosun restore`.

use std::path::PathBuf;

use clap::Args;

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
