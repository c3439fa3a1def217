//! Removing runs: the removed, kept and recorded data.

use rusqlite::Connection;
use types::BlobRef;

use super::super::lock::Locks;
use super::super::remove;
use super::*;
use crate::{Removal, Removed};

fn removal(runs: &[&str], dry_run: bool) -> Removal {
    let runs = runs.iter().map(|run| log(run).run).collect();
    Removal { runs, at: Timestamp::from_millis(7), by: "ann".to_owned(), dry_run }
}

/// A run with an attempt that references a blob, and a blob that both reference.
async fn run_with_blobs(journal: &SqliteJournal, run: &str) -> (BlobRef, BlobRef) {
    let own = journal.put_blob(format!("of {run}").as_bytes()).await.expect("a blob");
    let inner = journal.put_blob(b"named by a blob alone").await.expect("a blob");
    let both = format!("the policy of all, see {}", inner.digest);
    let both = journal.put_blob(both.as_bytes()).await.expect("a blob");
    filled(journal, &log(run), 3).await;
    let id = log(&format!("{run}/T1.1"));
    let lease = journal.lease(&id).await.expect("a lease");
    let text = format!("sees {} and {}", own.digest, both.digest);
    append(journal, &lease, 0, &text).await.expect("an append");
    (own, both)
}

#[tokio::test]
async fn a_removed_run_leaves_a_record_and_takes_nothing_of_others() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let (old, both) = run_with_blobs(&journal, "r_aa").await;
    let (new, _) = run_with_blobs(&journal, "r_bb").await;
    let head = journal.verify(&log("r_aa")).await.expect("a log").head;
    let would = journal.remove(removal(&["r_aa"], true)).await.expect("a dry run");
    assert_eq!((would.logs, would.lines, would.blobs), (2, 4, 1), "{would:?}");
    assert_eq!(journal.logs(None).await.expect("the logs").len(), 4, "nothing has happened");
    let removed = journal.remove(removal(&["r_aa"], false)).await.expect("removed");
    assert_eq!(removed, would);
    let left = journal.logs(None).await.expect("the logs");
    assert!(left.iter().all(|left| left.log.run == log("r_bb").run) && left.len() == 2);
    for left in &left {
        journal.verify(&left.log).await.expect("an intact log");
    }
    journal.blob(&old.digest).await.expect_err("it is gone");
    for blob in [&new, &both] {
        journal.blob(&blob.digest).await.expect("it is still named");
    }
    journal.blob(&Digest::of(b"named by a blob alone")).await.expect("it is still named");
    let connection = Connection::open(&path).expect("a connection");
    let record: (String, i64, String) = connection
        .query_row("SELECT head, last_seq, by FROM removed WHERE name = 'r_aa'", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .expect("a record");
    assert_eq!(record, (head.to_string(), 3, "ann".to_owned()));
    for sql in ["DELETE FROM removed", "UPDATE removed SET by = 'ben'", "DELETE FROM lines"] {
        let error = connection.execute(sql, []).expect_err("it stays");
        assert!(error.to_string().contains("never"), "{error}");
    }
    let gone = journal.remove(removal(&["r_aa", "r_bb"], false)).await.expect("removed");
    assert_eq!((gone.lines, gone.blobs), (4, 3), "{gone:?}");
}

#[tokio::test]
async fn what_somebody_works_on_or_may_be_about_to_name_stays() {
    let (_folder, path) = folder();
    let (here, there) = (open(&path).await, open(&path).await);
    let (own, _) = run_with_blobs(&here, "r_aa").await;
    run_with_blobs(&here, "r_bb").await;
    let lease = there.lease(&log("r_bb/T1.1")).await.expect("a lease");
    let removed = here.remove(removal(&["r_aa", "r_bb"], false)).await.expect("removed");
    assert_eq!(removed.runs, [log("r_aa").run]);
    assert_eq!(removed.busy, [log("r_bb").run]);
    assert!(removed.in_use && removed.blobs == 0, "{removed:?}");
    here.blob(&own.digest).await.expect("another process may be about to name it");
    append(&there, &lease, 1, "goes on").await.expect("its lease still holds");
    drop((lease, there));
    // The other journal is closed when its writer has ended.
    let mut swept = Removed::default();
    for _ in 0..10_000 {
        swept = here.remove(removal(&[], false)).await.expect("removed");
        if !swept.in_use {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!((swept.in_use, swept.blobs), (false, 1), "{swept:?}");
    here.blob(&own.digest).await.expect_err("it is gone");
}

/// Only the list of what would go is written, and taken back.
#[tokio::test]
async fn a_dry_run_removes_no_line_for_the_moment_either() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    run_with_blobs(&journal, "r_aa").await;
    drop(journal);
    let connection = Connection::open(&path).expect("a connection");
    let locks = Locks::open(&path).expect("the lock file");
    let removal = removal(&["r_aa"], true);
    let (would, _guards) =
        remove::remove(&connection, &locks, &removal).expect("it is read").expect("a dry run");
    assert_eq!((would.runs.len(), would.logs, would.lines), (1, 2, 4));
    assert_eq!(connection.total_changes(), would.logs);
    assert!(locks.hold(1).expect("a lock").is_some(), "no log is locked");
}
