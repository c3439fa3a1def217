//! Opening: created files, permissions, and refusals.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[tokio::test]
async fn only_the_owner_may_read_a_journal() {
    let (folder, _) = folder();
    let path = folder.path().join("new").join("deeper").join("journal.db");
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 1).await;
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert_eq!(mode(&folder.path().join("new")), 0o700);
    let mut files = 0;
    for file in fs::read_dir(path.parent().expect("a folder")).expect("a list") {
        assert_eq!(mode(&file.expect("a file").path()), 0o600);
        files += 1;
    }
    assert_eq!(files, 5, "the database, its two companions, the lock file, the heads");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let (folder, _) = folder();
    let file = folder.path().join("file");
    fs::write(&file, "x").expect("a file");
    let error = SqliteJournal::open(&file.join("sub/journal.db")).await.expect_err("no folder");
    assert!(matches!(&error, JournalError::CannotWrite { path, .. } if path.starts_with(&file)));
    let error = SqliteJournal::open(folder.path()).await.expect_err("a folder is no file");
    assert!(matches!(error, JournalError::CannotWrite { .. }), "{error}");
}

#[tokio::test]
async fn a_folder_that_may_not_be_written_to_is_named() {
    let (folder, path) = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).expect("a mode");
    let probe = folder.path().join("probe");
    if fs::write(&probe, "x").is_ok() {
        // This user may write everywhere, so there is nothing to test.
        return;
    }
    let error = SqliteJournal::open(&path).await.expect_err("may not write");
    assert!(matches!(error, JournalError::CannotWrite { .. }), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_a_journal_is_left_alone() {
    let (_folder, path) = folder();
    let text = "this is not a database, it is a letter\n".repeat(100);
    fs::write(&path, &text).expect("a file");
    let error = SqliteJournal::open(&path).await.expect_err("a letter");
    assert!(matches!(error, JournalError::NotAJournal { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("the letter"), text);

    let (_folder, path) = folder_with("CREATE TABLE guests (name TEXT)").await;
    let before = fs::read(&path).expect("a database");
    let error = SqliteJournal::open(&path).await.expect_err("somebody else's database");
    assert!(matches!(error, JournalError::NotAJournal { .. }), "{error}");
    assert_eq!(fs::read(&path).expect("a database"), before);
}

async fn folder_with(sql: &'static str) -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    fs::write(&path, "").expect("a file");
    damage::edit(&path, sql);
    (folder, path)
}

#[tokio::test]
async fn a_journal_of_a_newer_program_asks_for_an_update() {
    let (_folder, path) = folder();
    drop(open(&path).await);
    damage::edit(&path, "PRAGMA user_version = 7");
    let error = SqliteJournal::open(&path).await.expect_err("too new");
    assert!(matches!(error, JournalError::TooNew { version: 7 }), "{error}");
    for follow in [false, true] {
        let error = SqliteJournal::read_only(&path, follow).await.expect_err("too new");
        assert!(matches!(error, JournalError::TooNew { version: 7 }), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_open_a_new_journal_at_the_same_moment() {
    let (_folder, path) = folder();
    let openers = (0..8).map(|n| {
        let path = path.clone();
        tokio::spawn(async move {
            let journal = open(&path).await;
            filled(&journal, &log(&format!("r_{n}{n}")), 2).await;
        })
    });
    for opener in openers.collect::<Vec<_>>() {
        opener.await.expect("an open journal");
    }
    assert_eq!(open(&path).await.logs(None).await.expect("a list").len(), 8);
}
