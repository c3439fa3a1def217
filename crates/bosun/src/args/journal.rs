//! The arguments of the commands that copy the journal and put a copy in its place.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Writes everything that is on record into one new file, while runs go on. The copy is \
    verified.\n\nExample:\n  bosun backup /media/backup/"
)]
pub(crate) struct Backup {
    /// The file to write, which may not be there yet, or a folder for it
    #[arg(value_name = "FILE|DIR")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Verifies the whole backup first, then puts it in the journal's place. The journal that was there is kept \
    under another name. Runs in the backup stand where they stood then: calls that were made since would be \
    made again by `bosun resume`.\n\nExample:\n  bosun restore /media/backup/journal-2026-11-16T090807Z.db"
)]
pub(crate) struct Restore {
    /// A file that `bosun backup` wrote
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
}
