//! Checks of the feed: every line of every log once, in the order of the appends, from any position.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use types::RunId;

use super::fixture::{batch, count_to, event, log, noon, text};
use store::{Journal, JournalError, Positioned, Removal};

type Fed = BoxStream<'static, Result<Positioned, JournalError>>;

/// The next line; a journal that never delivers it fails instead of hanging.
async fn next(stream: &mut Fed) -> Positioned {
    let patience = Duration::from_secs(60);
    let item = tokio::time::timeout(patience, stream.next()).await.expect("a line in time");
    item.expect("a stream that goes on").expect("a line")
}

/// The texts of a page.
async fn texts(journal: &dyn Journal, of: Option<&RunId>, after: u64, limit: usize) -> Vec<String> {
    let page = journal.feed(of, after, limit).await.expect("a page");
    page.iter().map(|line| text(&line.line).to_owned()).collect()
}

/// Appends a line to the end of a log.
async fn say(journal: &dyn Journal, id: &str, what: &str) {
    let id = log(id);
    let lease = journal.lease(&id).await.expect("a lease");
    let last = journal.read(&id, 0, usize::MAX).await.expect("a read").len() as u64;
    journal.append(&lease, batch(last, &[event(what)])).await.expect("an append");
}

pub(super) async fn the_feed_has_all_lines_in_the_order_of_their_appends(journal: &dyn Journal) {
    assert_eq!(journal.position().await.expect("a position"), 0);
    assert!(texts(journal, None, 0, 10).await.is_empty());
    for (id, what) in
        [("r_ab/T1.1", "a"), ("r_cd", "b"), ("r_ab", "c"), ("r_cd", "d"), ("r_ab/T1.1", "e")]
    {
        say(journal, id, what).await;
    }
    assert_eq!(texts(journal, None, 0, 10).await, ["a", "b", "c", "d", "e"]);
    let ab = log("r_ab").run;
    assert_eq!(texts(journal, Some(&ab), 0, 10).await, ["a", "c", "e"]);
    assert!(texts(journal, Some(&log("r_ef").run), 0, 10).await.is_empty());
    let all = journal.feed(None, 0, 10).await.expect("a page");
    let positions: Vec<u64> = all.iter().map(|line| line.position).collect();
    assert!(positions.is_sorted_by(|one, next| one < next) && positions[0] > 0, "{positions:?}");
    assert_eq!(journal.position().await.expect("a position"), positions[4]);
    for (place, position) in positions.iter().enumerate() {
        for limit in 0..7 {
            let page = journal.feed(None, *position, limit).await.expect("a page");
            let rest = &all[place + 1..];
            assert_eq!(page, rest[..limit.min(rest.len())], "{limit} after {position}");
        }
    }
    let mine: Vec<Positioned> = all.iter().filter(|line| line.line.run == ab).cloned().collect();
    for after in 0..=positions[4] + 1 {
        for limit in 0..5 {
            let page = journal.feed(Some(&ab), after, limit).await.expect("a page");
            let rest = mine.iter().filter(|line| line.position > after).take(limit);
            assert!(page.iter().eq(rest), "{limit} of one run after {after}");
        }
    }
    assert!(texts(journal, None, positions[4] + 7, 10).await.is_empty());
}

pub(super) async fn a_follower_of_the_feed_gets_the_past_and_then_the_present(
    journal: &dyn Journal,
) {
    let ab = log("r_ab").run;
    let mut early = journal.follow_feed(Some(ab.clone()), 0);
    assert!(futures::poll!(early.next()).is_pending(), "there is nothing yet");
    say(journal, "r_cd", "1").await;
    say(journal, "r_ab", "2").await;
    let last = journal.position().await.expect("a position");
    let (mut all, mut late) = (journal.follow_feed(None, 0), journal.follow_feed(None, last));
    assert_eq!(text(&next(&mut all).await.line), "1");
    for stream in [&mut all, &mut early] {
        assert_eq!(text(&next(stream).await.line), "2");
    }
    say(journal, "r_cd", "3").await;
    say(journal, "r_ab/T1.1", "4").await;
    for stream in [&mut all, &mut late] {
        assert_eq!(text(&next(stream).await.line), "3");
        assert_eq!(text(&next(stream).await.line), "4");
    }
    assert_eq!(text(&next(&mut early).await.line), "4");
    assert!(futures::poll!(early.next()).is_pending());
}

pub(super) async fn followers_of_the_feed_miss_nothing_while_many_write(journal: Arc<dyn Journal>) {
    const LOGS: u64 = 6;
    const LINES: u64 = 60;
    let mut writers = Vec::new();
    for n in 0..LOGS {
        let journal = journal.clone();
        writers.push(tokio::spawn(async move {
            let lease = journal.lease(&log(&format!("r_{n}{n}"))).await.expect("a lease");
            count_to(&*journal, &lease, LINES).await;
        }));
    }
    let follow = |of: Option<u64>| {
        let mut stream = journal.follow_feed(of.map(|n| log(&format!("r_{n}{n}")).run), 0);
        let lines = if of.is_some() { LINES } else { LOGS * LINES };
        tokio::spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..lines {
                seen.push(next(&mut stream).await);
            }
            seen
        })
    };
    let (everything, one) = (follow(None), follow(Some(3)));
    for writer in writers {
        writer.await.expect("a writer");
    }
    let everything = everything.await.expect("a follower");
    let again = journal.feed(None, 0, usize::MAX).await.expect("a page");
    assert_eq!(everything, again, "what was followed is what is read");
    assert!(everything.is_sorted_by(|one, next| one.position < next.position));
    let of = |n: u64| {
        let run = log(&format!("r_{n}{n}")).run;
        let mine = everything.iter().filter(move |line| line.line.run == run);
        mine.cloned().collect::<Vec<_>>()
    };
    for n in 0..LOGS {
        assert!(of(n).iter().map(|line| line.line.seq).eq(1..=LINES));
    }
    assert_eq!(one.await.expect("a follower"), of(3));
}

pub(super) async fn a_removed_run_leaves_the_feed_and_no_position_is_used_twice(
    journal: &dyn Journal,
) {
    say(journal, "r_ab", "stays").await;
    say(journal, "r_cd", "goes").await;
    say(journal, "r_cd/T1.1", "goes too").await;
    let before = journal.position().await.expect("a position");
    let mut followed = journal.follow_feed(None, 1);
    let runs = vec![log("r_cd").run];
    let removal = Removal { runs, at: noon(1), by: "ada".to_owned(), dry_run: false };
    journal.remove(removal).await.expect("a removal");
    assert_eq!(journal.position().await.expect("a position"), before);
    assert_eq!(texts(journal, None, 0, 10).await, ["stays"]);
    assert!(texts(journal, Some(&log("r_cd").run), 0, 10).await.is_empty());
    assert!(futures::poll!(followed.next()).is_pending(), "they are not waited for");
    say(journal, "r_cd", "again").await;
    let last = next(&mut followed).await;
    assert_eq!((text(&last.line), last.position), ("again", before + 1));
    assert_eq!(texts(journal, Some(&log("r_cd").run), 0, 10).await, ["again"]);
}
