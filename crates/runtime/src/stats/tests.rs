//! Statistics come from the stored summaries; a log is folded once, if its summary is missing or of an older version.

use std::sync::Arc;

use store::{Batch, Journal, Lease, Redactor, SqliteJournal, Summary};
use types::{
    AttemptId, AttemptResult, Budget, CommitId, Digest, Fault, Listed, Request, Scope, Survey,
    TaskId, Usage,
};

use super::*;
use crate::presets;
use crate::services::Config;

/// A journal with one run: its plan was requested, and its planner failed.
struct Recorded {
    journal: SqliteJournal,
    bosun: Bosun,
    lease: Lease,
    folder: tempfile::TempDir,
}

fn log() -> LogId {
    LogId::run(RunId::fixed("r_aa"))
}

fn planning(n: u32) -> AttemptId {
    AttemptId::new(TaskId::plan(), n)
}

fn started(n: u32, role: &'static str) -> Event {
    Event::AttemptStarted {
        attempt: planning(n),
        role: types::RoleId::fixed(role),
        start: CommitId::default(),
        scope: Scope::default(),
        budget: Budget::default(),
        feedback: None,
        model: None,
    }
}

fn failed(n: u32, tokens: u64) -> Event {
    Event::AttemptFinished {
        attempt: planning(n),
        result: AttemptResult::Failed { fault: Fault::bug("it failed"), commit: None },
        spent: Spend { tokens, calls: 1, ..Spend::default() },
        usage: Usage::default(),
        turns: 1,
        log_head: Digest::of(b"its last line"),
        denied: vec![],
    }
}

impl Recorded {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.db");
        let journal = SqliteJournal::open(&path).await.expect("a journal");
        let bosun = Bosun::new(Config::new(Arc::new(journal.clone()), folder.path()));
        let crew = presets::preset("crew").expect("a preset");
        let policy = bosun.keep_policy(&crew).await.expect("a blob");
        let lease = journal.lease(&log()).await.expect("a lease");
        let request = Request::new("Write hello to greeting.txt", "a/b".parse().expect("a model"));
        let requested = Event::RunRequested {
            request: Box::new(request),
            survey: Survey::default(),
            policy,
            price: None,
            wording: types::Wording::CURRENT,
        };
        let recorded = Self { journal, bosun, lease, folder };
        recorded.append(0, vec![requested, started(1, "planner"), failed(1, 70)]).await;
        recorded
    }

    async fn append(&self, expect: u64, events: Vec<Event>) {
        let events: Vec<_> =
            events.into_iter().map(|event| Redactor::none().clean(event)).collect();
        let at = Timestamp::from_millis(60_000);
        let batch = Batch { expect, at, events: &events, taken: None };
        self.journal.append(&self.lease, batch).await.expect("an append");
    }

    async fn stats(&self) -> Stats {
        self.bosun.stats(None, &|_| true).await.expect("statistics")
    }

    async fn stored(&self) -> Option<Summary> {
        let all = self.journal.summaries(true).await.expect("summaries");
        all.into_iter().next().expect("a run").1
    }

    /// Changes the stored list entry.
    async fn change(&self, change: impl FnOnce(&mut ListedRun)) {
        let mut summary = self.stored().await.expect("a summary");
        let listed = serde_json::from_str(&summary.text).expect("an entry");
        let Listed::Run(mut listed) = listed else { panic!("{listed:?}") };
        change(&mut listed);
        summary.text = serde_json::to_string(&Listed::Run(listed)).expect("JSON");
        self.journal.put_summary(&log(), 3, summary).await.expect("it is stored");
    }
}

#[tokio::test]
async fn statistics_from_summaries_are_those_from_logs() {
    let recorded = Recorded::new().await;
    assert!(recorded.stored().await.is_none());
    let folded = recorded.stats().await;
    assert_eq!((folded.runs, folded.spent.tokens), (1, 70));
    assert_eq!((folded.by_role["planner"].tokens, folded.by_model["a/b"].tokens), (70, 70));
    recorded.bosun.fill_in_summaries().await.expect("filled in");
    assert_eq!(recorded.stats().await, folded);
}

#[tokio::test]
async fn no_log_with_a_summary_is_read() {
    let recorded = Recorded::new().await;
    recorded.bosun.fill_in_summaries().await.expect("filled in");
    let marked = |listed: &mut ListedRun| {
        listed.figures.as_mut().expect("figures").questions = 7;
    };
    recorded.change(marked).await;
    assert_eq!(recorded.stats().await.questions, 7, "only the summary says so");
}

#[tokio::test]
async fn a_summary_of_an_older_version_is_made_again_once() {
    let recorded = Recorded::new().await;
    let stats = recorded.stats().await;
    recorded.bosun.fill_in_summaries().await.expect("filled in");
    recorded.change(|listed| listed.figures = None).await;
    assert!(recorded.bosun.has_older_summaries().await.expect("an answer"));
    assert_eq!(recorded.stats().await, stats);
    assert!(!recorded.bosun.has_older_summaries().await.expect("an answer"));
    recorded.change(|listed| listed.figures = None).await;
    assert_eq!(recorded.bosun.fill_in_summaries().await.expect("filled in"), 1);
}

#[tokio::test]
async fn a_run_that_goes_on_is_counted_anew() {
    let recorded = Recorded::new().await;
    recorded.bosun.fill_in_summaries().await.expect("filled in");
    assert_eq!(recorded.stats().await.spent.tokens, 70);
    recorded.append(3, vec![started(2, "planner"), failed(2, 30)]).await;
    let stats = recorded.stats().await;
    assert_eq!((stats.spent.tokens, stats.by_role["planner"].calls), (100, 2));
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_has_the_same_statistics() {
    let recorded = Recorded::new().await;
    recorded.bosun.fill_in_summaries().await.expect("filled in");
    recorded.change(|listed| listed.figures = None).await;
    let path = recorded.folder.path().join("journal.db");
    let journal = SqliteJournal::read_only(&path, false).await.expect("a journal").expect("a file");
    let reader = Bosun::new(Config::new(Arc::new(journal), recorded.folder.path()));
    let read = reader.stats(None, &|_| true).await.expect("statistics");
    assert!(recorded.bosun.has_older_summaries().await.expect("an answer"), "nothing is written");
    assert_eq!(read, recorded.stats().await);
}

#[tokio::test]
async fn an_attempt_that_broke_off_before_it_began_is_not_counted() {
    let recorded = Recorded::new().await;
    let broken = |n| match failed(n, 0) {
        Event::AttemptFinished { attempt, result, usage, turns, denied, .. } => {
            let (spent, log_head) = (Spend::default(), Digest::ZERO);
            Event::AttemptFinished { attempt, result, spent, usage, turns, log_head, denied }
        }
        other => other,
    };
    recorded.append(3, vec![started(2, "coder"), broken(2)]).await;
    let stats = recorded.stats().await;
    assert_eq!(stats.by_role.into_keys().collect::<Vec<_>>(), ["planner"]);
}
