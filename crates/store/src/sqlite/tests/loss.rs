//! A killed process's journal with a damaged write-ahead log: every acknowledged line is there or reported as lost, and
//! the run is not driven before the loss is accepted.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::HeadsFile;

const LOGS: [&str; 4] = ["r_ab", "r_ab/T1.1", "r_cd", "r_ef/plan.1"];
const ENDINGS: [&str; 3] = ["", "-wal", ".heads"];

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// The files that a killed process leaves: as they are while a journal is open. Each line is acknowledged, the logs
/// take turns, and the last log comes late, so that it is not in the database file at all.
async fn killed() -> (TempDir, PathBuf, BTreeMap<&'static str, u64>) {
    let (folder, path) = folder();
    let journal = open(&path).await;
    let mut leases = Vec::new();
    for name in LOGS {
        leases.push(journal.lease(&log(name)).await.expect("a lease"));
    }
    let mut ends = BTreeMap::new();
    for seq in 0..5 {
        for (n, lease) in leases.iter().enumerate().filter(|(n, _)| *n < 3 || seq > 2) {
            let end = ends.entry(LOGS[n]).or_insert(0);
            append(&journal, lease, *end, &format!("line {seq}")).await.expect("an append");
            *end += 1;
        }
    }
    let left = folder.path().join("left");
    fs::create_dir(&left).expect("a folder");
    let copy = left.join("journal.db");
    for ending in ENDINGS {
        fs::copy(beside(&path, ending), beside(&copy, ending)).expect("a copy");
    }
    (folder, copy, ends)
}

/// The same files in another folder, with one bit flipped.
fn flipped(left: &Path, ending: &str, bit: usize) -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    for ending in ENDINGS {
        fs::copy(beside(left, ending), beside(&path, ending)).expect("a copy");
    }
    let damaged = beside(&path, ending);
    let mut bytes = fs::read(&damaged).expect("a file");
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(&damaged, bytes).expect("a file");
    (folder, path)
}

/// Asserts that every acknowledged line is intact or reported as lost. Returns the number of lost lines.
async fn accounted(journal: &SqliteJournal, ends: &BTreeMap<&str, u64>) -> u64 {
    let losses = journal.losses(None).await.expect("losses");
    let mut lost = 0;
    for (name, end) in ends {
        let id = log(name);
        let kept = journal.read(&id, 0, 100).await.expect("the prefix is intact").len() as u64;
        let loss = losses.iter().find(|loss| loss.log == id);
        assert_eq!(
            loss.map(|loss| (loss.kept, loss.acknowledged)),
            (kept < *end).then_some((kept, *end))
        );
        assert_eq!(journal.verify(&id).await.is_ok(), loss.is_none(), "{name}");
        lost += end - kept;
    }
    lost
}

#[tokio::test]
async fn a_flipped_bit_in_the_write_ahead_log_never_cuts_it_silently() {
    let (_folder, left, ends) = killed().await;
    let bits = fs::metadata(beside(&left, "-wal")).expect("a file").len() as usize * 8;
    let mut cut = 0;
    for n in 0..200 {
        let (_folder, path) = flipped(&left, "-wal", (n * bits / 200 + n * 13) % bits);
        let reading = SqliteJournal::read_only(&path, false).await.expect("it can be read");
        if let Some(reading) = reading {
            accounted(&reading, &ends).await;
        }
        let journal = open(&path).await;
        let lost = accounted(&journal, &ends).await;
        cut += u64::from(lost > 0);
        for loss in journal.losses(None).await.expect("losses") {
            let error = journal.lease(&loss.log).await.expect_err("not driven on silently");
            assert!(matches!(error, JournalError::Lost { .. }), "{error}");
        }
    }
    assert!(cut > 150, "most bits cut something: {cut}");
}

#[tokio::test]
async fn an_accepted_loss_is_kept_on_file_and_the_run_goes_on() {
    let (_folder, left, ends) = killed().await;
    // The checksum of the write-ahead log's header: none of it counts.
    let (folder, path) = flipped(&left, "-wal", 30 * 8);
    {
        let journal = open(&path).await;
        assert_eq!(accounted(&journal, &ends).await, ends.values().sum::<u64>());
        let new = journal.lease(&log("r_new")).await.expect("other runs are not in the way");
        append(&journal, &new, 0, "one").await.expect("an append");
    }
    let journal = open(&path).await;
    assert_eq!(journal.losses(None).await.expect("losses").len(), ends.len(), "still known");
    let run = log("r_ab").run;
    let accepted = journal.accept_losses(&run, Timestamp::from_millis(0)).await.expect("accepted");
    assert_eq!(accepted.len(), 2);
    let lease = journal.lease(&log("r_ab")).await.expect("it may go on");
    append(&journal, &lease, 0, "again").await.expect("an append");
    journal.lease(&log("r_cd")).await.expect_err("nobody accepted this one");
    drop((journal, lease));
    let journal = open(&path).await;
    journal.lease(&log("r_ab")).await.expect("it was accepted for good");
    assert_eq!(journal.losses(None).await.expect("losses").len(), 2);
    let noted = fs::read_to_string(folder.path().join("journal.db.heads.accepted")).expect("notes");
    assert!(noted.contains("log r_ab/T1.1 lost all of its 5 lines"), "{noted}");
}

#[tokio::test]
async fn a_heads_file_that_is_missing_or_damaged_is_made_anew_and_no_error() {
    let (_folder, left, ends) = killed().await;
    let bits = fs::metadata(beside(&left, ".heads")).expect("a file").len() as usize * 8;
    for bit in (0..bits).step_by(bits / 40) {
        let (_folder, path) = flipped(&left, ".heads", bit);
        let journal = open(&path).await;
        assert_eq!(accounted(&journal, &ends).await, 0);
        // A record that was never written is not missed.
        let known = journal.heads_file();
        assert!(matches!(known, HeadsFile::Remade(1)), "bit {bit}: {known:?}");
    }
    let (_folder, path) = flipped(&left, ".heads", 0);
    fs::remove_file(beside(&path, ".heads")).expect("a file");
    let reading = SqliteJournal::read_only(&path, false).await.expect("a read").expect("a journal");
    assert_eq!(reading.heads_file(), HeadsFile::Missing);
    accounted(&reading, &ends).await;
    drop(reading);
    let journal = open(&path).await;
    assert_eq!(accounted(&journal, &ends).await, 0);
    assert_eq!(journal.heads_file(), HeadsFile::Remade(1));
}

#[tokio::test]
async fn a_log_that_was_rewritten_with_a_new_chain_is_noticed() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 3).await;
    let other = open(&path.with_file_name("other.db")).await;
    let lease = other.lease(&log("r_ab")).await.expect("a lease");
    for seq in 0..3 {
        append(&other, &lease, seq, "something else").await.expect("an append");
    }
    drop((other, lease, journal));
    let from = path.with_file_name("other.db");
    let sql = format!(
        "ATTACH '{}' AS other; DELETE FROM lines; INSERT INTO lines SELECT * FROM other.lines;
        UPDATE logs SET head = (SELECT head FROM other.logs)",
        from.display()
    );
    damage::edit(&path, &sql);
    let journal = open(&path).await;
    assert_eq!(journal.read(&log("r_ab"), 0, 9).await.expect("a new chain").len(), 3);
    let error = journal.verify(&log("r_ab")).await.expect_err("another end");
    assert!(matches!(error, JournalError::Damaged { seq: 3, .. }), "{error}");
    journal.lease(&log("r_ab")).await.expect_err("another end");
}

#[tokio::test]
async fn a_log_that_was_removed_on_record_is_not_lost() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 3).await;
    filled(&journal, &log("r_cd"), 3).await;
    drop(journal);
    let sql = "CREATE TABLE IF NOT EXISTS removed (name TEXT, run TEXT, last_seq INTEGER, head TEXT, at INTEGER, by TEXT);
        INSERT INTO removed (name, run, last_seq, head, at, by) SELECT name, run, last_seq, head, 0, 'ann' FROM logs
        WHERE name = 'r_ab';
        DELETE FROM lines WHERE log = (SELECT id FROM logs WHERE name = 'r_ab');
        DELETE FROM logs WHERE name = 'r_ab'";
    damage::edit(&path, sql);
    let reading = SqliteJournal::read_only(&path, false).await.expect("a read").expect("a journal");
    assert!(reading.losses(None).await.expect("losses").is_empty());
    drop(reading);
    let journal = open(&path).await;
    assert!(journal.losses(None).await.expect("losses").is_empty());
    journal.verify(&log("r_cd")).await.expect("an intact log");
    let again = journal.lease(&log("r_ab")).await.expect("nothing stands against it");
    append(&journal, &again, 0, "a new log of this name").await.expect("an append");
}
