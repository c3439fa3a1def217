//! `bosun backup` and `bosun restore`: a verified copy of the journal while it is in use, and the way back.

use std::path::Path;

use runtime::store::{Journal as _, JournalError, Restore, SqliteJournal};
use runtime::{Clock as _, Integrity, RealClock, integrity};
use types::count;

use crate::args;
use crate::commands::verify;
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print;

pub(crate) async fn backup(home: &Home, args: args::Backup) -> anyhow::Result<Exit> {
    let to = if args.to.is_dir() { args.to.join(format!("journal-{}.db", now())) } else { args.to };
    if to.exists() {
        return Err(Wrong::Exists { path: to.display().to_string() }.into());
    }
    home.read(true).await?;
    let journal = home.opened().ok_or(Wrong::NoRuns)?;
    journal.backup(&to).await?;
    let checked = checked(&to).await?;
    if !checked.flaws.is_empty() {
        verify::told(&checked)?;
        print::note("the journal itself is damaged, and the backup has it as it is");
        return Ok(Exit::Damaged);
    }
    let (logs, blobs) = (checked.intact.len() as u64, checked.blobs as u64);
    let said = format!("{}: {}, {}", to.display(), count(logs, "log"), count(blobs, "blob"));
    print::line(&said)?;
    Ok(Exit::Done)
}

pub(crate) async fn restore(home: &Home, args: args::Restore) -> anyhow::Result<Exit> {
    if !args.from.is_file() {
        return Err(Wrong::NoBackup { path: args.from.display().to_string() }.into());
    }
    let database = home.journal()?;
    let staged = Restore::stage(&database, &args.from)?;
    let checked = checked(staged.staged()).await.map_err(|error| unfit(error, &args.from))?;
    if !checked.flaws.is_empty() {
        verify::told(&checked)?;
        print::note("nothing was restored");
        return Ok(Exit::Damaged);
    }
    let aside = database.with_file_name(format!("journal.db.before-{}", now()));
    let replaced = database.exists();
    if let Some(less) = less(&database, staged.staged()).await {
        let aside = aside.display();
        print::note(&format!("{less} than the journal that is there, which is kept as {aside}"));
    }
    staged.finish(&aside)?;
    print::line(&format!("restored {}", count(checked.intact.len() as u64, "log")))?;
    if replaced {
        print::note(&format!("the journal that was there is kept as {}", aside.display()));
    }
    Ok(Exit::Done)
}

/// Checks a copy of a journal from end to end.
async fn checked(path: &Path) -> anyhow::Result<Integrity> {
    let copy = SqliteJournal::read_only(path, false).await?;
    let copy = copy.ok_or_else(|| Wrong::NoBackup { path: path.display().to_string() })?;
    Ok(integrity(&copy, None).await?)
}

/// A file that is no journal at all is no backup; the copy that was looked at has another name.
fn unfit(error: anyhow::Error, from: &Path) -> anyhow::Error {
    match error.downcast_ref::<JournalError>() {
        Some(JournalError::NotAJournal { .. }) => {
            Wrong::NoBackup { path: from.display().to_string() }.into()
        }
        _ => error,
    }
}

/// What the backup has less of. Nothing is known of a journal that cannot be read: that may be why it is replaced.
async fn less(database: &Path, backup: &Path) -> Option<String> {
    let (there, backup) = (counted(database).await?, counted(backup).await?);
    let (logs, lines) = (there.0.checked_sub(backup.0), there.1.checked_sub(backup.1));
    let parts: Vec<String> = [(logs, "log"), (lines, "line")]
        .into_iter()
        .filter_map(|(less, what)| less.filter(|less| *less > 0).map(|less| count(less, what)))
        .collect();
    (!parts.is_empty()).then(|| format!("the backup has {} less", parts.join(" and ")))
}

/// How many logs a journal has, and how many lines.
async fn counted(path: &Path) -> Option<(u64, u64)> {
    let journal = SqliteJournal::read_only(path, false).await.ok()??;
    let logs = journal.logs(None).await.ok()?;
    Some((logs.len() as u64, logs.iter().map(|log| log.last_seq).sum()))
}

/// The time, as it can stand in the name of a file.
fn now() -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || "-.".contains(*c);
    RealClock.now().to_string().chars().filter(kept).collect()
}
