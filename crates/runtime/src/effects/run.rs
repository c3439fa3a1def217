//! The effects of a run: drive an attempt's log, run a check on a commit, merge a commit into the branch.

use std::convert::Infallible;

use engine::{Attempt, Run};
use futures::future::BoxFuture;
use rules::contract;
use sandbox::{Listener, Merged};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use types::{
    Answer, Artifact, Brief, Budget, Command, CommitId, Document, Effect, Fault, Input, LogId,
    MergeEnd, Outcome, SessionChange, Timestamp,
};

use super::attempt::AttemptExecutor;
use super::check::Job;
use super::run_executor::RunExecutor;
use super::stopped;
use super::workspace::{ProfiledTools, Workspace};
use crate::event_loop::{Drive, EffectExecutor, Left, Posted, Recovery, WhenWaiting};

impl EffectExecutor<Run> for RunExecutor {
    fn look(&self, _run: &Run) -> BoxFuture<'static, Recovery> {
        Box::pin(std::future::ready(Recovery::default()))
    }

    fn effects(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let executor = self.clone();
        Box::pin(async move {
            let done = match effect {
                Effect::RunAttempt { brief, answers } => {
                    executor.attempt(*brief, answers, stop).await
                }
                Effect::Probe => Ok(Outcome::Probed(executor.services.sandboxes.proof().await)),
                Effect::RunCheck { check, what, commit, isolation, against } => {
                    let (check, what, against) = (&check, &what, &against);
                    let job = Job { check, what, result: &commit, isolation, against, stop: &stop };
                    executor.check(job).await
                }
                Effect::Merge { commit, onto, message, artifacts, at, .. } => {
                    executor.merge(&commit, &onto, &message, &artifacts, at).await
                }
                other => Err(Fault::bug(format!("a run cannot perform {:?}", other.id()))),
            };
            executor.still_there(done).unwrap_or_else(Outcome::Broke)
        })
    }
}

/// The command that ends an attempt.
fn cancel() -> Command {
    Command::Cancel { by: "run".to_owned(), reason: "stopped".to_owned() }
}

/// Takes an attempt its calls as soon as the run makes none: it waits at its next one until it gets its share again.
async fn held(
    mut hold: watch::Receiver<bool>,
    sender: &mpsc::Sender<Posted>,
    share: Budget,
) -> Infallible {
    if hold.wait_for(|held| *held).await.is_ok() {
        let none = Budget { calls: Some(0), ..share };
        let change = SessionChange { budget: Some(none), ..SessionChange::default() };
        // An attempt that has ended makes no call.
        let _sent = sender.send(Posted::new(Command::Change { change: Box::new(change) })).await;
    }
    std::future::pending().await
}

/// The command that gives an attempt its present share, if that was enlarged.
pub(crate) fn paid(attempt: &Attempt, share: Budget) -> Option<Command> {
    let change = SessionChange { budget: Some(share), ..SessionChange::default() };
    let change = Box::new(change);
    (attempt.budget() != Some(share)).then_some(Command::Change { change })
}

impl RunExecutor {
    /// Drives the attempt's log until it ends. Stopping ends the attempt; suspending leaves it.
    async fn attempt(
        &self,
        brief: Brief,
        answers: Vec<Answer>,
        stop: CancellationToken,
    ) -> Result<Outcome, Fault> {
        let log = LogId::attempt(brief.run.clone(), brief.attempt.clone());
        let machine = Attempt::new(self.policy.clone());
        let folder = self.worktrees.of_attempt(&brief.attempt);
        let around = self.services.loop_deps();
        let mut drive =
            Drive::load(machine, log, around).await.map_err(|error| self.give_up(error))?;
        if drive.is_new() {
            self.worktrees.repo().add_worktree(&folder, &brief.start).await?;
        }
        let prepared = self.preparations.prepare(&brief.start, &brief.assignment.setup).await?;
        let ready = prepared.make_ready(&folder).await?;
        if drive.is_new() && !brief.scope.0.is_empty() {
            self.trees.hand_out(&folder, &brief.start).await?;
        }
        let workspace = Workspace::of_attempt(&self.worktrees, &self.policy, &brief, ready);
        let (role, roots) = (&brief.role, workspace.names());
        let profiled = ProfiledTools::new(&self.services, &self.policy, role, roots);
        if drive.is_new() {
            let (tools, mut tool_specs) = profiled.adapt(&brief.model, &brief.tools)?;
            rules::plan::carry_schema(&mut tool_specs, &brief);
            let window = self.services.models.window(&brief.model);
            let files = self.shown(&workspace, &brief).await?;
            let price = self.services.models.price(&brief.model, &*self.services.journal).await;
            let max_output_tokens = profiled.max_output(&brief.model);
            let brief = Brief {
                tools,
                tool_specs,
                window,
                files,
                price,
                max_output_tokens,
                ..brief.clone()
            };
            let first = Input::Brief(Box::new(brief));
            drive.take(&first, None).await.map_err(|error| self.give_up(error))?;
        }
        if !engine::Machine::is_over(&drive.machine) {
            let seen = drive.machine.seen();
            let executor = AttemptExecutor::new(&brief, &seen, workspace, profiled)?;
            let given = (&*answers, paid(&drive.machine, brief.budget), brief.budget);
            let left = self.drive(&mut drive, &executor, given, &stop).await?;
            if let (Left::Waiting, Some(asking)) = (left, drive.machine.open_question()) {
                return Ok(Outcome::Asked(Box::new(asking.clone())));
            }
            if let (Left::Waiting, Some(short)) = (left, drive.machine.short()) {
                return Ok(Outcome::Short(Box::new(short)));
            }
            if let (Left::Waiting, Some(fault)) = (left, drive.machine.away()) {
                return Err(self.leave(fault));
            }
        }
        let head = drive.head().await.map_err(|error| self.give_up(error))?;
        drive.machine.end(head).map(|end| Outcome::Attempt(Box::new(end))).ok_or_else(stopped)
    }

    async fn drive(
        &self,
        drive: &mut Drive<Attempt>,
        executor: &AttemptExecutor,
        (answers, paid, share): (&[Answer], Option<Command>, Budget),
        stop: &CancellationToken,
    ) -> Result<Left, Fault> {
        // The answers to its questions; repeated ones have no effect. An attempt that waits for a person checks its
        // inbox before it returns, so it also gets the cancellation.
        let (sender, mut inbox) = mpsc::channel(answers.len() + 4);
        let answers = answers.iter().cloned().zip(0..);
        let answers =
            answers.map(|(Answer { by, text }, question)| Command::Answer { by, question, text });
        let ends = stop.is_cancelled() && !self.suspend.is_cancelled();
        for command in answers.chain(paid).chain(ends.then(cancel)) {
            // The channel holds all of them.
            let _sent = sender.try_send(Posted::new(command));
        }
        let running = drive.run(executor, &mut inbox, &self.suspend, WhenWaiting::Leave);
        tokio::pin!(running);
        let ended = tokio::select! {
            ended = &mut running => ended,
            never = held(self.hold.subscribe(), &sender, share) => match never {},
            () = stop.cancelled() => {
                // The run ends this attempt; a suspension is noticed by the loop itself.
                let posted = Posted::new(cancel());
                let (_sent, ended) = tokio::join!(sender.send(posted), running);
                ended
            }
        };
        ended.map_err(|error| self.give_up(error))
    }

    /// The initial files of an attempt: those that exist and are text. A role with a contract gets all of them, other
    /// roles those that can be quoted exactly and fit.
    async fn shown(&self, workspace: &Workspace, brief: &Brief) -> Result<Vec<Document>, Fault> {
        let mut found = Vec::new();
        if brief.shows.is_empty() {
            return Ok(found);
        }
        let env = workspace.open(&self.services, None, Listener::new(|_, _| {}), None).await?;
        let mut room = brief.reply.is_none().then_some(self.policy.session.shown_bytes);
        for path in &brief.shows {
            // Missing files and links to elsewhere are skipped; writing them reports that.
            let Ok(bytes) = env.read(path).await else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let document = Document { path: path.clone(), text };
            if let Some(room) = &mut room {
                if document.text.len() > *room || !contract::is_quotable(&document) {
                    continue;
                }
                *room -= document.text.len();
            }
            found.push(document);
        }
        Ok(found)
    }

    async fn merge(
        &self,
        commit: &CommitId,
        onto: &CommitId,
        message: &str,
        artifacts: &[Artifact],
        at: Timestamp,
    ) -> Result<Outcome, Fault> {
        let repo = self.worktrees.repo();
        let commit = match repo.merge(commit, onto, message, at).await? {
            Merged::Conflict { paths, hunks } => {
                return Ok(Outcome::Merge(MergeEnd::Conflict { paths, hunks }));
            }
            Merged::Commit(commit) => commit,
        };
        let changes = repo.changes(&self.base, &commit).await?;
        // A file that existed before was removed by the task, possibly on purpose.
        let new = repo.missing(onto, artifacts).await?;
        let missing = repo.missing(&commit, &new).await?;
        // The last step that can fail, so that the branch has nothing unrecorded.
        repo.point_branch(&self.branch, &commit).await?;
        Ok(Outcome::Merge(MergeEnd::Merged { commit, changes, missing }))
    }
}
