//! Every way to change stored data, at every line; each must be detected and reported.

use rusqlite::Connection;

use super::*;
use crate::Damage;

const LINES: u64 = 6;

/// Changes the file behind the journal's back.
pub(super) fn edit(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("a connection");
    connection.pragma_update(None, "foreign_keys", false).expect("a setting");
    let free = "DROP TRIGGER IF EXISTS lines_are_not_changed;
        DROP TRIGGER IF EXISTS lines_are_not_removed;";
    connection.execute_batch(&format!("{free} {sql}")).expect("an edit");
}

/// Breaks the file itself, so that SQLite cannot use it.
pub(super) fn spoil(path: &Path) {
    edit(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    edit(path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999");
}

async fn damaged(edits: &[String]) -> (TempDir, SqliteJournal) {
    let (folder, path) = folder();
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), LINES).await;
    filled(&journal, &log("r_cd"), LINES).await;
    for sql in edits {
        edit(&path, sql);
    }
    (folder, journal)
}

/// The reported line; asserts that both ways of checking agree.
async fn found(edits: &[String]) -> (u64, Damage) {
    let (_folder, journal) = damaged(edits).await;
    let id = log("r_ab");
    let read = journal.read(&id, 0, usize::MAX).await.expect_err("a damaged log");
    let lines = journal.lines(&id, 0, usize::MAX).await;
    lines.expect("a damaged log can still be taken out");
    journal.verify(&log("r_cd")).await.expect("the other log is intact");
    let error = journal.verify(&id).await.expect_err("a damaged log");
    assert_eq!(error.to_string(), read.to_string());
    match error {
        JournalError::Damaged { log, seq, why } if log == id => (seq, why),
        other => panic!("{edits:?} gave {other}"),
    }
}

const OF: &str = "log = (SELECT id FROM logs WHERE name = 'r_ab')";

#[tokio::test]
async fn a_changed_line_is_noticed_wherever_it_is() {
    for seq in 1..=LINES {
        let sql = format!(
            "UPDATE lines SET line = replace(line, 'line {seq}', 'lime {seq}') WHERE {OF} AND seq = {seq}"
        );
        let (named, why) = found(&[sql]).await;
        assert_eq!(named, seq);
        assert!(matches!(why, Damage::Changed), "{why}");
    }
}

#[tokio::test]
async fn a_changed_line_is_noticed_by_a_reader_of_that_line_alone() {
    let sql =
        format!("UPDATE lines SET line = replace(line, 'line 3', 'lime 3') WHERE {OF} AND seq = 3");
    let (_folder, journal) = damaged(&[sql]).await;
    let id = log("r_ab");
    journal.read(&id, 2, 1).await.expect_err("it is not returned");
    assert_eq!(journal.read(&id, 0, 2).await.expect("the lines before are good").len(), 2);
    let mut followed = journal.follow(id, 0);
    assert!(followed.next().await.is_some_and(|item| item.is_err()));
    assert!(followed.next().await.is_none(), "an error is the last item");
}

#[tokio::test]
async fn a_missing_line_is_noticed_wherever_it_was() {
    for seq in 1..=LINES {
        let (named, why) = found(&[format!("DELETE FROM lines WHERE {OF} AND seq = {seq}")]).await;
        assert_eq!(named, seq);
        assert!(matches!(why, Damage::Missing), "{why}");
    }
}

#[tokio::test]
async fn a_tail_that_was_cut_off_is_noticed_wherever_it_began() {
    for seq in 1..=LINES {
        let (named, why) = found(&[format!("DELETE FROM lines WHERE {OF} AND seq >= {seq}")]).await;
        assert_eq!(named, seq);
        assert!(matches!(why, Damage::Missing), "{why}");
    }
}

#[tokio::test]
async fn a_recorded_end_that_does_not_fit_the_lines_is_noticed() {
    for seq in 1..LINES {
        let (named, why) =
            found(&[format!("UPDATE logs SET last_seq = {seq} WHERE name = 'r_ab'")]).await;
        assert_eq!(named, seq + 1);
        assert!(matches!(why, Damage::BeyondEnd), "{why}");
    }
    let head = Digest::of(b"x");
    let (named, why) =
        found(&[format!("UPDATE logs SET head = '{head}' WHERE name = 'r_ab'")]).await;
    assert_eq!(named, LINES);
    assert!(matches!(why, Damage::Changed), "{why}");
}

#[tokio::test]
async fn lines_that_are_not_events_or_not_at_their_place_are_noticed() {
    for seq in 1..=LINES {
        for text in ["", "{", "null", "{\"v\":1}", "\u{fffd}", "{\"v\":1,\"event\":\"no.such\"}"] {
            let sql = format!("UPDATE lines SET line = '{text}' WHERE {OF} AND seq = {seq}");
            let (named, why) = found(&[sql]).await;
            assert_eq!(named, seq);
            assert!(matches!(why, Damage::NotAnEvent(_)), "{why}");
        }
    }
    let other =
        "SELECT line FROM lines WHERE log = (SELECT id FROM logs WHERE name = 'r_cd') AND seq = 3";
    let (named, why) =
        found(&[format!("UPDATE lines SET line = ({other}) WHERE {OF} AND seq = 3")]).await;
    assert_eq!(named, 3);
    assert!(matches!(why, Damage::OutOfPlace), "{why}");
    let swap = format!(
        "UPDATE lines SET seq = CASE seq WHEN 102 THEN 3 ELSE 2 END WHERE {OF} AND seq > 100"
    );
    let aside = format!("UPDATE lines SET seq = seq + 100 WHERE {OF} AND seq IN (2, 3)");
    let (named, why) = found(&[aside, swap]).await;
    assert_eq!(named, 2);
    assert!(matches!(why, Damage::OutOfPlace), "{why}");
}

#[tokio::test]
async fn a_line_of_a_newer_program_asks_for_an_update() {
    for text in ["{\"v\":2,\"what\":\"ever\"}", "replace(line, '\"v\":1', '\"v\":2')"] {
        let value = if text.starts_with('{') { format!("'{text}'") } else { text.to_owned() };
        let sql = format!("UPDATE lines SET line = {value} WHERE {OF} AND seq = {LINES}");
        let (_folder, journal) = damaged(&[sql]).await;
        let error = journal.read(&log("r_ab"), 0, 100).await.expect_err("too new");
        assert!(matches!(error, JournalError::TooNew { version: 2 }), "{error}");
    }
}

/// An unreadable line with its right position in the chain was written by a newer version.
#[tokio::test]
async fn an_event_that_is_not_known_is_no_damage() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let id = log("r_ab");
    filled(&journal, &id, 2).await;
    let lines = journal.lines(&id, 0, 2).await.expect("lines");
    let line = lines[1].replace("tool.finished", "tool.dreamt");
    let head = Digest::of(line.as_bytes());
    edit(&path, &format!("UPDATE lines SET line = '{line}' WHERE {OF} AND seq = 2"));
    let error = journal.read(&id, 0, 9).await.expect_err("the hash is another");
    assert!(matches!(error, JournalError::Damaged { seq: 2, .. }), "{error}");
    edit(&path, &format!("UPDATE logs SET head = '{head}' WHERE name = 'r_ab'"));
    let error = journal.read(&id, 0, 9).await.expect_err("it is not known");
    assert!(matches!(error, JournalError::Newer { seq: 2, .. }), "{error}");
    let error = journal.verify(&id).await.expect_err("it is not known");
    assert!(matches!(error, JournalError::Newer { seq: 2, .. }), "{error}");
    assert_eq!(journal.read(&id, 0, 1).await.expect("the line before").len(), 1);
}

#[tokio::test]
async fn a_changed_blob_is_not_returned() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let blob = journal.put_blob(b"the whole output").await.expect("a blob");
    edit(&path, "UPDATE blobs SET bytes = CAST('another output' AS BLOB)");
    let error = journal.blob(&blob.digest).await.expect_err("not what was kept");
    assert!(matches!(error, JournalError::DamagedBlob { .. }), "{error}");
}

#[tokio::test]
async fn the_database_itself_refuses_to_change_or_remove_a_line() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 2).await;
    let connection = Connection::open(&path).expect("a connection");
    for sql in ["UPDATE lines SET line = ''", "DELETE FROM lines WHERE seq = 2"] {
        let error = connection.execute(sql, []).expect_err("append-only");
        assert!(error.to_string().contains("never"), "{error}");
    }
    journal.verify(&log("r_ab")).await.expect("an intact log");
}
