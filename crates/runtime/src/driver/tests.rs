//! Commands at the worst moment: between a driver's last look into the inbox and its exit, and while another process
//! holds the lease. And a repository that was moved.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::stream::BoxStream;
use sandbox::Repo;
use store::{Batch, Journal, JournalError, Lease, LogSummary, MemoryJournal, Positioned};
use types::{
    BlobRef, Command, Digest, Envelope, Event, LogId, RunId, SessionState, Status, Timestamp,
};

use super::*;
use crate::{Config, NewRun, NewSession};

/// A journal in which a command is posted exactly when a lease is about to be released.
#[derive(Debug, Default)]
struct Gap {
    inner: MemoryJournal,
    posts: Arc<Mutex<Option<Command>>>,
    /// The kinds of events that were stored together.
    stored: Mutex<Vec<Vec<&'static str>>>,
}

/// A lease that is released with a delay.
struct Leaving {
    lease: Lease,
    journal: MemoryJournal,
    posts: Arc<Mutex<Option<Command>>>,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(command) = self.posts.lock().expect("a lock").take() {
            let at = Timestamp::from_millis(1);
            let posted = self.journal.post(&self.lease.log().run, at, &command).now_or_never();
            posted.expect("it does not wait").expect("it is posted");
        }
    }
}

#[async_trait]
impl Journal for Gap {
    async fn lease(&self, log: &LogId) -> Result<Lease, JournalError> {
        let lease = self.inner.lease(log).await?;
        let generation = lease.generation();
        let (journal, posts) = (self.inner.clone(), self.posts.clone());
        Ok(Lease::new(log.clone(), generation, Leaving { lease, journal, posts }))
    }
    async fn is_leased(&self, log: &LogId) -> Result<bool, JournalError> {
        self.inner.is_leased(log).await
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        let kinds = batch.events.iter().map(|event| event.event().kind()).collect();
        self.stored.lock().expect("a lock").push(kinds);
        let held = lease.hold::<Leaving>().expect("one of these");
        self.inner.append(&held.lease, batch).await
    }
    async fn read(&self, log: &LogId, a: u64, n: usize) -> Result<Vec<Envelope>, JournalError> {
        self.inner.read(log, a, n).await
    }
    async fn lines(&self, log: &LogId, a: u64, n: usize) -> Result<Vec<String>, JournalError> {
        self.inner.lines(log, a, n).await
    }
    fn follow(&self, log: LogId, after: u64) -> BoxStream<'static, Result<Envelope, JournalError>> {
        self.inner.follow(log, after)
    }

    async fn feed(
        &self,
        of: Option<&RunId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Positioned>, JournalError> {
        self.inner.feed(of, after, limit).await
    }

    async fn position(&self) -> Result<u64, JournalError> {
        self.inner.position().await
    }

    fn follow_feed(
        &self,
        of: Option<RunId>,
        after: u64,
    ) -> BoxStream<'static, Result<Positioned, JournalError>> {
        self.inner.follow_feed(of, after)
    }
    async fn logs(&self, of: Option<&RunId>) -> Result<Vec<LogSummary>, JournalError> {
        self.inner.logs(of).await
    }
    async fn verify(&self, log: &LogId) -> Result<LogSummary, JournalError> {
        self.inner.verify(log).await
    }
    async fn put_blob(&self, bytes: &[u8]) -> Result<BlobRef, JournalError> {
        self.inner.put_blob(bytes).await
    }
    async fn blob(&self, digest: &Digest) -> Result<Vec<u8>, JournalError> {
        self.inner.blob(digest).await
    }
    async fn post(&self, run: &RunId, at: Timestamp, said: &Command) -> Result<u64, JournalError> {
        self.inner.post(run, at, said).await
    }
    async fn posted(&self, run: &RunId) -> Result<Vec<(u64, Command)>, JournalError> {
        self.inner.posted(run).await
    }
}

struct Stage {
    folder: tempfile::TempDir,
    journal: Arc<Gap>,
    bosun: Bosun,
}

impl Stage {
    fn set() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Arc::new(Gap::default());
        let bosun = Bosun::new(Config::new(journal.clone(), folder.path().join("home")));
        Self { folder, journal, bosun }
    }

    async fn repository(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path).expect("a folder");
        let message = format!("{name}\n");
        Repo::create(&path, &message, Timestamp::from_millis(1)).await.expect("a repository");
        path
    }

    /// A run that asks for clarification, so that its driver leaves.
    async fn starts(&self) -> Handle {
        let model = "scripted/x".parse().expect("a model");
        let new = NewRun::new("fix it", self.repository("repo").await, model).expect("a run");
        self.bosun.start(new).await.expect("it starts")
    }

    async fn waits(&self) -> RunId {
        let left = self.starts().await.finished().await.expect("it is left");
        assert_eq!(left.view.status, Status::Waiting);
        left.view.run
    }

    /// Returns when a command was posted.
    async fn posted(&self, run: &RunId) {
        while !self.bosun.has_posted(run).await.expect("an inbox") {
            tokio::task::yield_now().await;
        }
    }
}

fn cancel() -> Command {
    Command::Cancel { by: "ann".to_owned(), reason: "changed my mind".to_owned() }
}

#[tokio::test]
async fn what_is_posted_between_the_last_look_and_the_leave_is_heard() {
    let stage = Stage::set();
    *stage.journal.posts.lock().expect("a lock") = Some(cancel());
    let handle = stage.starts().await;
    let run = handle.run().clone();
    let left = handle.finished().await.expect("it is left");
    assert_eq!(left.view.status, Status::Cancelled, "it went on with what was posted");
    assert!(!stage.bosun.has_posted(&run).await.expect("an inbox"));
}

#[tokio::test]
async fn whoever_posts_takes_a_run_up_that_its_driver_leaves() {
    let stage = Stage::set();
    let run = stage.waits().await;
    let other = stage.journal.lease(&LogId::run(run.clone())).await.expect("nobody has it");
    let (bosun, of) = (stage.bosun.clone(), run.clone());
    let delivering = tokio::spawn(async move { bosun.deliver(&of, &cancel()).await });
    stage.posted(&run).await;
    drop(other);
    let Ok(Delivered::Here(handle)) = delivering.await.expect("it ends") else {
        panic!("nobody else has taken it");
    };
    assert_eq!(handle.finished().await.expect("it ends").view.status, Status::Cancelled);
    let over = stage.bosun.deliver(&run, &cancel()).await;
    assert!(matches!(over, Err(Error::Over { .. })), "{over:?}");
    assert!(!stage.bosun.has_posted(&run).await.expect("an inbox"), "nothing is left behind");
}

/// Waiting for the end of a run drives it, if its driver took the command and left.
#[tokio::test]
async fn a_cancelled_run_whose_driver_is_gone_is_ended() {
    let stage = Stage::set();
    let run = stage.waits().await;
    let other = stage.journal.lease(&LogId::run(run.clone())).await.expect("nobody has it");
    let (bosun, of) = (stage.bosun.clone(), run.clone());
    let ending = tokio::spawn(async move { bosun.until_over(&of).await });
    stage.bosun.post(&run, &cancel()).await.expect("it is posted");
    drop(other);
    assert_eq!(ending.await.expect("it ends").expect("a run").status, Status::Cancelled);
}

#[tokio::test]
async fn a_repository_that_was_moved_is_called_that_and_can_be_named_anew() {
    let stage = Stage::set();
    let run = stage.waits().await;
    let (old, new) = (stage.folder.path().join("repo"), stage.folder.path().join("elsewhere"));
    std::fs::rename(&old, &new).expect("it can be moved");
    let moved = stage.bosun.resume(&run).await;
    assert!(matches!(moved, Err(Error::Moved { .. })), "{moved:?}");
    // Another repository is in its place.
    let another = stage.repository("repo").await;
    let other = stage.repository("other").await;
    sandbox::remove(&another).expect("it can be removed");
    std::fs::rename(&other, &old).expect("it can be moved");
    let another = stage.bosun.resume(&run).await;
    assert!(matches!(another, Err(Error::OtherRepository { .. })), "{another:?}");
    let refused = stage.bosun.rebind(&run, &old).await;
    assert!(matches!(refused, Err(Error::OtherRepository { .. })), "{refused:?}");
    let bound = stage.bosun.rebind(&run, &new).await.expect("it has the commits");
    let view = stage.bosun.view(&run).await.expect("a run");
    assert_eq!(view.repository, bound.display().to_string());
    let left = stage.bosun.resume(&run).await.expect("it is there").finished().await;
    assert_eq!(left.expect("it is left").view.status, Status::Waiting);
}

#[tokio::test]
async fn a_run_without_its_repository_can_be_cancelled() {
    let stage = Stage::set();
    let run = stage.waits().await;
    sandbox::remove(&stage.folder.path().join("repo")).expect("it can be removed");
    let over = stage.bosun.deliver(&run, &cancel()).await;
    assert!(matches!(over, Err(Error::Over { .. })), "{over:?}");
    assert_eq!(stage.bosun.view(&run).await.expect("a run").status, Status::Cancelled);
}

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "ask_user", question = "Which colour?" }
[[attempt.reply]]
fault = { class = "structural", code = "model.truncated", what = "it broke off", retry = false }
[[attempt.reply]]
say = "Green it is."
"#;

/// The goal and the output schema are recorded with the first line; an unread answer is handled when the session is
/// next opened; an input that ended in a fault is resumed.
#[tokio::test]
async fn a_session_keeps_its_goal_and_hears_what_was_posted() {
    let stage = Stage::set();
    let model = stage.bosun.keep_script(SCRIPT).await.expect("a script");
    let output = types::OutputSchema { name: "answer".to_owned(), schema: true.into() };
    let folder = stage.repository("work").await;
    let new = NewSession {
        first: Some("Paint it".to_owned()),
        output: Some(output.clone()),
        ..NewSession::new(&folder, model).expect("a session")
    };
    let session = stage.bosun.open(new).await.expect("it opens");
    let run = session.id().clone();
    let first = stage.journal.stored.lock().expect("a lock")[0].clone();
    assert_eq!(first[..2], ["session.started", "session.told"], "{first:?}");
    let begun = stage.journal.read(&LogId::run(run.clone()), 0, 1).await.expect("a line");
    let Event::SessionStarted { brief, .. } = &begun[0].event else { panic!("{begun:?}") };
    assert_eq!(brief.output, Some(output));
    assert_eq!(session.rest().await, SessionState::AwaitingInput);
    let (by, text) = ("ann".to_owned(), "green".to_owned());
    let answer = Command::Answer { by, question: 0, text };
    let taken = stage.bosun.deliver_to_session(&run, &answer, "ann").await.expect("it is heard");
    assert!(taken.is_none(), "by whoever drives it");
    assert_eq!(session.rest().await, SessionState::Idle);
    session.suspend().await.expect("it is left");
    let session = stage.bosun.reopen(&run, "ann").await.expect("it opens");
    assert!(session.view().stopped.is_some(), "the reply broke off");
    session.go_on().await.expect("it is asked again");
    assert_eq!(session.rest().await, SessionState::Idle);
    assert_eq!(session.last_words().await.expect("words"), "Green it is.");
    session.suspend().await.expect("it is left");
    let closed = stage.bosun.deliver_to_session(&run, &cancel(), "ann").await;
    let closed = closed.expect("it is heard").expect("nobody else drives it");
    closed.abort().await.expect("it ends");
    assert_eq!(stage.bosun.session_view(&run).await.expect("a view").state, SessionState::Closed);
}

/// The repository's path is specific to this machine, so no log contains it.
#[tokio::test]
async fn the_log_of_a_run_names_no_place_of_this_machine() {
    let stage = Stage::set();
    let run = stage.waits().await;
    let lines = stage.journal.lines(&LogId::run(run.clone()), 0, 1_000).await.expect("lines");
    let place = stage.folder.path().canonicalize().expect("a path").display().to_string();
    assert!(lines[0].contains("\"repository\":\"repo\""), "{}", lines[0]);
    assert!(lines.iter().all(|line| !line.contains(&place)), "{lines:?}");
    let view = stage.bosun.view(&run).await.expect("a run");
    assert_eq!(view.repository, format!("{place}/repo"));
    // A journal from another machine: nothing is looked up by name alone.
    std::fs::remove_file(stage.folder.path().join("home/places")).expect("it is there");
    let unknown = stage.bosun.resume(&run).await;
    assert!(matches!(unknown, Err(Error::Moved { .. })), "{unknown:?}");
    stage.bosun.rebind(&run, &stage.folder.path().join("repo")).await.expect("it is the one");
    stage.bosun.resume(&run).await.expect("it goes on").finished().await.expect("it is left");
}
