//! Backups during writes, and restoring; the order of steps in `backup.rs` shows the state after a crash between them.

use std::fs;

use super::*;
use crate::{HeadsFile, Restore};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_consistent_while_lines_are_written() {
    let (folder, path) = folder();
    let journal = open(&path).await;
    let writing = {
        let journal = journal.clone();
        tokio::spawn(async move { filled(&journal, &log("r_ab"), 200).await })
    };
    for n in 0..5 {
        let to = folder.path().join(format!("{n}.db"));
        journal.backup(&to).await.expect("a backup");
        let error = journal.backup(&to).await.expect_err("it replaces nothing");
        assert!(matches!(error, JournalError::CannotWrite { .. }), "{error}");
        let copy = SqliteJournal::read_only(&to, false).await.expect("a read").expect("a journal");
        let lines = copy.read(&log("r_ab"), 0, 1_000).await.expect("a prefix").len() as u64;
        match copy.verify(&log("r_ab")).await {
            Ok(summary) => assert_eq!(summary.last_seq, lines),
            Err(error) => assert!(matches!(error, JournalError::UnknownLog { .. }), "{error}"),
        }
    }
    writing.await.expect("the writer was not disturbed");
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 200);
}

#[tokio::test]
async fn a_backup_takes_the_place_of_a_journal_that_nobody_has_open() {
    let (folder, path) = folder();
    let (copy, aside) = (folder.path().join("copy.db"), folder.path().join("aside.db"));
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 3).await;
    journal.backup(&copy).await.expect("a backup");
    filled(&journal, &log("r_cd"), 3).await;
    let error = Restore::stage(&path, &copy).expect_err("somebody has it open");
    assert!(matches!(error, JournalError::Locked), "{error}");
    drop(journal);
    let restore = loop {
        match Restore::stage(&path, &copy) {
            Ok(restore) => break restore,
            // The writer is still shutting down.
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert!(restore.staged().exists());
    restore.finish(&aside).expect("it is restored");
    let journal = open(&path).await;
    assert_eq!(journal.verify(&log("r_ab")).await.expect("an intact log").last_seq, 3);
    assert!(journal.losses(None).await.expect("losses").is_empty(), "nothing is missed");
    assert_eq!(journal.heads_file(), HeadsFile::Whole);
    assert_eq!(journal.logs(None).await.expect("a list").len(), 1);
    let old = SqliteJournal::read_only(&aside, false).await.expect("a read").expect("a journal");
    assert_eq!(old.verify(&log("r_cd")).await.expect("it was kept").last_seq, 3);
    assert!(!fs::exists(folder.path().join("journal.db.restoring")).expect("a look"));
}
