//! The guarantees of a journal as checks for any implementation: `conformance::run` calls them all, each with its own
//! journal, and panics at the first violation.
#![expect(clippy::expect_used, reason = "a broken promise ends the test that runs these checks")]

mod feed;
mod fixture;
mod follow;
mod lease;
mod lines;
mod side;

use std::sync::Arc;

use types::Millis;

use store::Journal;

/// Runs all checks against an implementation. `make` returns a new, empty journal each time.
pub async fn run(make: impl AsyncFn() -> Arc<dyn Journal>) {
    lines::nothing_is_there_before_the_first_append(&*make().await).await;
    lines::what_is_appended_is_what_is_read(&*make().await).await;
    lines::each_line_holds_the_hash_of_the_one_before(&*make().await).await;
    lines::pages_are_cut_where_they_were_asked_to_be(&*make().await).await;
    lines::a_writer_that_missed_something_is_told_so(&*make().await).await;
    lines::a_line_that_could_not_be_read_back_is_not_written(&*make().await).await;
    lines::logs_are_listed_with_the_newest_first(&*make().await).await;
    lease::a_log_has_one_writer_at_a_time(&*make().await).await;
    lease::an_outdated_or_foreign_lease_writes_nothing(&*make().await, &*make().await).await;
    lease::looking_for_a_holder_takes_no_lease(&*make().await).await;
    lease::many_logs_are_written_at_once(make().await).await;
    follow::a_follower_gets_the_past_and_then_the_present(&*make().await).await;
    follow::a_follower_may_come_before_the_log(&*make().await).await;
    follow::followers_miss_nothing_while_lines_are_written(make().await).await;
    feed::the_feed_has_all_lines_in_the_order_of_their_appends(&*make().await).await;
    feed::a_follower_of_the_feed_gets_the_past_and_then_the_present(&*make().await).await;
    feed::followers_of_the_feed_miss_nothing_while_many_write(make().await).await;
    feed::a_removed_run_leaves_the_feed_and_no_position_is_used_twice(&*make().await).await;
    side::blobs_are_kept_once_under_their_hash(&*make().await).await;
    side::a_command_waits_until_it_is_answered(&*make().await).await;
    side::a_command_is_answered_all_or_nothing(&*make().await).await;
    side::a_run_is_removed_with_its_attempts_unless_somebody_works_on_it(&*make().await).await;
    side::an_inbox_is_bounded_and_holds_no_keys(&*make().await).await;
}

/// The same for leases that expire: they do so `after` their last renewal, by a clock that `pass` moves.
pub async fn expiry(journal: &dyn Journal, after: Millis, pass: impl Fn(Millis)) {
    lease::a_lease_that_is_not_renewed_expires_and_says_so(journal, after, pass).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use store::{MemoryJournal, SqliteJournal};
    use types::Timestamp;

    use super::*;

    #[tokio::test]
    async fn the_journal_in_memory_keeps_every_promise() {
        run(async || Arc::new(MemoryJournal::new()) as Arc<dyn Journal>).await;
    }

    #[tokio::test]
    async fn leases_in_memory_expire_by_the_clock_that_is_given() {
        let now = Arc::new(Mutex::new(Timestamp::from_millis(0)));
        let clock = now.clone();
        let after = Millis::seconds(30);
        let journal = MemoryJournal::with_expiry(after, move || *clock.lock().expect("a time"));
        expiry(&journal, after, |span| {
            let mut now = now.lock().expect("a time");
            *now = now.after(span);
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_journal_on_disk_keeps_every_promise() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = AtomicU32::new(0);
        run(async || {
            let path = folder.path().join(format!("{}.db", count.fetch_add(1, Ordering::Relaxed)));
            Arc::new(SqliteJournal::open(&path).await.expect("a journal")) as Arc<dyn Journal>
        })
        .await;
    }
}
