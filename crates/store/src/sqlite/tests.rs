//! The journal on disk: two processes on one file, and a full disk. A second journal on the same file simulates another
//! process: it has its own connections and its own open lock file.

mod backup;
mod damage;
mod feed;
mod files;
mod loss;
mod reading;
mod remove;
mod summaries;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use tempfile::TempDir;
use types::{CallId, CallOutcome, Event, SessionId, Shown};

use super::*;
use crate::{Clean, Redactor};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    (folder, path)
}

async fn open(path: &Path) -> SqliteJournal {
    SqliteJournal::open(path).await.expect("a journal")
}

fn log(text: &str) -> LogId {
    text.parse().expect("a log id")
}

fn said(text: impl Into<String>) -> [Clean; 1] {
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
    let output = Shown { text: text.into(), ..Shown::default() };
    [Redactor::none().clean(Event::ToolFinished {
        call,
        outcome: CallOutcome::Ok,
        output,
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    })]
}

async fn append(
    journal: &SqliteJournal,
    lease: &Lease,
    expect: u64,
    text: &str,
) -> Result<Vec<Envelope>, JournalError> {
    let events = said(text);
    let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
    journal.append(lease, batch).await
}

/// A log with `count` lines, without a lease.
async fn filled(journal: &SqliteJournal, id: &LogId, count: u64) {
    let lease = journal.lease(id).await.expect("a lease");
    for seq in 0..count {
        append(journal, &lease, seq, &format!("line {}", seq + 1)).await.expect("an append");
    }
}

#[tokio::test]
async fn a_log_has_one_writer_among_all_processes() {
    let (_folder, path) = folder();
    let (here, there) = (open(&path).await, open(&path).await);
    let id = log("r_ab");
    let first = here.lease(&id).await.expect("a lease");
    let error = there.lease(&id).await.expect_err("held elsewhere");
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    let _other = there.lease(&log("r_cd")).await.expect("another log is free");
    append(&here, &first, 0, "one").await.expect("an append");
    let generation = first.generation();
    drop(first);
    let second = there.lease(&id).await.expect("free at once");
    assert!(second.generation() > generation);
    append(&there, &second, 1, "two").await.expect("goes on where the other stopped");
    here.lease(&id).await.expect_err("now it is held over there");
    assert_eq!(here.verify(&id).await.expect("an intact log").last_seq, 2);
}

#[tokio::test]
async fn a_holder_that_is_gone_holds_nothing() {
    let (_folder, path) = folder();
    let id = log("r_ab");
    let gone = open(&path).await;
    filled(&gone, &id, 3).await;
    let lease = gone.lease(&id).await.expect("a lease");
    drop((gone, lease));
    let journal = open(&path).await;
    let lease = journal.lease(&id).await.expect("free at once");
    append(&journal, &lease, 3, "four").await.expect("an append");
    assert_eq!(journal.verify(&id).await.expect("an intact log").last_seq, 4);
}

#[tokio::test]
async fn a_writer_whose_lease_was_overtaken_is_fenced_off() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    append(&journal, &lease, 0, "one").await.expect("an append");
    damage::edit(&path, "UPDATE logs SET generation = generation + 1");
    let error = append(&journal, &lease, 1, "two").await.expect_err("fenced");
    assert!(matches!(error, JournalError::Fenced { .. }), "{error}");
    assert_eq!(journal.verify(&id).await.expect("an intact log").last_seq, 1);
}

#[tokio::test]
async fn an_append_that_nobody_waits_for_leaves_the_log_usable() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let lease = journal.lease(&log("r_ab")).await.expect("a lease");
    {
        // Begun, and dropped; usually before it is written.
        let mut abandoned = std::pin::pin!(append(&journal, &lease, 0, "abandoned"));
        let _ = futures::poll!(abandoned.as_mut());
    }
    let error = append(&journal, &lease, 0, "again").await.expect_err("it was written after all");
    assert!(matches!(error, JournalError::Conflict { found: 1, .. }), "{error}");
    append(&journal, &lease, 1, "two").await.expect("the lease knows the new end");
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_write_and_follow_side_by_side() {
    const LINES: u64 = 25;
    let (_folder, path) = folder();
    let journals = [open(&path).await, open(&path).await];
    let mut tasks = Vec::new();
    for n in 0..20 {
        let id = log(&format!("r_side/T{n}.1"));
        let (writer, reader) = (journals[n % 2].clone(), journals[(n + 1) % 2].clone());
        let mut followed = reader.follow(id.clone(), 0);
        tasks.push(tokio::spawn(async move {
            filled(&writer, &id, LINES).await;
            // The reader learns of it only from the file.
            for seq in 1..=LINES {
                let next = tokio::time::timeout(Duration::from_secs(60), followed.next()).await;
                let line = next.expect("in time").expect("no end").expect("a line");
                assert_eq!(line.seq, seq);
            }
            assert_eq!(reader.verify(&id).await.expect("an intact log").last_seq, LINES);
        }));
    }
    for task in tasks {
        task.await.expect("every line once, in order");
    }
}

#[tokio::test]
async fn a_full_disk_acknowledges_nothing_and_damages_nothing() {
    let (_folder, path) = folder();
    let opened = open::open(&path).await.expect("a database");
    opened.writer.pragma_update(None, "max_page_count", 40).expect("a small disk");
    let journal = SqliteJournal::start(&path, opened).expect("a journal");
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    let text = "x".repeat(9_000);
    let mut stored = 0;
    let error = loop {
        match append(&journal, &lease, stored, &text).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, JournalError::Full), "{error}");
    assert!(matches!(append(&journal, &lease, stored, &text).await, Err(JournalError::Full)));
    assert_eq!(journal.verify(&id).await.expect("an intact log").last_seq, stored);
    let error = journal.put_blob(text.repeat(50).as_bytes()).await.expect_err("no room");
    assert!(matches!(error, JournalError::Full), "{error}");
    drop(journal);
    drop(lease);
    let larger = open(&path).await;
    let lease = larger.lease(&id).await.expect("a lease");
    append(&larger, &lease, stored, &text).await.expect("there is space again");
    assert_eq!(larger.verify(&id).await.expect("an intact log").last_seq, stored + 1);
}

#[tokio::test]
async fn work_that_cannot_be_done_does_not_take_others_with_it() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let (good, bad) = (log("r_good"), log("r_bad"));
    let (good_lease, bad_lease) =
        (journal.lease(&good).await.expect("a lease"), journal.lease(&bad).await.expect("a lease"));
    damage::edit(
        &path,
        "INSERT INTO lines (log, seq, line) SELECT id, 1, '{}' FROM logs WHERE name = 'r_bad'",
    );
    let (one, two, three) = futures::join!(
        append(&journal, &good_lease, 0, "one"),
        append(&journal, &bad_lease, 0, "one"),
        journal.put_blob(b"kept"),
    );
    one.expect("not disturbed");
    two.expect_err("the place is taken");
    let blob = three.expect("not disturbed");
    assert_eq!(journal.blob(&blob.digest).await.expect("the bytes"), b"kept");
    assert_eq!(journal.verify(&good).await.expect("an intact log").last_seq, 1);
}

/// C56: a failed write is reported, and nothing is recorded after it: no run continues unlogged.
#[tokio::test]
async fn a_failure_of_the_disk_stops_the_writer_for_good() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    append(&journal, &lease, 0, "one").await.expect("an append");
    damage::spoil(&path);
    append(&journal, &lease, 1, "two").await.expect_err("the file is broken");
    let error = append(&journal, &lease, 1, "two").await.expect_err("and stays so");
    assert!(matches!(error, JournalError::Stopped), "{error}");
}

#[tokio::test]
async fn logs_that_are_followed_and_not_looked_at_do_not_hold_up_other_reads() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let id = log("r_0a1b2c3d");
    filled(&journal, &id, 3).await;
    // More than there are connections; each has started to read and is then left alone.
    let mut followed: Vec<_> = (0..20).map(|_| journal.follow(id.clone(), 0)).collect();
    for stream in &mut followed {
        futures::FutureExt::now_or_never(stream.next());
    }
    let read = tokio::time::timeout(Duration::from_secs(60), journal.read(&id, 0, 10)).await;
    assert_eq!(read.expect("it has its turn").expect("a page").len(), 3);
}
