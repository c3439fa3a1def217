//! Settling the result of a finished run: the person accepts it into their branch, or discards it. Either is the only
//! event that may follow the end of a run, and can be repeated after a crash.

use std::collections::BTreeMap;

use engine::Run;
use sandbox::{Repo, Taken};
use types::{Command, CommitId, Input, RunId, RunView, Settled, Settling, Status};

use crate::api::Bosun;
use crate::error::Error;
use crate::event_loop::Drive;

mod tests_by_others;
pub use tests_by_others::AddedTests;

/// How to accept a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// Who accepts it.
    pub by: String,
    /// Makes a merge commit if the person's branch has diverged.
    pub merge: bool,
    /// Accepts it although the run did not succeed.
    pub force: bool,
    pub author: CommitAuthor,
}

/// The author of the commits of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommitAuthor {
    /// Bosun: the commits of the run's branch unchanged, as named in its log and its proof.
    #[default]
    Bosun,
    /// The person, by their own git identity: the same trees in new commits, whose messages give the reason, the task
    /// and the evidence.
    Person,
}

/// Why a result was not settled. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error(
        "run {run} is not over ({status}); finish it with `bosun resume {run}`, or end it with `bosun cancel {run}`"
    )]
    NotOver { run: RunId, status: &'static str },
    #[error(
        "run {run} is waiting for an answer to question #{question} ({text}); answer with `bosun answer \
         {run} {question} …`, or end the run with `bosun cancel {run}`"
    )]
    Waiting { run: RunId, question: u32, text: String },
    #[error("run {run} ended as {status}; accept its result anyway with --force")]
    NotDone { run: RunId, status: &'static str },
    #[error("the result of run {run} was {} by {}", settled.how.as_str(), settled.by)]
    Settled { run: RunId, settled: Settled },
    #[error("the result of run {run} is not accepted")]
    NotAccepted { run: RunId },
    #[error("{path} exists already; the tests of run {run} were not added")]
    Exists { run: RunId, path: String },
    #[error("{path} is a link; the tests of run {run} were not added")]
    Link { run: RunId, path: String },
    #[error("run {run} has no changes to accept")]
    Nothing { run: RunId },
    #[error(
        "run {run} was started on {started}, but {now} is checked out; go back first with `git switch {back}`"
    )]
    OtherBranch { run: RunId, started: String, now: String, back: String },
    #[error("{branch} has moved since run {run} was started; merge the result with --merge")]
    Diverged { run: RunId, branch: String },
    #[error("the result of run {run} conflicts with {branch} in {}; merge {result} by hand", paths.join(", "))]
    Conflict { run: RunId, branch: String, paths: Vec<String>, result: String },
    #[error(
        "git has no identity for you; set one with `git config --global user.name NAME` and `git config --global \
         user.email EMAIL`"
    )]
    NoIdentity,
    #[error(transparent)]
    Door(Error),
}

impl<E: Into<Error>> From<E> for SettleError {
    fn from(error: E) -> Self {
        Self::Door(error.into())
    }
}

/// A settled result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    pub view: RunView,
    pub settled: Settled,
    /// How it was put on the person's branch, if accepted.
    pub taken: Option<Taken>,
    /// The person's branch when the run was started; none with a detached HEAD.
    pub branch: Option<String>,
    /// The changed files, with those of the results that a follow-up builds on.
    pub files: usize,
    /// Whether it passed tests by another author, which are not on the branch.
    pub has_tests: bool,
}

/// The longest chain of follow-ups.
const MOST_FOLLOWED: usize = 100;

impl Bosun {
    /// Accepts a run's result into the branch that is checked out in the person's repository.
    pub async fn accept(&self, run: &RunId, how: &Acceptance) -> Result<Settlement, SettleError> {
        let mut drive = self.finished(run).await?;
        let view = self.shown(&drive.machine);
        if view.head == view.base {
            return Err(SettleError::Nothing { run: run.clone() });
        }
        if view.status != Status::Done && !how.force {
            return Err(SettleError::NotDone { run: run.clone(), status: view.status.as_str() });
        }
        let repo = self.repository_of(&drive.machine).await?;
        let now = same_branch(&drive.machine, &repo).await?;
        // With the unsettled results that it builds on.
        let before = self.followed(&drive.machine).await?;
        let open = before.into_iter().take_while(|view| view.settled.is_none());
        let chain: Vec<RunView> = std::iter::once(view.clone()).chain(open).collect();
        let base = chain.last().map_or(&view.base, |first| &first.base);
        let files = repo.changes(base, &view.head).await?.0.len();
        let message = message(&view);
        let merge = how.merge.then(|| (message.as_str(), self.services.clock.now()));
        let result = match how.author {
            CommitAuthor::Bosun => view.head.clone(),
            CommitAuthor::Person => self.authored(&repo, (base, &view.head), &chain).await?,
        };
        let taken = repo.take(&result, merge).await?;
        let branch = now.unwrap_or_else(|| "HEAD".to_owned());
        let commit = match &taken {
            Taken::Already(commit) | Taken::Forwarded(commit) | Taken::Merged(commit) => {
                commit.clone()
            }
            Taken::Diverged => return Err(SettleError::Diverged { run: run.clone(), branch }),
            Taken::Conflict(paths) => {
                let (paths, result) = (paths.clone(), view.branch.clone());
                return Err(SettleError::Conflict { run: run.clone(), branch, paths, result });
            }
        };
        let settled = Settled { how: Settling::Accepted, commit, by: how.by.clone() };
        self.record(&mut drive, settled, (Some(taken), files)).await
    }

    /// The runs that a follow-up builds on, latest first.
    pub(crate) async fn followed(&self, machine: &Run) -> Result<Vec<RunView>, Error> {
        let follows = |machine: &Run| machine.request().and_then(|request| request.follows.clone());
        let (mut next, mut views) = (follows(machine), Vec::new());
        while let Some(run) = next.filter(|_| views.len() < MOST_FOLLOWED) {
            let before = self.load(&run).await?;
            views.push(self.shown(&before));
            next = follows(&before);
        }
        Ok(views)
    }

    /// Recommits the results of these runs with the person as author.
    async fn authored(
        &self,
        repo: &Repo,
        (base, head): (&CommitId, &CommitId),
        chain: &[RunView],
    ) -> Result<CommitId, SettleError> {
        let person = repo.person().await?.ok_or(SettleError::NoIdentity)?;
        let mut messages = BTreeMap::new();
        for view in chain {
            for merge in self.landed(&view.run).await? {
                if let Some(task) = view.tasks.iter().find(|task| task.id == merge.task) {
                    messages.insert(merge.to, engine::export::commit_message(view, task));
                }
            }
        }
        let words = |commit: &CommitId| messages.get(commit).cloned();
        Ok(repo.authored(base, head, &person, words).await?)
    }

    /// Discards a run's result: its branch and its worktrees. An accepted result cannot be discarded.
    pub async fn discard(&self, run: &RunId, by: &str) -> Result<Settlement, SettleError> {
        let mut drive = self.finished(run).await?;
        let view = self.shown(&drive.machine);
        // A missing repository has nothing to discard.
        if let Some(repo) = self.close(&drive.machine).await? {
            repo.drop_branch(&view.branch, &view.head).await?;
        }
        let settled = Settled { how: Settling::Discarded, commit: view.head, by: by.to_owned() };
        self.record(&mut drive, settled, (None, view.changes.0.len())).await
    }

    /// The log of a finished run with an unsettled result, with its lease.
    async fn finished(&self, run: &RunId) -> Result<Drive<Run>, SettleError> {
        // Read under the lease: a result settled meanwhile is not settled again.
        let drive = self.held(run).await?;
        let view = self.shown(&drive.machine);
        let open = view.questions.iter().find(|asked| asked.answer.is_none());
        if let (Status::Waiting, Some(asked)) = (view.status, open) {
            let (question, text) = (asked.id, types::one_line(&asked.text, 200));
            return Err(SettleError::Waiting { run: run.clone(), question, text });
        }
        if matches!(view.status, Status::Running | Status::Waiting) {
            return Err(SettleError::NotOver { run: run.clone(), status: view.status.as_str() });
        }
        if let Some(settled) = view.settled {
            return Err(SettleError::Settled { run: run.clone(), settled });
        }
        Ok(drive)
    }

    async fn record(
        &self,
        drive: &mut Drive<Run>,
        settled: Settled,
        (taken, files): (Option<Taken>, usize),
    ) -> Result<Settlement, SettleError> {
        let command = Command::Settle { settled: settled.clone() };
        drive.take(&Input::Command(command), None).await?;
        let branch = drive.machine.survey().and_then(|survey| survey.branch.clone());
        let has_tests = !drive.machine.passed_tests().is_empty();
        let view = self.shown(&drive.machine);
        Ok(Settlement { view, settled, taken, branch, files, has_tests })
    }
}

/// The branch that is checked out, which must be the one that the run was started on.
async fn same_branch(machine: &Run, repo: &Repo) -> Result<Option<String>, SettleError> {
    let started = machine.survey().and_then(|survey| survey.branch.clone());
    let now = repo.checked_out().await?;
    if started == now {
        return Ok(now);
    }
    let base = machine.survey().map(|survey| survey.base.to_string()).unwrap_or_default();
    let back = started.clone().unwrap_or_else(|| format!("--detach {base}"));
    let word = |branch: Option<String>| branch.unwrap_or_else(|| "no branch".to_owned());
    let (run, started, now) = (machine.id().clone(), word(started), word(now));
    Err(SettleError::OtherBranch { run, started, now, back })
}

/// The message of a merge commit, with the trailer that names the run.
fn message(view: &RunView) -> String {
    let goal = types::headline(&view.goal, 60);
    let CommitId(result) = &view.head;
    format!("Merge {}: {goal}\n\nThe result is {result}.\n\nBosun-Run: {}\n", view.branch, view.run)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::{Journal as _, JournalError, MemoryJournal};
    use types::{LogId, Timestamp};

    use super::*;
    use crate::{Config, DriveError, NewRun};

    /// Two concurrent settlements: the second reads only after the first has written.
    #[tokio::test]
    async fn what_is_on_record_is_read_by_one_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let repo = dir.path().join("repo");
        std::fs::create_dir(&repo).expect("a folder");
        Repo::create(&repo, "Start\n", Timestamp::from_millis(1)).await.expect("a repository");
        let journal = Arc::new(MemoryJournal::new());
        let bosun = Bosun::new(Config::new(journal.clone(), dir.path().join("home")));
        // It is refused at once, and so is over.
        let model = "scripted/x".parse().expect("a model");
        let handle = bosun.start(NewRun::new(" ", &repo, model).expect("a run")).await;
        let handle = handle.expect("it starts");
        let run = handle.run().clone();
        handle.finished().await.expect("it ends");
        bosun.discard(&run, "ann").await.expect("it is over");
        let other = journal.lease(&LogId::run(run.clone())).await.expect("nobody has it");
        let busy = bosun.discard(&run, "ben").await.expect_err("somebody else has it");
        assert!(matches!(
            busy,
            SettleError::Door(Error::Drive(DriveError::Journal(JournalError::Busy { .. })))
        ));
        drop(other);
        let settled = bosun.discard(&run, "ben").await.expect_err("it is settled");
        assert!(settled.to_string().contains("by ann"), "{settled}");
    }
}
