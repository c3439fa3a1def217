//! Checks of stored lines: order, pages, the hash chain, atomicity.

use serde_json::Value;
use types::{Digest, Event, SessionEnd, SessionId};

use super::fixture::{batch, count_to, event, is_conflict, log, noon, text};
use store::{Batch, Journal, JournalError, MAX_LINE_BYTES, Redactor};

pub(super) async fn nothing_is_there_before_the_first_append(journal: &dyn Journal) {
    let id = log("r_none");
    assert!(journal.read(&id, 0, 10).await.expect("a read").is_empty());
    assert!(journal.lines(&id, 0, 10).await.expect("lines").is_empty());
    let _lease = journal.lease(&id).await.expect("a lease");
    assert!(journal.logs(None).await.expect("a list").is_empty(), "an empty log is not listed");
    let error = journal.verify(&id).await.expect_err("nothing to verify");
    assert!(matches!(error, JournalError::UnknownLog { .. }), "{error}");
}

pub(super) async fn what_is_appended_is_what_is_read(journal: &dyn Journal) {
    let id = log("r_ab/T1.2");
    let lease = journal.lease(&id).await.expect("a lease");
    let first = [event("one"), event("two \u{0} ü \"quoted\" \u{2028}")];
    let number = Value::from(0.1 + 0.2);
    let second = [Redactor::none().clean(Event::SessionEnded {
        session: SessionId::ROOT,
        end: SessionEnd::Submitted { submission: number },
        used: None,
    })];
    let mut stored = journal.append(&lease, batch(0, &first)).await.expect("an append");
    let at = noon(7);
    let next = Batch { expect: 2, at, events: &second, taken: None };
    stored.extend(journal.append(&lease, next).await.expect("an append"));
    assert_eq!(stored.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(stored[1].event, *first[1].event());
    assert_eq!((stored[0].at, stored[2].at), (noon(0), at));
    assert!(stored.iter().all(|line| line.log() == id));
    assert_eq!(journal.read(&id, 0, 10).await.expect("a read"), stored);
}

pub(super) async fn each_line_holds_the_hash_of_the_one_before(journal: &dyn Journal) {
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    count_to(journal, &lease, 5).await;
    let lines = journal.lines(&id, 0, 10).await.expect("lines");
    let read = journal.read(&id, 0, 10).await.expect("a read");
    let mut before = Digest::ZERO;
    for (line, envelope) in lines.iter().zip(&read) {
        assert_eq!(envelope.prev, before);
        assert_eq!(line, &serde_json::to_string(envelope).expect("JSON"));
        before = Digest::of(line.as_bytes());
    }
    let summary = journal.verify(&id).await.expect("an intact log");
    assert_eq!((summary.last_seq, summary.head), (5, before));
}

pub(super) async fn pages_are_cut_where_they_were_asked_to_be(journal: &dyn Journal) {
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    count_to(journal, &lease, 6).await;
    for after in 0..9 {
        for limit in 0..9 {
            let page = journal.read(&id, after, limit).await.expect("a page");
            let found: Vec<u64> = page.iter().map(|line| line.seq).collect();
            let expected: Vec<u64> = (after + 1..=6).take(limit).collect();
            assert_eq!(found, expected, "after {after}, at most {limit}");
            let lines = journal.lines(&id, after, limit).await.expect("lines");
            assert_eq!(lines.len(), expected.len());
        }
    }
    assert_eq!(journal.read(&id, 0, usize::MAX).await.expect("all").len(), 6);
}

pub(super) async fn a_writer_that_missed_something_is_told_so(journal: &dyn Journal) {
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    count_to(journal, &lease, 2).await;
    for expect in [0, 1, 3, 99] {
        let events = [event("x"), event("y")];
        let error = journal.append(&lease, batch(expect, &events)).await.expect_err("a conflict");
        assert!(is_conflict(&error, 2), "{error}");
    }
    assert_eq!(journal.read(&id, 0, 10).await.expect("a read").len(), 2);
    let events = [event("3")];
    journal.append(&lease, batch(2, &events)).await.expect("the right place still works");
    journal.verify(&id).await.expect("an intact log");
}

pub(super) async fn a_line_that_could_not_be_read_back_is_not_written(journal: &dyn Journal) {
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    let mut submission = Value::from("deep");
    for _ in 0..126 {
        submission = Value::from(vec![submission]);
    }
    let end = SessionEnd::Submitted { submission };
    let deep = Event::SessionEnded { session: SessionId::ROOT, end, used: None };
    let events = [event("first"), Redactor::none().clean(deep)];
    let error = journal.append(&lease, batch(0, &events)).await.expect_err("not readable");
    assert!(matches!(error, JournalError::Unreadable { seq: 2, .. }), "{error}");
    assert!(journal.read(&id, 0, 10).await.expect("a read").is_empty(), "all or nothing");
    let long = [event("x".repeat(MAX_LINE_BYTES))];
    let error = journal.append(&lease, batch(0, &long)).await.expect_err("belongs into a blob");
    assert!(matches!(error, JournalError::TooLarge { .. }), "{error}");
    journal.append(&lease, batch(0, &events[..1])).await.expect("the log can still be written");
}

pub(super) async fn logs_are_listed_with_the_newest_first(journal: &dyn Journal) {
    for (minute, name) in [(1, "r_aa"), (2, "r_bb"), (3, "r_aa/T1.1"), (4, "r_aa/plan.1")] {
        let lease = journal.lease(&log(name)).await.expect("a lease");
        let events = [event(name)];
        let first = Batch { expect: 0, at: noon(minute), events: &events, taken: None };
        journal.append(&lease, first).await.expect("an append");
    }
    let lease = journal.lease(&log("r_aa")).await.expect("a lease");
    let events = [event("later")];
    let later = Batch { expect: 1, at: noon(9), events: &events, taken: None };
    let stored = journal.append(&lease, later).await.expect("an append");
    let all = journal.logs(None).await.expect("a list");
    let names: Vec<String> = all.iter().map(|found| found.log.to_string()).collect();
    assert_eq!(names, ["r_aa/plan.1", "r_aa/T1.1", "r_bb", "r_aa"]);
    assert_eq!((all[3].created, all[3].updated, all[3].last_seq), (noon(1), noon(9), 2));
    let line = serde_json::to_string(&stored[0]).expect("JSON");
    assert_eq!(all[3].head, Digest::of(line.as_bytes()));
    assert_eq!(journal.verify(&log("r_aa")).await.expect("intact"), all[3]);
    let run = log("r_aa").run;
    let of_run = journal.logs(Some(&run)).await.expect("a list");
    assert_eq!(of_run.iter().filter(|found| found.log.run == run).count(), 3);
    assert_eq!(of_run.len(), 3);
    let read = journal.read(&log("r_aa"), 1, 1).await.expect("a read");
    assert_eq!(text(&read[0]), "later");
}
