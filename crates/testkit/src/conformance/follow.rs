//! Checks of followers: everything once, in order, from any position.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use types::Envelope;

use super::fixture::{batch, count_to, event, log};
use store::{Journal, JournalError};

type Followed = BoxStream<'static, Result<Envelope, JournalError>>;

/// The next line; a journal that never delivers it fails instead of hanging.
async fn next(stream: &mut Followed) -> u64 {
    let patience = Duration::from_secs(60);
    let item = tokio::time::timeout(patience, stream.next()).await.expect("a line in time");
    item.expect("a stream that goes on").expect("a line").seq
}

pub(super) async fn a_follower_gets_the_past_and_then_the_present(journal: &dyn Journal) {
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    count_to(journal, &lease, 3).await;
    let mut all = journal.follow(id.clone(), 0);
    let mut late = journal.follow(id.clone(), 2);
    let mut ahead = journal.follow(id.clone(), 4);
    for seq in 1..=3 {
        assert_eq!(next(&mut all).await, seq);
    }
    assert_eq!(next(&mut late).await, 3);
    let events = [event("4"), event("5")];
    journal.append(&lease, batch(3, &events)).await.expect("an append");
    for stream in [&mut all, &mut late] {
        assert_eq!(next(stream).await, 4);
        assert_eq!(next(stream).await, 5);
    }
    assert_eq!(next(&mut ahead).await, 5);
}

pub(super) async fn a_follower_may_come_before_the_log(journal: &dyn Journal) {
    let id = log("r_ab/T1.1");
    let mut stream = journal.follow(id.clone(), 0);
    assert!(futures::poll!(stream.next()).is_pending(), "there is nothing yet");
    let lease = journal.lease(&id).await.expect("a lease");
    count_to(journal, &lease, 1).await;
    assert_eq!(next(&mut stream).await, 1);
}

pub(super) async fn followers_miss_nothing_while_lines_are_written(journal: Arc<dyn Journal>) {
    const LINES: u64 = 300;
    let id = log("r_ab");
    let lease = journal.lease(&id).await.expect("a lease");
    let followers = (0..8).map(|n| {
        let mut stream = journal.follow(id.clone(), n * 7);
        tokio::spawn(async move {
            for seq in n * 7 + 1..=LINES {
                assert_eq!(next(&mut stream).await, seq);
            }
        })
    });
    let followers: Vec<_> = followers.collect();
    count_to(&*journal, &lease, LINES).await;
    for follower in followers {
        follower.await.expect("a follower that saw every line once");
    }
}
