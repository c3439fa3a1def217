//! A session is forked with its files; the original is unchanged.

use std::path::Path;
use std::sync::Arc;

use futures::StreamExt as _;
use store::{Journal as _, MemoryJournal};
use types::{Digest, Event, LogId, RunId};

use super::copied::Copying;
use super::{ForkError, NewFork};
use crate::{Bosun, Config, NewSession, SessionItem};

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "one\n" }
[[attempt.reply]]
say = "One."
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "two\n" }
[[attempt.reply]]
say = "Two."
"#;

struct Stage {
    bosun: Bosun,
    journal: Arc<MemoryJournal>,
    folder: tempfile::TempDir,
    run: RunId,
    /// The last line of the first input.
    first: u64,
}

impl Stage {
    /// A session that has changed a file twice, then suspended.
    async fn set() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let work = folder.path().join("work");
        std::fs::create_dir(&work).expect("a folder");
        std::fs::write(work.join("b.txt"), "other\n").expect("a file");
        let journal = Arc::new(MemoryJournal::new());
        let bosun = Bosun::new(Config::new(journal.clone(), folder.path().join("state")));
        let model = bosun.keep_script(SCRIPT).await.expect("a script");
        let new = NewSession::new(&work, model).expect("the preset");
        let session = bosun.open(new).await.expect("a session");
        session.submit("Write one").await.expect("it is idle");
        session.rest().await;
        // The sandbox is probed concurrently with the first request, so its line may arrive until now.
        let mut items = Box::pin(session.events());
        while let Some(item) = items.next().await {
            if matches!(item, SessionItem::Event(line) if matches!(line.event, Event::SandboxProbed { .. }))
            {
                break;
            }
        }
        let run = session.id().clone();
        let log = LogId::run(run.clone());
        let first = journal.read(&log, 0, 1_000).await.expect("lines").len() as u64;
        session.submit("Write two").await.expect("it is idle");
        session.rest().await;
        session.suspend().await.expect("it is left");
        Self { bosun, journal, folder, run, first }
    }

    fn fork(&self, at: u64, into: Option<&str>) -> NewFork {
        let into = into.map(|name| self.folder.path().join(name));
        NewFork { from: self.run.clone(), at, into, id: None }
    }
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file")
}

#[tokio::test]
async fn a_session_is_forked_with_the_files_that_it_had_then() {
    let stage = Stage::set().await;
    let fork = stage.bosun.fork(stage.fork(stage.first, Some("fork"))).await.expect("a fork");
    assert!(fork.session);
    assert_eq!((&fork.origin.run, fork.origin.seq), (&stage.run, stage.first));
    let into = stage.folder.path().join("fork");
    assert_eq!(
        (read(&into, "a.txt").as_str(), read(&into, "b.txt").as_str()),
        ("one\n", "other\n")
    );
    assert_eq!(read(&stage.folder.path().join("work"), "a.txt"), "two\n");
    let lines = stage.journal.read(&LogId::run(fork.run.clone()), 0, 1_000).await.expect("lines");
    assert_eq!(lines.len() as u64, stage.first + 1, "the copy, and where it works now");
    let Event::SessionStarted { brief, .. } = &lines[0].event else { panic!("{:?}", lines[0]) };
    assert_eq!((&brief.run, brief.forked.as_ref()), (&fork.run, Some(&fork.origin)));
    for run in [&stage.run, &fork.run] {
        let report = stage.bosun.replay(run).await.expect("it can be replayed");
        assert_eq!(report.difference, None);
    }
    let session = stage.bosun.reopen(&fork.run, "ann").await.expect("it goes on");
    session.submit("Write two here").await.expect("it is idle");
    session.rest().await;
    assert_eq!(session.last_words().await.expect("words"), "Two.");
    assert_eq!(read(&into, "a.txt"), "two\n");
    session.abort().await.expect("it is closed");
    let report = stage.bosun.replay(&fork.run).await.expect("it can be replayed");
    assert_eq!(report.difference, None);
}

#[tokio::test]
async fn what_cannot_be_forked_is_refused_before_anything_is_written() {
    let stage = Stage::set().await;
    let refused = async |new: NewFork| stage.bosun.fork(new).await.expect_err("it is refused");
    let none = refused(stage.fork(1_000, Some("fork"))).await;
    assert!(matches!(none, ForkError::NoSuchLine { .. }), "{none}");
    let folder = refused(stage.fork(3, None)).await;
    assert!(matches!(folder, ForkError::NoFolder), "{folder}");
    let taken = refused(stage.fork(3, Some("work"))).await;
    assert!(taken.to_string().contains("not empty"), "{taken}");
    let unknown = NewFork { from: RunId::fixed("r_nobody"), ..stage.fork(3, Some("fork")) };
    assert!(matches!(refused(unknown).await, ForkError::Door(_)));
    assert_eq!(stage.journal.logs(None).await.expect("logs").len(), 1);
}

#[tokio::test]
async fn a_fork_never_begins_in_the_middle_of_a_decision() {
    let stage = Stage::set().await;
    let lines = stage.journal.read(&LogId::run(stage.run.clone()), 0, 1_000).await.expect("lines");
    let told = lines.iter().find(|line| matches!(line.event, Event::SessionTold { .. }));
    let told = told.expect("something was said").seq;
    let fork = stage.bosun.fork(stage.fork(told, Some("fork"))).await.expect("a fork");
    let asked = &lines[usize::try_from(fork.origin.seq).expect("small") - 1].event;
    assert!(matches!(asked, Event::ModelAsked { .. }), "asking follows at once: {asked:?}");
}

#[tokio::test]
async fn a_fork_that_was_cut_off_is_not_gone_on_with_and_is_removed() {
    let stage = Stage::set().await;
    let lines = stage.journal.read(&LogId::run(stage.run.clone()), 0, 1_000).await.expect("lines");
    let run = RunId::fixed("r_cut");
    let origin = types::Forked { run: stage.run.clone(), seq: stage.first, head: Digest::ZERO };
    let mut copying = Copying::new(&run, &origin, &lines, lines[0].at);
    copying.folder = Some(String::new());
    let lease = stage.journal.lease(&LogId::run(run.clone())).await.expect("a lease");
    stage.bosun.begin_fork(&run, None).expect("a file");
    // Everything except the line about the agent's new folder.
    let kept = usize::try_from(stage.first).expect("small");
    stage.bosun.write(&copying, &lease, &lines[..kept]).await.expect("lines");
    let listed = async || stage.bosun.overview(false).await.expect("a list").len();
    assert_eq!((listed().await, stage.bosun.sweep_forks().await), (1, 0), "it is being made");
    drop(lease);
    assert_eq!(listed().await, 1);
    assert!(stage.bosun.reopen(&run, "ann").await.is_err());
    assert!(stage.journal.logs(Some(&run)).await.expect("logs").is_empty());
    assert!(stage.bosun.forks_being_made().is_empty());
}

#[tokio::test]
async fn a_fork_that_is_whole_stays_whatever_was_left_beside_it() {
    let stage = Stage::set().await;
    let fork = stage.bosun.fork(stage.fork(stage.first, Some("fork"))).await.expect("a fork");
    assert!(stage.bosun.forks_being_made().is_empty());
    stage.bosun.begin_fork(&fork.run, None).expect("a file");
    assert_eq!(stage.bosun.sweep_forks().await, 0);
    assert!(stage.bosun.forks_being_made().is_empty());
    stage.bosun.reopen(&fork.run, "ann").await.expect("it goes on");
}
