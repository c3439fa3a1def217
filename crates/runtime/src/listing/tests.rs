//! Runs are independent: a flaw in one hides no other from the list; and a stored summary agrees with its log.

use std::sync::Arc;

use store::{Batch, Journal, MemoryJournal, Redactor, SqliteJournal};
use types::{ModelRef, Request, Status, Survey};

use super::*;
use crate::presets;
use crate::services::Config;

fn model() -> ModelRef {
    "script/none".parse().expect("a model")
}

/// The first line of a run.
fn requested(policy: Digest) -> Event {
    let request = Request::new("Write hello to greeting.txt", model());
    Event::RunRequested {
        request: Box::new(request),
        survey: Survey::default(),
        policy,
        price: None,
        wording: types::Wording::CURRENT,
    }
}

async fn begin(journal: &dyn Journal, run: &'static str, minute: i64, event: Event) {
    let log = LogId::run(RunId::fixed(run));
    let lease = journal.lease(&log).await.expect("a lease");
    let at = Timestamp::from_millis(minute * 60_000);
    let events = [Redactor::none().clean(event)];
    let batch = Batch { expect: 0, at, events: &events, taken: None };
    journal.append(&lease, batch).await.expect("an append");
}

async fn with_runs(journal: Arc<dyn Journal>) -> Bosun {
    let bosun = Bosun::new(Config::new(journal.clone(), "nowhere"));
    let crew = presets::preset("crew").expect("a preset");
    let known = bosun.keep_policy(&crew).await.expect("a blob");
    let mut policy = serde_json::to_value(&crew).expect("JSON");
    policy["weather"] = "fair".into();
    let text = serde_json::to_vec(&policy).expect("JSON");
    let newer = journal.put_blob(&text).await.expect("a blob").digest;
    begin(&*journal, "r_aa", 1, requested(known)).await;
    begin(&*journal, "r_bb", 2, requested(newer)).await;
    begin(&*journal, "r_cc", 3, requested(Digest::of(b"gone"))).await;
    begin(
        &*journal,
        "r_dd",
        4,
        Event::TaskFinished { task: types::TaskId::plan(), commit: types::CommitId::default() },
    )
    .await;
    begin(&*journal, "r_ee", 5, requested(known)).await;
    bosun
}

fn what(entry: &Entry) -> &'static str {
    match &entry.found {
        Found::Run { listed, .. } => listed.status.as_str(),
        Found::Session(_) => "session",
        Found::Damaged { .. } => "damaged",
        Found::Newer { .. } => "newer",
    }
}

#[tokio::test]
async fn a_run_that_cannot_be_read_hides_no_other() {
    let bosun = with_runs(Arc::new(MemoryJournal::new())).await;
    let all = bosun.overview(false).await.expect("a list");
    let found: Vec<(&str, &str)> =
        all.iter().map(|entry| (entry.run.as_str(), what(entry))).collect();
    let running = Status::Running.as_str();
    assert_eq!(
        found,
        [
            ("r_ee", running),
            ("r_dd", "damaged"),
            ("r_cc", "damaged"),
            ("r_bb", "newer"),
            ("r_aa", running),
        ]
    );
    let Found::Newer { why } = &all[3].found else { panic!("{all:?}") };
    assert!(why.contains("weather"), "{why}");
    for readable in [&all[0], &all[4]] {
        assert!(bosun.view_or_why(&readable.run).await.expect("an answer").is_ok());
    }
}

#[tokio::test]
async fn a_summary_that_was_filled_in_says_what_the_log_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = SqliteJournal::open(&folder.path().join("journal.db")).await.expect("a journal");
    let bosun = with_runs(Arc::new(journal.clone())).await;
    let folded = bosun.overview(false).await.expect("a list");
    assert_eq!(bosun.fill_in_summaries().await.expect("filled in"), 2);
    assert_eq!(bosun.fill_in_summaries().await.expect("nothing is missing"), 0);
    assert_eq!(bosun.overview(false).await.expect("a list"), folded);
    let stored = journal.summaries(false).await.expect("summaries");
    assert_eq!(stored.iter().filter(|(_, summary)| summary.is_some()).count(), 2);
}
