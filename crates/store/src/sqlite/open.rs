//! Opening the database: a folder and files that only their owner may read, settings that survive a power cut, and the
//! tables of this version. Only one process at a time gets this far with a file. A foreign file is not touched.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use super::backup::vacuum_into;
use super::code::Broken;
use super::connection::{ConnectOptions, on_thread, use_wal};
use super::ends;
use super::files::{folder_of, make_folder, new_file, sync_folder};
use super::heads::{Heads, Recorded};
use super::lock::{Held, Locks, OPENING};
use crate::{JournalError, Loss};

/// The schema version of this program.
const VERSION: u32 = 4;
/// The migrations to each version, starting with an empty file.
const SCHEMAS: [&str; VERSION as usize] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
];
/// Marks a SQLite file as one of our journals: "Bosn".
const APPLICATION: i32 = 0x426f_736e;
/// How long to wait for another process that opens or writes the journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// A ready database, with the connection of its one writer.
pub(super) struct Opened {
    pub(super) writer: Connection,
    pub(super) readers: ConnectOptions,
    pub(super) locks: Arc<Locks>,
    pub(super) heads: Arc<Heads>,
    pub(super) losses: Vec<Loss>,
    /// The copy of the file before its migration.
    pub(super) kept_copy: Option<PathBuf>,
}

pub(super) async fn open(path: &Path) -> Result<Opened, JournalError> {
    let path = path.to_owned();
    on_thread("opening the journal", move || open_now(&path)).await?
}

fn open_now(path: &Path) -> Result<Opened, JournalError> {
    let Prepared { locks, opening, heads, recorded } = prepare(path)?;
    let broken = |broken: Broken| broken.error_at(path);
    let options = ConnectOptions::writer(path, PATIENCE);
    let connected = options.connect().map_err(Broken::while_("opening the journal"));
    let mut writer = connected.map_err(broken)?;
    let kept_copy = migrate(&mut writer, path)?;
    let losses = ends::reconcile(&writer, &heads, recorded).map_err(broken)?;
    drop(opening);
    let readers = options.reader();
    Ok(Opened { writer, readers, locks, heads: Arc::new(heads), losses, kept_copy })
}

/// The files beside the database, and the heads file as read before the database was opened.
struct Prepared {
    locks: Arc<Locks>,
    opening: Held,
    heads: Heads,
    recorded: Recorded,
}

/// Creates folder and files, and waits until no other process is opening this journal.
fn prepare(path: &Path) -> Result<Prepared, JournalError> {
    let cannot = |path: PathBuf, source| JournalError::CannotWrite { path, source };
    let folder = folder_of(path);
    make_folder(folder).map_err(|source| cannot(folder.to_owned(), source))?;
    let locks = Locks::open(path).map_err(|(path, source)| cannot(path, source))?;
    let opening = wait_for_turn(&locks)?;
    // An existing database is never opened here: closing it again would release SQLite's own locks.
    match new_file(path) {
        Ok(_) => sync_folder(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|source| cannot(path.to_owned(), source))?;
    let recorded = Recorded::read(path);
    let heads = Heads::open(path).map_err(|(path, source)| cannot(path, source))?;
    Ok(Prepared { locks, opening, heads, recorded })
}

#[expect(clippy::disallowed_methods, reason = "a file lock of another process gives no event")]
fn wait_for_turn(locks: &Arc<Locks>) -> Result<Held, JournalError> {
    let started = Instant::now();
    loop {
        let opening = match locks.share() {
            Ok(true) => locks.hold(OPENING),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        match opening {
            Ok(Some(opening)) => return Ok(opening),
            Ok(None) if started.elapsed() > PATIENCE => return Err(JournalError::Locked),
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(source) => {
                return Err(JournalError::CannotWrite { path: locks.path.clone(), source });
            }
        }
    }
}

/// The form of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It has no tables yet.
    Fresh,
    Older(u32),
    Current,
    Newer(u32),
    Foreign,
}

/// Determines the form of a database.
pub(super) fn form(connection: &Connection) -> Result<Form, Broken> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i32>(0));
    let looked = || {
        let application = number("PRAGMA application_id")?;
        let version = number("PRAGMA user_version")?;
        Ok((application, version, number("SELECT count(*) FROM sqlite_schema")?))
    };
    let (application, version, tables) =
        looked().map_err(Broken::while_("looking at the journal's tables"))?;
    Ok(match u32::try_from(version).unwrap_or(u32::MAX) {
        0 if application == 0 && tables == 0 => Form::Fresh,
        _ if application != APPLICATION => Form::Foreign,
        VERSION => Form::Current,
        version if version > VERSION => Form::Newer(version),
        version => Form::Older(version),
    })
}

/// Migrates the tables to this version, in one transaction. An older journal is copied first; returns the copy's path.
fn migrate(connection: &mut Connection, path: &Path) -> Result<Option<PathBuf>, JournalError> {
    let at_path = |broken: Broken| broken.error_at(path);
    // Nothing is changed before the file is known to be ours.
    let form = form(connection).map_err(at_path)?;
    match form {
        Form::Newer(version) => return Err(JournalError::TooNew { version }),
        Form::Foreign => return Err(JournalError::NotAJournal { path: path.to_owned() }),
        Form::Fresh | Form::Older(_) | Form::Current => {}
    }
    use_wal(connection).map_err(Broken::while_("opening the journal")).map_err(at_path)?;
    let (version, copy) = match form {
        Form::Older(version) => (version, Some(keep_copy(connection, path, version)?)),
        Form::Fresh => (0, None),
        _ => return Ok(None),
    };
    let made = make_tables(connection, version);
    made.map_err(Broken::while_("preparing the journal's tables")).map_err(at_path)?;
    Ok(copy)
}

fn make_tables(connection: &mut Connection, from: u32) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for schema in SCHEMAS.into_iter().skip(from as usize) {
        transaction.execute_batch(schema)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Copies the file under a name with its version, durably, before anything is changed. An incomplete copy is made
/// again.
fn keep_copy(connection: &Connection, path: &Path, version: u32) -> Result<PathBuf, JournalError> {
    let copy = path.with_extension(format!("v{version}.db"));
    let part = path.with_extension(format!("v{version}.part"));
    let cannot = |source| JournalError::CannotWrite { path: copy.clone(), source };
    // SQLite fills an empty file; created here, so that only its owner may read it.
    let made = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part);
    let made = made.map_err(cannot)?;
    vacuum_into(connection, &part)
        .map_err(|source| Broken::while_("copying the journal")(source).error_at(&part))?;
    made.sync_all().map_err(cannot)?;
    fs::rename(&part, &copy).map_err(cannot)?;
    sync_folder(path).map_err(cannot)?;
    Ok(copy)
}
