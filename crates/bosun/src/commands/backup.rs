//! `bosun backup` and `bosun restore`: a verified copy of the journal while it is in use, and restoring one.

use std::collections::BTreeMap;
use std::path::Path;

use runtime::store::{Journal as _, JournalError, Restore, SqliteJournal};
use runtime::{Clock as _, Integrity, RealClock, integrity};
use types::{LogId, count};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print;

pub(crate) async fn backup(home: &Home, args: args::Backup) -> anyhow::Result<Exit> {
    let to = if args.to.is_dir() { args.to.join(format!("journal-{}.db", now())) } else { args.to };
    if to.exists() {
        return Err(CliError::Exists { path: to.display().to_string() }.into());
    }
    home.read(true).await?;
    let journal = home.opened().ok_or(CliError::NoRuns)?;
    journal.backup(&to).await?;
    let checked = checked(&to).await?;
    if !checked.flaws.is_empty() {
        print::integrity(&checked)?;
        print::note("the journal is damaged, and so is the backup");
        return Ok(Exit::Damaged);
    }
    let (logs, blobs) = (checked.intact.len() as u64, checked.blobs as u64);
    let said = format!("{}: {}, {}", to.display(), count(logs, "log"), count(blobs, "blob"));
    print::line(&said)?;
    Ok(Exit::Done)
}

pub(crate) async fn restore(home: &Home, args: args::Restore) -> anyhow::Result<Exit> {
    if !args.from.is_file() {
        return Err(CliError::NoBackup { path: args.from.display().to_string() }.into());
    }
    let database = home.journal()?;
    // Before the journal is locked, because reading may have to wait for the lock.
    let before = ends(&database).await;
    let staged = Restore::stage(&database, &args.from)?;
    let checked = checked(staged.staged()).await.map_err(|error| unfit(error, &args.from))?;
    if !checked.flaws.is_empty() {
        print::integrity(&checked)?;
        print::note("nothing was restored");
        return Ok(Exit::Damaged);
    }
    let aside = database.with_file_name(format!("journal.db.before-{}", now()));
    let replaced = database.exists();
    if let Some(more) = more(before, staged.staged()).await {
        print::note(&format!("not in the backup: {more}"));
    }
    staged.finish(&aside)?;
    print::line(&format!("restored {}", count(checked.intact.len() as u64, "log")))?;
    if replaced {
        print::note(&format!("the previous journal is kept as {}", aside.display()));
    }
    Ok(Exit::Done)
}

/// Checks a copy of a journal from end to end.
async fn checked(path: &Path) -> anyhow::Result<Integrity> {
    let copy = SqliteJournal::read_only(path, false).await?;
    let copy = copy.ok_or_else(|| CliError::NoBackup { path: path.display().to_string() })?;
    Ok(integrity(&copy, None).await?)
}

/// Reports a file that is not a journal as `NoBackup`, under its own name instead of that of the staged copy.
fn unfit(error: anyhow::Error, from: &Path) -> anyhow::Error {
    match error.downcast_ref::<JournalError>() {
        Some(JournalError::NotAJournal { .. }) => {
            CliError::NoBackup { path: from.display().to_string() }.into()
        }
        _ => error,
    }
}

/// Describes what the journal has and the backup lacks. Reports nothing for a journal that cannot be read, which may be
/// the reason for restoring.
async fn more(there: Option<BTreeMap<LogId, u64>>, backup: &Path) -> Option<String> {
    let (there, backup) = (there?, ends(backup).await?);
    let missing = there.keys().filter(|log| !backup.contains_key(*log)).count();
    let longer = there.iter().filter(|(log, end)| backup.get(*log).is_some_and(|old| old < *end));
    match (missing, longer.count()) {
        (0, 0) => None,
        (missing, 0) => Some(count(missing, "log")),
        (0, longer) => Some(format!("later lines of {}", count(longer, "log"))),
        (missing, longer) => {
            Some(format!("{}, later lines of {longer} more", count(missing, "log")))
        }
    }
}

/// Sequence number of the last line of every log.
async fn ends(path: &Path) -> Option<BTreeMap<LogId, u64>> {
    let journal = SqliteJournal::read_only(path, false).await.ok()??;
    let logs = journal.logs(None).await.ok()?;
    Some(logs.into_iter().map(|log| (log.log, log.last_seq)).collect())
}

/// The current time, in a form that is safe in file names.
fn now() -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || "-.".contains(*c);
    RealClock.now().to_string().chars().filter(kept).collect()
}
