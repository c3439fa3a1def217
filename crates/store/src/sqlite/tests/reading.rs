//! Reading without writing: a journal at rest, one in use, one whose writer was killed or stopped.

use std::fs;
use std::sync::Barrier;
use std::time::SystemTime;

use super::*;

async fn reading(path: &Path, follow: bool) -> SqliteJournal {
    SqliteJournal::read_only(path, follow).await.expect("it can be read").expect("a journal")
}

/// Names, sizes and times of all files in a folder.
fn state(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let (path, found) = entry.and_then(|e| Ok((e.path(), e.metadata()?))).expect("a file");
            (path, found.len(), found.modified().expect("a time"))
        })
        .collect();
    files.sort();
    files
}

async fn at_rest(path: &Path) {
    let journal = open(path).await;
    filled(&journal, &log("r_ab"), 3).await;
    journal.rest().await.expect("rest");
    drop(journal);
    // The writer ends on its own thread; waits until it has.
    while Locks::look(path).is_some_and(|locks| locks.is_open().expect("a look")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_reader_changes_nothing_and_needs_no_right_to_write() {
    let (folder, path) = folder();
    assert!(SqliteJournal::read_only(&path, false).await.expect("no error").is_none());
    assert!(state(folder.path()).is_empty(), "nothing was made");
    at_rest(&path).await;
    for ending in ["-wal", "-shm"] {
        fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
    let before = state(folder.path());
    let journal = reading(&path, false).await;
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 3);
    assert!(!journal.is_leased(&log("r_ab")).await.expect("a look"));
    let error = journal.lease(&log("r_ab")).await.expect_err("only for reading");
    assert!(matches!(error, JournalError::ReadOnly), "{error}");
    journal.put_blob(b"x").await.expect_err("only for reading");
    drop(journal);
    assert_eq!(state(folder.path()), before);
}

#[tokio::test]
async fn a_reader_sees_what_a_writer_does_and_who_holds_a_lease() {
    let (_folder, path) = folder();
    at_rest(&path).await;
    let early = reading(&path, false).await;
    let writer = open(&path).await;
    let lease = writer.lease(&log("r_ab")).await.expect("a lease");
    let generation = lease.generation();
    append(&writer, &lease, 3, "four").await.expect("an append");
    let late = reading(&path, true).await;
    for journal in [&late, &writer] {
        assert!(journal.is_leased(&log("r_ab")).await.expect("a look"));
        assert!(!journal.is_leased(&log("r_none")).await.expect("a look"));
    }
    let mut followed = late.follow(log("r_ab"), 3);
    assert_eq!(followed.next().await.expect("a line").expect("a line").seq, 4);
    drop(lease);
    assert!(!late.is_leased(&log("r_ab")).await.expect("a look"));
    // A checkpoint into a file that is read without locks is not read in part.
    writer.rest().await.expect("rest");
    assert_eq!(early.verify(&log("r_ab")).await.expect("an intact log").last_seq, 4);
    let lease = writer.lease(&log("r_ab")).await.expect("a lease");
    assert_eq!(lease.generation(), generation + 1, "looking takes no lease");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_without_locks_that_a_writer_overtakes_is_made_again() {
    let (_folder, path) = folder();
    at_rest(&path).await;
    let early = reading(&path, false).await;
    let (begun, go) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let reads = Arc::new(AtomicU32::new(0));
    let slow = {
        let (early, begun, go, reads) = (early.clone(), begun.clone(), go.clone(), reads.clone());
        let query = move |connection: &rusqlite::Connection| {
            let end = connection.query_row("SELECT last_seq FROM logs", [], |row| row.get(0));
            if reads.fetch_add(1, Ordering::Relaxed) == 0 {
                begun.wait();
                go.wait();
            }
            end
        };
        tokio::spawn(async move { early.shared.readers.read::<i64>("reading slowly", query).await })
    };
    tokio::task::spawn_blocking(move || begun.wait()).await.expect("it has begun");
    let writer = open(&path).await;
    let lease = writer.lease(&log("r_ab")).await.expect("a lease");
    append(&writer, &lease, 3, "four").await.expect("an append");
    writer.rest().await.expect("rest");
    // This one notices that the file has changed.
    assert_eq!(early.verify(&log("r_ab")).await.expect("an intact log").last_seq, 4);
    tokio::task::spawn_blocking(move || go.wait()).await.expect("it goes on");
    assert_eq!(slow.await.expect("no panic").expect("a read"), 4);
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_writer_that_was_stopped_while_it_opened_is_not_waited_for() {
    let (_folder, path) = folder();
    at_rest(&path).await;
    let stopped = Locks::open(&path).expect("a lock file");
    let _opening = stopped.hold(lock::OPENING).expect("a lock").expect("nobody opens it");
    assert!(stopped.share().expect("a lock"));
    let journal = reading(&path, false).await;
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 3);
    drop(journal);
}

#[tokio::test]
async fn a_database_that_is_locked_as_a_whole_is_read_from_a_copy() {
    let (_folder, path) = folder();
    at_rest(&path).await;
    // As held while a database is recovered.
    let other = rusqlite::Connection::open(&path).expect("a connection");
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").expect("a setting");
    other.execute_batch("BEGIN EXCLUSIVE").expect("an exclusive lock");
    let stopped = Locks::open(&path).expect("a lock file");
    assert!(stopped.share().expect("a lock"));
    let journal = reading(&path, false).await;
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 3);
}
