//! `bosun backup` and `bosun restore`: a verified copy of the journal while it is in use, and the way back.

use std::path::Path;

use runtime::store::{Restore, SqliteJournal};
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
    let checked = checked(staged.staged()).await?;
    if !checked.flaws.is_empty() {
        verify::told(&checked)?;
        print::note("nothing was restored");
        return Ok(Exit::Damaged);
    }
    let aside = database.with_file_name(format!("journal.db.before-{}", now()));
    let replaced = database.exists();
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

/// The time, as it can stand in the name of a file.
fn now() -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || "-.".contains(*c);
    RealClock.now().to_string().chars().filter(kept).collect()
}
