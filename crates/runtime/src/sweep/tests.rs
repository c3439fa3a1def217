//! Leftovers of runs in each state, and which are kept.

use std::sync::Arc;

use sandbox::Repo;
use store::MemoryJournal;

use super::*;
use crate::{Clock as _, Config, ManualClock, NewRun, NewSession};

struct Fixture {
    dir: tempfile::TempDir,
    repo: Repo,
    bosun: Bosun,
    clock: Arc<ManualClock>,
}

async fn fixture() -> Fixture {
    let dir = tempfile::tempdir().expect("a folder");
    let root = dir.path().join("repo");
    std::fs::create_dir(&root).expect("a folder");
    let repo =
        Repo::create(&root, "Start\n", Timestamp::from_millis(1)).await.expect("a repository");
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_000)));
    let setup = Config::new(Arc::new(MemoryJournal::new()), dir.path().join("home"));
    let bosun = Bosun::new(Config { clock: clock.clone(), ..setup });
    Fixture { dir, repo, bosun, clock }
}

impl Fixture {
    fn at(&self, run: &RunId) -> PathBuf {
        self.dir.path().join("home/worktrees").join(run.as_str())
    }

    /// The leftovers of a killed process of a run.
    async fn leave(&self, run: &RunId) {
        let head = self.repo.head().await.expect("a commit");
        self.repo.add_worktree(&self.at(run).join("T1.1"), &head).await.expect("a worktree");
        for folder in ["src/T1.1-1", "src/base-1"] {
            std::fs::create_dir_all(self.at(run).join(folder)).expect("a folder");
        }
        let notes = self.dir.path().join("home/changes").join(run.as_str()).join("T1.1");
        std::fs::create_dir_all(notes).expect("a folder");
    }

    /// A run that is refused at once, and so is over.
    async fn over(&self) -> RunId {
        let model = "scripted/x".parse().expect("a model");
        let new = NewRun::new(" ", self.repo.root(), model).expect("a run");
        let handle = self.bosun.start(new).await.expect("it starts");
        let run = handle.run().clone();
        handle.finished().await.expect("it ends");
        run
    }

    fn worktrees(&self) -> usize {
        let list = self.repo.common_dir().join("worktrees");
        std::fs::read_dir(list).map_or(0, Iterator::count)
    }
}

#[tokio::test]
async fn what_a_run_that_is_over_left_is_removed_with_its_registrations() {
    let fixture = fixture().await;
    let run = fixture.over().await;
    fixture.leave(&run).await;
    assert_eq!(fixture.worktrees(), 1);
    let left = fixture.bosun.sweep(Some(fixture.repo.root())).await;
    assert_eq!(left.runs.as_slice(), std::slice::from_ref(&run));
    assert!(!fixture.at(&run).exists() && fixture.worktrees() == 0);
    assert!(!fixture.dir.path().join("home/changes").join(run.as_str()).exists());
    assert!(fixture.bosun.sweep(None).await.runs.is_empty());
}

#[tokio::test]
async fn a_worktree_whose_folder_is_gone_is_forgotten_and_anothers_is_not() {
    let fixture = fixture().await;
    let run: RunId = "r_0a".parse().expect("a run");
    fixture.leave(&run).await;
    let head = fixture.repo.head().await.expect("a commit");
    let foreign = fixture.dir.path().join("mine");
    fixture.repo.add_worktree(&foreign, &head).await.expect("a worktree");
    for folder in [fixture.at(&run), foreign] {
        sandbox::remove(&folder).expect("removed");
    }
    let left = fixture.bosun.sweep(Some(fixture.repo.root())).await;
    assert_eq!((left.registrations, fixture.worktrees()), (1, 1));
}

#[tokio::test]
async fn what_is_held_or_can_be_resumed_stays() {
    let fixture = fixture().await;
    let model = "scripted/x".parse().expect("a model");
    let new = NewSession::new(fixture.repo.root(), model).expect("a session");
    let session = fixture.bosun.open(new).await.expect("it opens");
    let open = session.id().clone();
    fixture.leave(&open).await;
    let held = fixture.over().await;
    fixture.leave(&held).await;
    let lease = fixture.bosun.journal().lease(&LogId::run(held.clone())).await.expect("a lease");
    assert!(fixture.bosun.sweep(None).await.runs.is_empty());
    drop(lease);
    session.abort().await.expect("it closes");
    let mut swept = fixture.bosun.sweep(None).await.runs;
    swept.sort();
    let mut expected = vec![open, held];
    expected.sort();
    assert_eq!(swept, expected);
}

#[tokio::test]
async fn folders_that_no_log_tells_of_are_removed_only_when_they_are_old() {
    let fixture = fixture().await;
    let run: RunId = "r_0b".parse().expect("a run");
    fixture.leave(&run).await;
    let made = changed(&fixture.at(&run)).expect("a time");
    fixture.clock.skip_to(made);
    assert!(fixture.bosun.sweep(None).await.runs.is_empty());
    fixture.clock.skip_to(Timestamp::from_millis(made.millis() + NOBODYS_MS + 1_000));
    assert_eq!(fixture.bosun.sweep(None).await.runs, [run]);
}

/// A fork cut off while copying attempts has no log that a list would show.
#[tokio::test]
async fn what_a_fork_left_that_was_cut_off_is_removed_with_its_branch() {
    let fixture = fixture().await;
    let run: RunId = "r_0c".parse().expect("a run");
    let head = fixture.repo.head().await.expect("a commit");
    let branch = engine::Run::branch_of(&run);
    fixture.repo.point_branch(&branch, &head).await.expect("a branch");
    let journal = fixture.bosun.journal();
    let log = LogId::attempt(run.clone(), "T1.1".parse().expect("an attempt"));
    let lease = journal.lease(&log).await.expect("a lease");
    let fault = types::Fault::bug("x");
    let events = [store::Redactor::none().clean(Event::SealFailed { fault })];
    let at = Timestamp::from_millis(1);
    let batch = store::Batch { expect: 0, at, events: &events, taken: None };
    journal.append(&lease, batch).await.expect("a line");
    drop(lease);
    fixture.bosun.begin_fork(&run, Some((fixture.repo.root(), &head))).expect("a file");
    assert_eq!(fixture.bosun.sweep(None).await.forks, 1);
    assert!(journal.logs(Some(&run)).await.expect("logs").is_empty());
    let heads = fixture.repo.common_dir().join("refs/heads");
    assert!(!heads.join(&branch).exists());
    assert_eq!(fixture.bosun.sweep(None).await.forks, 0);
}
