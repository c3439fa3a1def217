//! The simulated outside of a run and its attempts: everything takes some virtual time, and most of it may fail. The
//! content of a commit follows from its name, so that repeated requests agree.

use std::sync::{Arc, Mutex};

use engine::{Attempt, Machine as _, Run};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{
    Answer, Attack, AttemptId, Brief, Changes, CheckEnd, CheckId, Command, CommitId, Digest,
    Effect, EffectId, Ended, Fault, FaultClass, FileChange, FileState, Input, IsolationLevel,
    LogId, MergeEnd, Millis, Outcome, Proof, Recovered, Sealed, Shown, Subject, ToolOutput,
    ToolSpec, Trial,
};

use super::dice::Dice;
use super::model::Asked;
use super::watched::watched_attempt;
use super::world::World;
use crate::effects::run::paid;
use crate::event_loop::{
    Drive, DriveError, EffectExecutor, Left, LoopDeps, Posted, Recovery, WhenWaiting,
};

/// Performs the effects of a run.
#[derive(Clone)]
pub(super) struct RunSide {
    pub(super) world: Arc<World>,
    pub(super) around: LoopDeps,
    pub(super) suspend: CancellationToken,
    /// Why nothing can be recorded any more.
    pub(super) broken: Arc<Mutex<Option<DriveError>>>,
}

/// Performs the effects of an attempt.
#[derive(Clone)]
pub(super) struct AttemptSide {
    pub(super) world: Arc<World>,
    pub(super) brief: Arc<Brief>,
}

impl World {
    /// Performs one effect: it starts, takes a while or is stopped, and ends; the process may die around it.
    async fn effects(
        &self,
        attempt: Option<&AttemptId>,
        effect: &Effect,
        stop: &CancellationToken,
        outcome: impl FnOnce(&mut Dice) -> (Outcome, Option<&'static str>),
    ) -> Outcome {
        self.step("killed before an effect").await;
        let (delay, (outcome, fault)) = {
            let mut state = self.lock();
            (state.dice.delay(), outcome(&mut state.dice))
        };
        let stopped = tokio::select! {
            biased;
            () = stop.cancelled() => true,
            () = self.clock.sleep(delay) => false,
        };
        self.step("killed after an effect").await;
        let mut state = self.lock();
        state.laws.ends(attempt, &effect.id());
        if stopped {
            return cut(effect);
        }
        if let Some(fault) = fault {
            state.count(fault);
        }
        outcome
    }

    /// The loop starts an effect.
    fn begins(&self, attempt: Option<&AttemptId>, effect: &Effect) {
        let mut state = self.lock();
        state.tally.effects += 1;
        state.laws.begins(attempt, effect);
    }

    fn fails(&self, dice: &mut Dice) -> bool {
        dice.chance(self.case.rough)
    }
}

/// The outcome of a stopped effect.
fn cut(effect: &Effect) -> Outcome {
    let stopped = Fault::new(FaultClass::Person, "stopped", "it was stopped before it was done");
    match effect {
        Effect::AskModel { .. } => Outcome::Model(Err(stopped)),
        Effect::RunTool { .. } => Outcome::Tool(ToolOutput::error("it was stopped")),
        _ => Outcome::Broke(stopped),
    }
}

impl EffectExecutor<Run> for RunSide {
    fn look(&self, _run: &Run) -> BoxFuture<'static, Recovery> {
        Box::pin(std::future::ready(Recovery::default()))
    }

    fn effects(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let side = self.clone();
        side.world.begins(None, &effect);
        Box::pin(async move {
            if let Effect::RunAttempt { brief, answers } = effect {
                let id = EffectId::Attempt(brief.attempt.clone());
                let done = side.attempt(*brief, answers, &stop).await;
                side.world.lock().laws.ends(None, &id);
                return done.unwrap_or_else(Outcome::Broke);
            }
            let world = side.world.clone();
            world.effects(None, &effect, &stop, |dice| side.outcome(&effect, dice)).await
        })
    }
}

/// Definitions for tools without one.
pub(super) fn specs(tools: &[String]) -> Vec<ToolSpec> {
    let (description, schema) = (String::new(), serde_json::json!({}));
    let spec = |name: &String| ToolSpec {
        name: name.clone(),
        description: description.clone(),
        schema: schema.clone(),
    };
    tools.iter().map(spec).collect()
}

/// The probed isolation.
fn probed(fails: bool) -> (Outcome, Option<&'static str>) {
    if fails {
        return (Outcome::Probed(Proof::nothing("there is no Landlock")), Some("no sandbox"));
    }
    let attacks = vec![Attack { what: "write outside".to_owned(), through: None }];
    (Outcome::Probed(Proof { level: IsolationLevel::Full, attacks, missing: vec![] }), None)
}

fn broke(code: &str) -> Outcome {
    Outcome::Broke(Fault::structural(code, "simulated"))
}

impl RunSide {
    fn outcome(&self, effect: &Effect, dice: &mut Dice) -> (Outcome, Option<&'static str>) {
        let fails = self.world.fails(dice);
        match effect {
            Effect::Probe => probed(fails && dice.chance(30)),
            Effect::RunCheck { check, commit, .. } => self.check(check, commit, fails, dice),
            Effect::Merge { .. } if fails => match dice.below(3) {
                0 => (broke("git.failed"), Some("merge broke")),
                1 => (broke("git.disk"), Some("git's disk failed")),
                _ => {
                    let (paths, hunks) = (vec!["src/a.rs".to_owned()], "<<<<<<<".to_owned());
                    (Outcome::Merge(MergeEnd::Conflict { paths, hunks }), Some("merge conflict"))
                }
            },
            Effect::Merge { task, commit, onto, artifacts, .. } => {
                let name = format!("{task} {} on {}", commit.0, onto.0);
                let commit = CommitId(Digest::of(name.as_bytes()).short());
                let missing = if dice.chance(4) { artifacts.clone() } else { vec![] };
                (
                    Outcome::Merge(MergeEnd::Merged {
                        commit,
                        changes: changes("src/a.rs"),
                        missing,
                    }),
                    None,
                )
            }
            other => (Outcome::Broke(Fault::bug(format!("{:?}", other.id()))), None),
        }
    }

    /// The result of a check follows from the tree, unless it is flaky.
    fn check(
        &self,
        check: &CheckId,
        commit: &CommitId,
        fails: bool,
        dice: &mut Dice,
    ) -> (Outcome, Option<&'static str>) {
        let rough = self.world.case.rough;
        let name = format!("{} of {}", check.index, commit.0);
        let sound = !Dice::of(self.world.case.seed, &name).chance(rough);
        let passes = match &check.on {
            Subject::Base | Subject::Without(_) => !sound,
            Subject::Trial { trial, .. } => {
                matches!(trial, Trial::BaseTests | Trial::Moved | Trial::Others) == sound
            }
            Subject::Attempt(_) | Subject::Merged | Subject::WithTests | Subject::Landed(_) => {
                sound
            }
        };
        let (ended, fault) = match dice.below(5) {
            0 if fails => return (broke("check.broke"), Some("check broke")),
            1 if fails => (Ended::TimedOut, Some("check hangs")),
            2 if fails => (Ended::Signalled(9), Some("check killed")),
            3 if fails => (Ended::Exited(i32::from(passes)), Some("check flakes")),
            _ => (Ended::Exited(i32::from(!passes)), None),
        };
        let mut end = CheckEnd::new(ended, Shown::default(), Millis(7));
        if !passes && matches!(&check.on, Subject::Trial { trial: Trial::Mutated, .. }) {
            end.noticed = vec!["a.py:1".to_owned()];
        }
        if fails && dice.chance(10) {
            end.cannot_run = Some("make is not installed".to_owned());
        }
        (Outcome::Check(Box::new(end)), fault)
    }

    /// Stops everything with the first error of an unwritable log.
    fn give_up(&self, error: DriveError) -> Fault {
        let fault = error.fault();
        if let Ok(mut broken) = self.broken.lock() {
            broken.get_or_insert(error);
        }
        self.suspend.cancel();
        fault
    }

    /// Drives the attempt's log, as the real executor of a run does.
    async fn attempt(
        &self,
        brief: Brief,
        answers: Vec<Answer>,
        stop: &CancellationToken,
    ) -> Result<Outcome, Fault> {
        let world = &self.world;
        let log = LogId::attempt(brief.run.clone(), brief.attempt.clone());
        let machine = Attempt::new(world.case.policy.clone());
        let drive = Drive::load(machine, log, self.around.clone()).await;
        let drive = drive.map_err(|error| self.give_up(error))?;
        let mut drive = watched_attempt(drive, world, &brief.attempt);
        let setup_fails = {
            let mut state = world.lock();
            drive.is_new() && world.fails(&mut state.dice) && state.dice.chance(15)
        };
        if setup_fails {
            world.lock().count("worktree not ready");
            return Err(Fault::structural("git.worktree", "simulated"));
        }
        if drive.is_new() {
            let tool_specs = specs(&brief.tools);
            let (window, price) = (world.case.window, world.case.price);
            let brief = Brief { tool_specs, window, price, ..brief.clone() };
            let first = Input::Brief(Box::new(brief));
            drive.take(&first, None).await.map_err(|error| self.give_up(error))?;
        }
        if !drive.machine.is_over() {
            let paid = paid(&drive.machine, brief.budget);
            let executor = AttemptSide { world: world.clone(), brief: Arc::new(brief) };
            let left = self.drive(&mut drive, &executor, (&answers, paid), stop).await?;
            if let (Left::Waiting, Some(asking)) = (left, drive.machine.open_question()) {
                return Ok(Outcome::Asked(Box::new(asking.clone())));
            }
            if let (Left::Waiting, Some(short)) = (left, drive.machine.short()) {
                world.lock().count("an attempt waits for a larger share");
                return Ok(Outcome::Short(Box::new(short)));
            }
            if let (Left::Waiting, Some(fault)) = (left, drive.machine.away()) {
                world.lock().count("left because a model stays away");
                self.suspend.cancel();
                return Err(fault.clone());
            }
        }
        let head = drive.head().await.map_err(|error| self.give_up(error))?;
        let end = drive.machine.end(head).map(|end| Outcome::Attempt(Box::new(end)));
        end.ok_or_else(|| Fault::new(FaultClass::Person, "stopped", "it was stopped"))
    }

    async fn drive(
        &self,
        drive: &mut Drive<Attempt>,
        executor: &AttemptSide,
        (answers, paid): (&[Answer], Option<Command>),
        stop: &CancellationToken,
    ) -> Result<Left, Fault> {
        let (sender, mut inbox) = mpsc::channel(answers.len() + 3);
        let cancel = || Command::Cancel { by: "run".to_owned(), reason: "stopped".to_owned() };
        let answers = answers.iter().cloned().zip(0..);
        let answers =
            answers.map(|(Answer { by, text }, question)| Command::Answer { by, question, text });
        let ends = stop.is_cancelled() && !self.suspend.is_cancelled();
        for command in answers.chain(paid).chain(ends.then(cancel)) {
            let _sent = sender.try_send(Posted::new(command));
        }
        let running = drive.run(executor, &mut inbox, &self.suspend, WhenWaiting::Leave);
        tokio::pin!(running);
        let ended = tokio::select! {
            biased;
            ended = &mut running => ended,
            () = stop.cancelled() => {
                let posted = Posted::new(cancel());
                let (_sent, ended) = tokio::join!(sender.send(posted), running);
                ended
            }
        };
        ended.map_err(|error| self.give_up(error))
    }
}

impl EffectExecutor<Attempt> for AttemptSide {
    fn look(&self, attempt: &Attempt) -> BoxFuture<'static, Recovery> {
        let open = attempt.open_calls();
        let (world, mut recovered) = (&self.world, Vec::new());
        for (call, _) in open {
            let known = world.lock().dice.pick(&[
                None,
                None,
                Some(Recovered::Finished),
                Some(Recovered::Undone),
            ]);
            recovered.extend(known.map(|known| (call, known)));
        }
        let workspace = Some("M src/a.rs".to_owned());
        Box::pin(std::future::ready(Recovery { workspace, recovered }))
    }

    fn effects(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let side = self.clone();
        side.world.begins(Some(&side.brief.attempt), &effect);
        Box::pin(async move {
            let (world, attempt) = (&side.world, &side.brief.attempt);
            world.effects(Some(attempt), &effect, &stop, |dice| side.outcome(&effect, dice)).await
        })
    }
}

impl AttemptSide {
    fn outcome(&self, effect: &Effect, dice: &mut Dice) -> (Outcome, Option<&'static str>) {
        let fails = self.world.fails(dice);
        match effect {
            Effect::AskModel { request } => {
                let (rough, price) = (self.world.case.rough, self.world.case.price);
                let asked = Asked { brief: &self.brief, request, rough, price };
                let (reply, fault) = asked.answer(dice);
                (Outcome::Model(reply), fault)
            }
            Effect::RunTool { .. } if fails => match dice.below(3) {
                0 => (broke("tool.broke"), Some("tool broke")),
                1 => (Outcome::Tool(ToolOutput::error("it timed out")), Some("tool timed out")),
                _ => (Outcome::Tool(ToolOutput::error("it did not work")), Some("tool failed")),
            },
            Effect::RunTool { .. } => {
                let long = usize::try_from(dice.pick(&[1, 1, 1, 40, 2_000])).unwrap_or(1);
                (Outcome::Tool(ToolOutput::ok("done ".repeat(long))), None)
            }
            Effect::Look { words, .. } => {
                let text = if fails { "changed" } else { "as ever" };
                let digest = Some(Digest::of(text.as_bytes()));
                let state = |word: &String| Some(FileState { path: word.parse().ok()?, digest });
                (Outcome::Looked(words.iter().filter_map(state).collect()), None)
            }
            Effect::Seal { .. } if fails && dice.chance(50) => {
                let code = dice.pick(&["git.failed", "git.disk"]);
                (Outcome::Sealed(Err(Fault::structural(code, "simulated"))), Some("seal failed"))
            }
            Effect::Seal { .. } => {
                let own = self.brief.scope.0.first().map(|a| a.path.as_str().to_owned());
                let paths = match own.filter(|path| !path.is_empty() && path != ".") {
                    Some(own) if fails => format!("{own} Makefile"),
                    Some(own) => own,
                    None => String::new(),
                };
                let name = format!("{}@{}", self.brief.attempt, self.brief.start.0);
                let commit = CommitId(Digest::of(name.as_bytes()).short());
                let findings = types::Findings::default();
                (Outcome::Sealed(Ok(Sealed { commit, changes: changes(&paths), findings })), None)
            }
            Effect::Probe => probed(fails && dice.chance(30)),
            other => (Outcome::Broke(Fault::bug(format!("{:?}", other.id()))), None),
        }
    }
}

/// One changed line in each of these files.
fn changes(paths: &str) -> Changes {
    let change = |path: &str| {
        let new = path.starts_with("tests/");
        let how = if new { types::ChangeKind::Added } else { types::ChangeKind::Modified };
        let path = path.parse().ok()?;
        Some(FileChange { path, added: 1, removed: 0, how, only_comments: false })
    };
    Changes(paths.split_whitespace().filter_map(change).collect())
}
