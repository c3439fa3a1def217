//! Readers of the feed: every line once, also across reconnects and restarts; filters; pieces that a slow reader
//! misses.

use std::path::Path;
use std::time::Duration;

use store::{Batch, Journal, MemoryJournal, Redactor, SqliteJournal};
use types::{Event, LogId, SessionId, Timestamp};

use super::*;
use crate::{Config, DeltaKind};

fn log(text: &str) -> LogId {
    text.parse().expect("a log id")
}

/// Appends a line to a log, here the release of a retry.
async fn write(journal: &dyn Journal, id: &str, task: &str) {
    let id = log(id);
    let lease = journal.lease(&id).await.expect("a lease");
    let expect = journal.read(&id, 0, usize::MAX).await.expect("a read").len() as u64;
    let event = Event::RetryReleased { task: task.parse().expect("a task") };
    let events = [Redactor::none().clean(event)];
    let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
    journal.append(&lease, batch).await.expect("an append");
}

async fn next(feed: &mut Feed) -> FeedItem {
    let next = tokio::time::timeout(Duration::from_secs(60), feed.next()).await;
    next.expect("in time").expect("no end").expect("no error")
}

async fn next_line(feed: &mut Feed) -> Positioned {
    match next(feed).await {
        FeedItem::Line(line) => *line,
        other => panic!("{other:?}"),
    }
}

async fn on_disk(folder: &Path) -> Bosun {
    let journal = SqliteJournal::open(&folder.join("journal.db")).await.expect("a journal");
    Bosun::new(Config::new(Arc::new(journal), folder.join("home")))
}

fn in_memory() -> Bosun {
    Bosun::new(Config::new(Arc::new(MemoryJournal::new()), "unused"))
}

fn piece_of(run: &str, text: &str) -> Delta {
    let (log, session) = (log(run), SessionId::ROOT);
    Delta { log, session, call: None, check: None, kind: DeltaKind::Text, text: text.to_owned() }
}

#[tokio::test]
async fn a_reader_that_comes_back_after_a_restart_sees_every_line_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = Vec::new();
    let mut cursor = Some(0);
    for start in 0..3 {
        let bosun = on_disk(folder.path()).await;
        write(&**bosun.journal(), "r_ab", "T1").await;
        let mut feed = bosun.feed(FeedFilter::default(), cursor).await.expect("a feed");
        assert_eq!(feed.position(), cursor.unwrap_or(0));
        write(&**bosun.journal(), "r_cd", "T1").await;
        write(&**bosun.journal(), "r_ab/T1.1", "T1").await;
        // Stops in the middle of the available lines, and of a page.
        let lines = if start == 2 { 9 - seen.len() } else { 2 };
        for _ in 0..lines {
            let line = next_line(&mut feed).await;
            assert_eq!(feed.position(), line.position);
            cursor = Some(line.position);
            seen.push((line.position, line.line.log(), line.line.seq));
        }
    }
    let bosun = on_disk(folder.path()).await;
    let stored = bosun.journal().feed(None, 0, 100).await.expect("a page");
    let stored: Vec<_> =
        stored.iter().map(|line| (line.position, line.line.log(), line.line.seq)).collect();
    assert_eq!((stored.len(), &seen), (9, &stored));
}

#[tokio::test]
async fn without_a_cursor_a_reader_begins_with_the_next_line() {
    let bosun = in_memory();
    write(&**bosun.journal(), "r_ab", "T1").await;
    let mut feed = bosun.feed(FeedFilter::default(), None).await.expect("a feed");
    assert_eq!(feed.position(), 1);
    write(&**bosun.journal(), "r_ab", "T2").await;
    assert_eq!(next_line(&mut feed).await.position, 2);
}

#[tokio::test]
async fn a_cursor_of_another_journal_is_corrected() {
    let bosun = in_memory();
    write(&**bosun.journal(), "r_ab", "T1").await;
    let mut feed = bosun.feed(FeedFilter::default(), Some(700)).await.expect("a feed");
    assert_eq!(next(&mut feed).await, FeedItem::Lagged { after: 1 });
    write(&**bosun.journal(), "r_ab", "T2").await;
    assert_eq!(next_line(&mut feed).await.position, 2);
}

#[tokio::test]
async fn filters_choose_by_run_task_kind_and_by_what_the_reader_may_see() {
    let bosun = in_memory();
    for (id, task) in
        [("r_ab", "T1"), ("r_ab/T1.1", "T9"), ("r_ab", "T2"), ("r_cd", "T1"), ("r_ab/T2.1", "T9")]
    {
        write(&**bosun.journal(), id, task).await;
    }
    let of = |filter: FeedFilter| {
        let bosun = bosun.clone();
        async move {
            let mut feed = bosun.feed(filter, Some(0)).await.expect("a feed");
            let mut positions = Vec::new();
            while let Some(item) = futures::FutureExt::now_or_never(feed.next()).flatten() {
                match item.expect("a line") {
                    FeedItem::Line(line) => positions.push(line.position),
                    other => panic!("{other:?}"),
                }
            }
            positions
        }
    };
    let run = Some(log("r_ab").run);
    let task = Some("T1".parse().expect("a task"));
    assert_eq!(of(FeedFilter::default()).await, [1, 2, 3, 4, 5]);
    assert_eq!(of(FeedFilter { run: run.clone(), ..FeedFilter::default() }).await, [1, 2, 3, 5]);
    assert_eq!(of(FeedFilter { task: task.clone(), ..FeedFilter::default() }).await, [1, 2, 4]);
    assert_eq!(of(FeedFilter { run, task, ..FeedFilter::default() }).await, [1, 2]);
    let kinds = |kind: &str| FeedFilter { kinds: vec![kind.to_owned()], ..FeedFilter::default() };
    assert_eq!(of(kinds("retry.released")).await.len(), 5);
    assert!(of(kinds("run.finished")).await.is_empty());
    let may_see: MaySee = Arc::new(|run| run.as_str() == "r_cd");
    let restricted = FeedFilter { may_see: Some(may_see), ..FeedFilter::default() };
    assert_eq!(of(restricted).await, [4]);
}

#[tokio::test]
async fn pieces_come_on_request_to_those_who_may_see_them() {
    let bosun = in_memory();
    let hub = &bosun.services.hub;
    let mut lines_only = bosun.feed(FeedFilter::default(), None).await.expect("a feed");
    let may_see: MaySee = Arc::new(|run| run.as_str() != "r_ef");
    let filter = FeedFilter { deltas: true, may_see: Some(may_see), ..FeedFilter::default() };
    let mut all = bosun.feed(filter, None).await.expect("a feed");
    let run = Some(log("r_cd").run);
    let filter = FeedFilter { deltas: true, run, ..FeedFilter::default() };
    let mut one = bosun.feed(filter, None).await.expect("a feed");
    for (run, text) in [("r_ab", "a"), ("r_ef", "e"), ("r_cd/T1.1", "c")] {
        hub.publish(piece_of(run, text));
    }
    assert_eq!(next(&mut all).await, FeedItem::Delta(piece_of("r_ab", "a")));
    assert_eq!(next(&mut all).await, FeedItem::Delta(piece_of("r_cd/T1.1", "c")));
    assert_eq!(next(&mut one).await, FeedItem::Delta(piece_of("r_cd/T1.1", "c")));
    assert!(futures::FutureExt::now_or_never(lines_only.next()).is_none());
}

#[tokio::test]
async fn a_reader_too_slow_for_pieces_is_told_and_loses_no_line() {
    let bosun = in_memory();
    let filter = FeedFilter { deltas: true, ..FeedFilter::default() };
    let mut feed = bosun.feed(filter, None).await.expect("a feed");
    for n in 0..200 {
        write(&**bosun.journal(), "r_ab", "T1").await;
        for _ in 0..10 {
            bosun.services.hub.publish(piece_of("r_ab", &n.to_string()));
        }
    }
    let (mut lines, mut lagged) = (Vec::new(), 0);
    while lines.len() < 200 {
        match next(&mut feed).await {
            FeedItem::Line(line) => lines.push(line.position),
            FeedItem::Delta(_) => {}
            FeedItem::Lagged { after } => {
                assert_eq!(after, lines.last().copied().unwrap_or(0));
                lagged += 1;
            }
        }
    }
    assert!(lines.iter().copied().eq(1..=200) && lagged > 0, "{lagged}");
}
