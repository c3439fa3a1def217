//! A session as a program uses it: states, refusals, the end, cleaning up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use futures::StreamExt as _;
use sandbox::{EnvError, Environment, LocalEnvironment};
use store::{Journal as _, MemoryJournal};
use tokio_util::sync::CancellationToken;
use types::{
    DirEntry, ExecRequest, ExecResult, Facts, LogId, Millis, SessionState, Timestamp, WorkPath,
};

use crate::{Bosun, Config, NewSession, Session, SessionError, SessionItem, Words};

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "read_file", path = "a.txt" }
[[attempt.reply]]
say = "It says one."
[[attempt.reply]]
say = "Still one."
"#;

/// A folder that counts how often it was released.
#[derive(Debug)]
struct Left {
    folder: LocalEnvironment,
    times: Arc<AtomicU32>,
}

#[async_trait]
impl Environment for Left {
    fn facts(&self) -> Facts {
        self.folder.facts()
    }
    async fn cleanup(&self) -> Result<(), EnvError> {
        self.times.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        self.folder.read(path).await
    }
    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.folder.write(path, bytes).await
    }
    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        self.folder.delete(path).await
    }
    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        self.folder.exists(path).await
    }
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        self.folder.list(path, depth).await
    }
    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        self.folder.exec(request, stop).await
    }
}

struct Stage {
    bosun: Bosun,
    folder: tempfile::TempDir,
    left: Arc<AtomicU32>,
}

impl Stage {
    fn set() -> Self {
        Self::with(Arc::new(MemoryJournal::new()))
    }

    fn with(journal: Arc<MemoryJournal>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder");
        std::fs::write(folder.path().join("work/a.txt"), "one\n").expect("a file");
        let bosun = Bosun::new(Config::new(journal, folder.path().join("state")));
        Self { bosun, folder, left: Arc::default() }
    }

    async fn open(&self) -> Session {
        let model = self.bosun.keep_script(SCRIPT).await.expect("a script");
        let work = self.folder.path().join("work");
        let mut new = NewSession::new(&work, model).expect("the preset");
        new.environment = Some(self.environment());
        self.bosun.open(new).await.expect("a session")
    }

    fn environment(&self) -> Arc<dyn Environment> {
        let folder = LocalEnvironment::open(&self.folder.path().join("work")).expect("a workspace");
        Arc::new(Left { folder, times: self.left.clone() })
    }
}

/// A1, A3, A4, A7, A53, A55, A60: idle, processing, idle, closed; the end is recorded; the workspace is released once.
#[tokio::test]
async fn a_session_goes_from_idle_to_closed_and_leaves_its_place_once() {
    let stage = Stage::set();
    let session = stage.open().await;
    assert_eq!(session.state(), SessionState::Idle);
    session.submit("What does a.txt say?").await.expect("it is idle");
    assert_eq!(session.rest().await, SessionState::Idle);
    assert_eq!(session.last_words().await.expect("a log"), "It says one.");
    session.submit("And now?").await.expect("it is idle again");
    session.rest().await;
    assert_eq!(session.history().await.expect("a log").len(), 6);
    session.abort().await.expect("it is closed");
    session.abort().await.expect("closing it twice is harmless");
    assert_eq!(session.state(), SessionState::Closed);
    assert_eq!(stage.left.load(Ordering::Relaxed), 1);
    assert!(matches!(session.submit("More?").await, Err(SessionError::Closed)));
    let told: Vec<_> = session.events_as(Words::Session).collect().await;
    assert_eq!(told.first().expect("a start")["kind"], "SESSION_START");
    assert_eq!(told.last().expect("an end")["kind"], "SESSION_END");
}

/// A64: images accompany an input, and the session can be read as the document's configuration and turns.
#[tokio::test]
async fn a_session_takes_pictures_and_is_told_in_turns() {
    let stage = Stage::set();
    let session = stage.open().await;
    let (media_type, base64) = ("image/png".to_owned(), "AAAA".to_owned());
    let picture = types::Source::Bytes { media_type, base64 };
    session.submit_with_images("What is this?", vec![picture]).await.expect("it is idle");
    session.rest().await;
    let history = session.history().await.expect("a log");
    let shown = |message: &types::Message| match message {
        types::Message::User { parts } => parts.len() == 2,
        _ => false,
    };
    assert!(history.iter().any(|message| shown(message)), "{history:?}");
    let (config, turns) = stage.bosun.session_turns(session.id()).await.expect("a session");
    assert_eq!(config.provider, "script");
    let kinds = serde_json::to_value(&turns).expect("JSON");
    let kinds: Vec<&str> =
        kinds.as_array().into_iter().flatten().filter_map(|turn| turn["kind"].as_str()).collect();
    assert_eq!(kinds, ["system", "user", "assistant", "tool_results", "assistant"]);
}

/// After a move the list has the new path, and the undo snapshots have moved along.
#[tokio::test]
async fn a_session_whose_folder_was_moved_is_listed_there() {
    let stage = Stage::set();
    let model = stage.bosun.keep_script(SCRIPT).await.expect("a script");
    let mut new = NewSession::new(stage.folder.path().join("work"), model).expect("the preset");
    new.policy.sandbox.require = types::IsolationLevel::None;
    let session = stage.bosun.open(new).await.expect("a session");
    let run = session.id().clone();
    let lines = stage.bosun.journal().lines(&types::LogId::run(run.clone()), 0, 9).await;
    let place = stage.folder.path().canonicalize().expect("a path").display().to_string();
    let recorded = lines.expect("lines").concat();
    assert!(recorded.contains("working directory: {workspace}") && !recorded.contains(&place));
    session.suspend().await.expect("it is let go");
    let [old, new] = ["work", "elsewhere"].map(|name| stage.folder.path().join(name));
    std::fs::create_dir_all(stage.bosun.services.snapshots_of(&old)).expect("a folder");
    std::fs::rename(&old, &new).expect("it can be moved");
    let new = stage.bosun.rebind(&run, &new).await.expect("a folder");
    assert!(stage.bosun.services.snapshots_of(&new).is_dir());
    let all = stage.bosun.overview(false).await.expect("a list");
    let Some(crate::Found::Session(listed)) = all.first().map(|entry| &entry.found) else {
        panic!("a session")
    };
    assert_eq!(listed.folder, new.display().to_string());
}

#[tokio::test]
async fn a_session_that_is_let_go_can_be_gone_on_with_and_a_closed_one_cannot() {
    let stage = Stage::set();
    let session = stage.open().await;
    session.submit("What does a.txt say?").await.expect("it is idle");
    session.rest().await;
    let run = session.id().clone();
    session.suspend().await.expect("it is let go");
    assert_eq!(stage.left.load(Ordering::Relaxed), 0, "it is not over");
    let again = stage.bosun.reopen_in(&run, "ann", stage.environment()).await;
    let again = again.expect("it is there");
    again.submit("And now?").await.expect("it is idle");
    again.rest().await;
    assert_eq!(again.last_words().await.expect("a log"), "Still one.");
    again.abort().await.expect("it is closed");
    let over = stage.bosun.reopen_in(&run, "ann", stage.environment()).await;
    assert!(matches!(over, Err(SessionError::Closed)));
}

/// A87: a session started in a container is not resumed in a folder of this machine, nor vice versa.
#[tokio::test]
async fn a_session_is_gone_on_with_where_it_was_begun() {
    let stage = Stage::set();
    let elsewhere = stage.open().await;
    elsewhere.suspend().await.expect("it is let go");
    let refused = stage.bosun.reopen(elsewhere.id(), "ann").await.expect_err("not here");
    assert!(refused.to_string().contains("reopen_in"), "{refused}");
    let model = stage.bosun.keep_script(SCRIPT).await.expect("a script");
    let new = NewSession::new(stage.folder.path().join("work"), model).expect("the preset");
    let here = stage.bosun.open(new).await.expect("a session");
    here.suspend().await.expect("it is let go");
    let refused = stage.bosun.reopen_in(here.id(), "ann", stage.environment()).await;
    let refused = refused.expect_err("not there");
    assert!(refused.to_string().contains("a folder of this machine"), "{refused}");
    let again = stage.bosun.reopen(here.id(), "ann").await.expect("its folder is there");
    again.abort().await.expect("it is closed");
}

#[tokio::test]
async fn whoever_follows_from_the_middle_gets_every_line_once_and_in_order() {
    let stage = Stage::set();
    let session = stage.open().await;
    session.submit("What does a.txt say?").await.expect("it is idle");
    session.rest().await;
    let items = session.events_after(3);
    session.abort().await.expect("it is closed");
    let lines: Vec<u64> = items
        .filter_map(async |item| match item {
            SessionItem::Event(line) => Some(line.seq),
            SessionItem::Delta(_) => None,
        })
        .collect()
        .await;
    let wanted: Vec<u64> = (4..4 + lines.len() as u64).collect();
    assert_eq!(lines, wanted);
}

/// If leases expire, a driver that lost one stops: nothing is written, and nothing continues.
#[tokio::test]
async fn a_driver_whose_lease_is_lost_stops_everything() {
    let now = Arc::new(AtomicU32::new(0));
    let clock = now.clone();
    let time = move || Timestamp::from_millis(i64::from(clock.load(Ordering::SeqCst)));
    let journal = Arc::new(MemoryJournal::with_expiry(Millis::seconds(30), time));
    let stage = Stage::with(journal.clone());
    let session = stage.open().await;
    let log = LogId::run(session.id().clone());
    let other = loop {
        now.fetch_add(30_000, Ordering::SeqCst);
        match journal.lease(&log).await {
            Ok(other) => break other,
            // Renewed in time.
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let before = journal.lines(&log, 0, 100).await.expect("lines");
    session.shared.inbox.closed().await;
    assert!(matches!(session.submit("Go on").await, Err(SessionError::Closed)));
    let error = session.suspend().await.expect_err("somebody else has it");
    assert!(error.to_string().contains("no longer valid"), "{error}");
    assert_eq!(journal.lines(&log, 0, 100).await.expect("lines"), before);
    drop(other);
}

/// Under an offline policy a session uses no remote model: not at its start, not after a change of model, and not on
/// resume.
#[tokio::test]
async fn an_offline_conversation_asks_no_model_elsewhere() {
    let remote = |error: SessionError| {
        assert!(matches!(error, SessionError::Door(crate::Error::Remote { .. })), "{error}");
    };
    let journal = Arc::new(MemoryJournal::new());
    let blind = Stage::with(journal.clone());
    let elsewhere: types::ModelRef = "anthropic/claude-sonnet-4-5".parse().expect("a model");
    let (settings, transport) = (llm::Settings::default(), llm::Http::new(Millis::seconds(1)));
    let registry = llm::Registry::new(settings, |_| None, Arc::new(transport)).expect("a registry");
    let mut setup = Config::new(journal, blind.folder.path().join("state"));
    setup.models = crate::Models::default().with_registry(Arc::new(registry));
    let bosun = Bosun::new(setup);
    let new = |model: &types::ModelRef| {
        let mut new =
            NewSession::new(blind.folder.path().join("work"), model.clone()).expect("the preset");
        new.policy.offline = true;
        new.policy.sandbox.require = types::IsolationLevel::None;
        new
    };
    remote(bosun.open(new(&elsewhere)).await.expect_err("it is elsewhere"));
    let script = bosun.keep_script(SCRIPT).await.expect("a script");
    let session = bosun.open(new(&script)).await.expect("a session");
    remote(session.change(Some(elsewhere.clone()), None, None).await.expect_err("elsewhere"));
    assert_eq!(session.view().model, script);
    session.abort().await.expect("it is closed");
    // This instance did not know the model's address.
    let session = blind.bosun.open(new(&elsewhere)).await.expect("a session");
    session.suspend().await.expect("it is let go");
    remote(bosun.reopen(session.id(), "you").await.expect_err("it is elsewhere"));
}
