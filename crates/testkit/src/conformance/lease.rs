//! Checks of leases: one writer at a time, in order, and many logs concurrently.

use std::sync::Arc;

use types::{LogId, Millis};

use super::fixture::{batch, count_to, event, log, text};
use store::{Journal, JournalError, Lease};

pub(super) async fn a_log_has_one_writer_at_a_time(journal: &dyn Journal) {
    let id = log("r_ab");
    let first = journal.lease(&id).await.expect("a lease");
    assert_eq!(first.log(), &id);
    let error = journal.lease(&id).await.expect_err("somebody holds it");
    assert!(matches!(&error, JournalError::Busy { log } if *log == id), "{error}");
    let other = journal.lease(&log("r_ab/T1.1")).await.expect("another log is free");
    count_to(journal, &first, 2).await;
    let generation = first.generation();
    drop(first);
    let second = journal.lease(&id).await.expect("a dropped lease is free at once");
    assert!(second.generation() > generation);
    let events = [event("3")];
    journal.append(&second, batch(2, &events)).await.expect("the new holder writes");
    count_to(journal, &other, 1).await;
}

pub(super) async fn an_outdated_or_foreign_lease_writes_nothing(
    journal: &dyn Journal,
    other: &dyn Journal,
) {
    let id = log("r_ab");
    let old = journal.lease(&id).await.expect("a lease");
    count_to(journal, &old, 1).await;
    let forged = Lease::new(id.clone(), old.generation(), ());
    drop(old);
    let _current = journal.lease(&id).await.expect("a lease");
    let foreign = other.lease(&id).await.expect("a lease of another journal");
    for lease in [forged, foreign] {
        let events = [event("x")];
        let error = journal.append(&lease, batch(1, &events)).await.expect_err("not the writer");
        assert!(matches!(error, JournalError::Fenced { .. }), "{error}");
    }
    assert_eq!(journal.read(&id, 0, 10).await.expect("a read").len(), 1);
}

pub(super) async fn looking_for_a_holder_takes_no_lease(journal: &dyn Journal) {
    let id = log("r_ab");
    assert!(!journal.is_leased(&id).await.expect("a look"));
    let lease = journal.lease(&id).await.expect("a lease");
    assert!(journal.is_leased(&id).await.expect("a look"));
    journal.renew(&lease).await.expect("the holder may renew it");
    let generation = lease.generation();
    drop(lease);
    assert!(!journal.is_leased(&id).await.expect("a look"));
    let next = journal.lease(&id).await.expect("a lease");
    assert_eq!(next.generation(), generation + 1);
}

pub(super) async fn a_lease_that_is_not_renewed_expires_and_says_so(
    journal: &dyn Journal,
    after: Millis,
    pass: impl Fn(Millis),
) {
    let id = log("r_ab");
    let first = journal.lease(&id).await.expect("a lease");
    let every = first.renew_every().expect("it wants to be renewed");
    assert!(every < after.duration(), "in time");
    for _ in 0..3 {
        pass(Millis::from(after.duration() * 9 / 10));
        journal.renew(&first).await.expect("still held");
    }
    journal.lease(&id).await.expect_err("it was renewed");
    count_to(journal, &first, 1).await;
    assert!(futures::poll!(std::pin::pin!(first.lost())).is_pending());
    pass(after);
    assert!(!journal.is_leased(&id).await.expect("a look"));
    let second = journal.lease(&id).await.expect("the first one expired");
    first.lost().await;
    let error = journal.renew(&first).await.expect_err("lost");
    assert!(matches!(error, JournalError::Fenced { .. }), "{error}");
    let error = journal.append(&first, batch(1, &[event("x")])).await.expect_err("lost");
    assert!(matches!(error, JournalError::Fenced { .. }), "{error}");
    drop(first);
    assert!(journal.is_leased(&id).await.expect("a look"), "it is the second one's now");
    journal.append(&second, batch(1, &[event("2")])).await.expect("the new holder writes");
}

pub(super) async fn many_logs_are_written_at_once(journal: Arc<dyn Journal>) {
    const LOGS: u32 = 100;
    const LINES: u64 = 20;
    let name = |n: u32| -> LogId { log(&format!("r_many/T{n}.1")) };
    let writers = (0..LOGS).map(|n| {
        let journal = journal.clone();
        tokio::spawn(async move {
            let lease = journal.lease(&name(n)).await.expect("a lease");
            for seq in (0..LINES).step_by(2) {
                let events = [event(format!("{n}:{seq}")), event("and one more")];
                let stored = journal.append(&lease, batch(seq, &events)).await.expect("an append");
                assert_eq!(
                    stored.iter().map(|line| line.seq).collect::<Vec<_>>(),
                    [seq + 1, seq + 2]
                );
            }
            // A rejected append does not affect others in the same transaction.
            let error =
                journal.append(&lease, batch(1, &[event("x")])).await.expect_err("a conflict");
            assert!(matches!(error, JournalError::Conflict { .. }), "{error}");
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer that did not panic");
    }
    for n in 0..LOGS {
        let summary = journal.verify(&name(n)).await.expect("an intact log");
        assert_eq!(summary.last_seq, LINES);
        let read = journal.read(&name(n), 2, 1).await.expect("a read");
        assert_eq!(text(&read[0]), format!("{n}:2"));
    }
}
