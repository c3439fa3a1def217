//! Streams of a slow reader, of a removed user, and of a stopping server.

use runtime::store::{Batch, Journal as _, MemoryJournal, Redactor};
use runtime::{Bosun, Config};
use tokio::sync::mpsc;
use types::{Event, LogId, Timestamp};

use super::*;
use crate::access::{Role, User};
use crate::limit::StreamLimit;

const ROOM: usize = 4;

/// A journal in memory with this many lines.
async fn filled(lines: usize) -> (Bosun, runtime::store::Lease) {
    let journal = Arc::new(MemoryJournal::new());
    let log: LogId = "r_ab".parse().expect("a log");
    let lease = journal.lease(&log).await.expect("a lease");
    write(&journal, &lease, 0, lines).await;
    (Bosun::new(Config::new(journal, "unused")), lease)
}

async fn write(journal: &MemoryJournal, lease: &runtime::store::Lease, expect: u64, lines: usize) {
    let event = Event::RetryReleased { task: "T1".parse().expect("a task") };
    let events = vec![Redactor::none().clean(event); lines];
    let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
    journal.append(lease, batch).await.expect("an append");
}

struct Reader {
    messages: mpsc::Receiver<Message>,
    stopping: CancellationToken,
    access: Arc<Access>,
    _home: tempfile::TempDir,
}

/// Pumps the feed of a journal into a short queue, for the user `ann`.
async fn pumped(bosun: &Bosun) -> Reader {
    let home = tempfile::tempdir().expect("a folder");
    let access = Arc::new(Access::open(home.path()).expect("no users yet"));
    let user = User { name: "ann".into(), role: Role::Viewer, projects: None };
    let token = access.add_user(&user, Timestamp::from_millis(0)).expect("a user");
    let caller = access.by_token(&token).expect("it is read").expect("it is known");
    let stopping = CancellationToken::new();
    let open = Arc::new(StreamLimit::new(1).open("ann").expect("a place"));
    let life = Life { stopping: stopping.clone(), access: access.clone(), caller, _open: open };
    let (queue, messages) = mpsc::channel(ROOM + 1);
    let last = queue.clone().try_reserve_owned().expect("room");
    let feed = bosun.feed(FeedFilter::default(), Some(0)).await.expect("a feed");
    tokio::spawn(pump(feed, (queue, last), life, |message| message));
    Reader { messages, stopping, access, _home: home }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_is_cut_off_with_its_cursor() {
    let (bosun, _lease) = filled(20).await;
    let mut reader = pumped(&bosun).await;
    // Lets the paused clock run past the time that a queue may stay full.
    tokio::time::advance(Duration::from_millis(1)).await;
    while reader.messages.len() <= ROOM {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    for position in 1..=ROOM as u64 {
        let message = reader.messages.recv().await;
        assert!(matches!(&message, Some(Message::Line(found, _)) if *found == position));
    }
    let message = reader.messages.recv().await;
    assert!(matches!(message, Some(Message::Lagged { after }) if after == ROOM as u64));
    assert!(reader.messages.recv().await.is_none(), "the stream ends");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_a_little_slow_gets_everything() {
    let (bosun, _lease) = filled(20).await;
    let mut reader = pumped(&bosun).await;
    for position in 1..=20 {
        tokio::time::advance(PATIENCE / 2).await;
        let message = reader.messages.recv().await;
        assert!(matches!(&message, Some(Message::Line(found, _)) if *found == position));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_user_is_removed_and_when_the_server_stops() {
    let (bosun, _lease) = filled(1).await;
    let mut reader = pumped(&bosun).await;
    assert!(reader.messages.recv().await.is_some());
    reader.access.remove_user("ann").expect("it is removed");
    assert!(reader.messages.recv().await.is_none(), "looked up with the next heartbeat");
    let mut reader = pumped(&bosun).await;
    assert!(reader.messages.recv().await.is_some());
    reader.stopping.cancel();
    assert!(reader.messages.recv().await.is_none());
}
