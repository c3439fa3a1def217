//! Measures the cost of an append: one log alone, one log in batches, and 100 logs in parallel, on disk and in memory.
//! Run it with `cargo run --profile dist -p store --example append_cost [FOLDER]`; the folder selects the disk.
#![allow(clippy::print_stdout, reason = "printing figures is all that it does")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Batch, Clean, Journal, JournalError, MemoryJournal, Redactor, SqliteJournal};
use types::{CallId, CallOutcome, Event, LogId, NotAnId, SessionId, Shown, Timestamp};

const LOGS: u32 = 100;

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Name(#[from] NotAnId),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

#[expect(clippy::disallowed_methods, reason = "a person says where to measure")]
#[tokio::main]
async fn main() -> Result<(), Failed> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let path = folder.path().join("journal.db");
    let started = Instant::now();
    drop(SqliteJournal::open(&path).await?);
    show("sqlite", "making a journal (once)", started.elapsed(), 1);
    let started = Instant::now();
    let disk = SqliteJournal::open(&path).await?;
    show("sqlite", "opening a journal (once)", started.elapsed(), 1);
    measure("sqlite", Arc::new(disk)).await?;
    measure("memory", Arc::new(MemoryJournal::new())).await
}

async fn measure(name: &str, journal: Arc<dyn Journal>) -> Result<(), Failed> {
    let started = Instant::now();
    let events = vec![event(); 100];
    let cleaned = Redactor::none();
    events.iter().for_each(|clean| drop(cleaned.clean(clean.event().clone())));
    show(name, "cleaning an event", started.elapsed(), 100);

    let taken = write(journal.clone(), "r_alone".parse()?, 2_000, 1).await?;
    show(name, "one log, one event an append", taken, 2_000);
    let taken = write(journal.clone(), "r_batch".parse()?, 100, 20).await?;
    show(name, "one log, 20 events an append", taken, 2_000);

    let started = Instant::now();
    let mut writers = Vec::new();
    for n in 0..LOGS {
        let log: LogId = format!("r_many/T{n}.1").parse()?;
        writers.push(tokio::spawn(write(journal.clone(), log, 100, 1)));
    }
    for writer in writers {
        writer.await??;
    }
    show(name, "100 logs, one event an append", started.elapsed(), u64::from(LOGS) * 100);

    let started = Instant::now();
    let read = journal.read(&"r_alone".parse()?, 0, usize::MAX).await?;
    show(name, "reading and checking", started.elapsed(), read.len() as u64);
    Ok(())
}

async fn write(
    journal: Arc<dyn Journal>,
    log: LogId,
    appends: u64,
    size: usize,
) -> Result<Duration, JournalError> {
    let lease = journal.lease(&log).await?;
    let events = vec![event(); size];
    let started = Instant::now();
    for n in 0..appends {
        let at = Timestamp::from_millis(0);
        let batch = Batch { expect: n * size as u64, at, events: &events, taken: None };
        journal.append(&lease, batch).await?;
    }
    Ok(started.elapsed())
}

/// An event whose line has about 500 bytes.
fn event() -> Clean {
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
    let output = Shown { text: "a line of output\n".repeat(12), ..Shown::default() };
    Redactor::none().clean(Event::ToolFinished {
        call,
        outcome: CallOutcome::Ok,
        output,
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    })
}

fn show(journal: &str, what: &str, taken: Duration, events: u64) {
    let micros = taken.as_secs_f64() * 1e6 / events as f64;
    println!("{journal:8} {what:32} {micros:8.1} µs each");
}
