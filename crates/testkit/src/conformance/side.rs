//! Checks of blobs and the inbox.

use types::{BlobRef, Command, Digest};

use super::fixture::{batch, event, log, noon};
use store::{Batch, Journal, JournalError, MAX_BLOB_BYTES, MAX_POSTED, Removal};

fn answer(text: &str) -> Command {
    Command::Answer { by: "ada".to_owned(), question: 1, text: text.to_owned() }
}

pub(super) async fn blobs_are_kept_once_under_their_hash(journal: &dyn Journal) {
    let large = vec![7_u8; 300_000];
    for bytes in [b"".as_slice(), b"\0\xff not text", &large] {
        let digest = Digest::of(bytes);
        let error = journal.blob(&digest).await.expect_err("not there yet");
        assert!(matches!(error, JournalError::NoBlob { digest: named } if named == digest));
        let expected = BlobRef { digest, bytes: bytes.len() as u64 };
        assert_eq!(journal.put_blob(bytes).await.expect("a blob"), expected);
        assert_eq!(journal.put_blob(bytes).await.expect("the same blob"), expected);
        assert_eq!(journal.blob(&digest).await.expect("the bytes"), bytes);
    }
    let huge = vec![0; MAX_BLOB_BYTES + 1];
    let error = journal.put_blob(&huge).await.expect_err("too large");
    assert!(matches!(error, JournalError::TooLarge { .. }), "{error}");
}

pub(super) async fn a_command_waits_until_it_is_answered(journal: &dyn Journal) {
    let (id, other) = (log("r_ab"), log("r_cd"));
    assert!(journal.posted(&id.run).await.expect("an inbox").is_empty());
    let first = journal.post(&id.run, noon(0), &answer("yes")).await.expect("a number");
    let foreign = journal.post(&other.run, noon(0), &answer("no")).await.expect("a number");
    let second = journal.post(&id.run, noon(1), &answer("later")).await.expect("a number");
    assert!(first < foreign && foreign < second);
    let posted = journal.posted(&id.run).await.expect("an inbox");
    assert_eq!(posted, [(first, answer("yes")), (second, answer("later"))]);

    let lease = journal.lease(&id).await.expect("a lease");
    let events = [event("answered")];
    let taking = Batch { taken: Some(first), ..batch(0, &events) };
    journal.append(&lease, taking).await.expect("an append");
    assert_eq!(journal.posted(&id.run).await.expect("an inbox"), [(second, answer("later"))]);
    let ignoring = Batch { taken: Some(second), ..batch(1, &[]) };
    assert!(journal.append(&lease, ignoring).await.expect("no events").is_empty());
    assert!(journal.posted(&id.run).await.expect("an inbox").is_empty());
    assert_eq!(journal.posted(&other.run).await.expect("an inbox").len(), 1);
    assert_eq!(journal.verify(&id).await.expect("an intact log").last_seq, 1);
}

pub(super) async fn a_command_is_answered_all_or_nothing(journal: &dyn Journal) {
    let (id, other) = (log("r_ab"), log("r_cd"));
    let mine = journal.post(&id.run, noon(0), &answer("yes")).await.expect("a number");
    let foreign = journal.post(&other.run, noon(0), &answer("no")).await.expect("a number");
    let lease = journal.lease(&id).await.expect("a lease");
    let events = [event("answered")];
    for number in [foreign, foreign + 1] {
        let taking = Batch { taken: Some(number), ..batch(0, &events) };
        let error = journal.append(&lease, taking).await.expect_err("not in this inbox");
        assert!(matches!(error, JournalError::NotPosted { .. }), "{error}");
    }
    let late = Batch { taken: Some(mine), ..batch(3, &events) };
    journal.append(&lease, late).await.expect_err("a conflict");
    assert!(journal.read(&id, 0, 10).await.expect("a read").is_empty());
    assert_eq!(journal.posted(&id.run).await.expect("an inbox").len(), 1);
    let taking = Batch { taken: Some(mine), ..batch(0, &events) };
    journal.append(&lease, taking).await.expect("an append");
    let again = Batch { taken: Some(mine), ..batch(1, &events) };
    let error = journal.append(&lease, again).await.expect_err("it was taken before");
    assert!(matches!(error, JournalError::NotPosted { .. }), "{error}");
}

pub(super) async fn an_inbox_is_bounded_and_holds_no_keys(journal: &dyn Journal) {
    let run = log("r_ab").run;
    let key = format!("sk-{}", "0a1b2c3d".repeat(6));
    journal.post(&run, noon(0), &answer(&format!("use {key}"))).await.expect("a number");
    let posted = journal.posted(&run).await.expect("an inbox");
    assert_eq!(posted[0].1, answer("use [redacted]"));
    let again = answer("again");
    let more = (1..MAX_POSTED).map(|_| journal.post(&run, noon(0), &again));
    for posted in futures::future::join_all(more).await {
        posted.expect("a number");
    }
    let error = journal.post(&run, noon(0), &answer("one more")).await.expect_err("full");
    assert!(matches!(error, JournalError::InboxFull { .. }), "{error}");
    let other = log("r_cd").run;
    journal.post(&other, noon(0), &answer("fine")).await.expect("another inbox is not full");
}

pub(super) async fn a_run_is_removed_with_its_attempts_unless_somebody_works_on_it(
    journal: &dyn Journal,
) {
    let ids = [log("r_ab"), log("r_ab/T1.1"), log("r_cd/T1.1")];
    let mut leases = Vec::new();
    for id in &ids {
        let lease = journal.lease(id).await.expect("a lease");
        journal.append(&lease, batch(0, &[event("one")])).await.expect("an append");
        leases.push(lease);
    }
    let removal = || {
        let runs = vec![ids[0].run.clone(), ids[2].run.clone()];
        Removal { runs, at: noon(1), by: "ada".to_owned(), dry_run: false }
    };
    leases.remove(0);
    let busy = journal.remove(removal()).await.expect("a removal");
    assert_eq!((busy.busy.len(), busy.lines), (2, 0), "{busy:?}");
    drop(leases);
    let removed = journal.remove(removal()).await.expect("a removal");
    assert_eq!((removed.runs.len(), removed.logs, removed.lines), (2, 3, 3), "{removed:?}");
    assert!(journal.logs(None).await.expect("a list").is_empty());
}
