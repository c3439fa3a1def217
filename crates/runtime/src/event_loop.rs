//! The loop. It loads a log, folds it into a machine, and until the machine is over: starts pending effects, takes one
//! input, lets the machine decide, stores the events, and only then publishes or performs anything. It contains no
//! rule.

use std::sync::Arc;

use engine::Machine;
use futures::future::BoxFuture;
use store::{Batch, Clean, Journal, JournalError, Lease, Redactor, Summary};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use types::{
    CallId, Command, Digest, Effect, EffectId, Envelope, Event, Fault, FaultClass, Input, Listed,
    LogId, Outcome, Recovered, Timestamp,
};

use crate::clock::Clock;
use crate::in_flight::{Order, RunningEffects};
use crate::watch::hash_of;

/// More events than this from one input are a bug.
const MOST_EVENTS: usize = 100_000;
/// The lines read at a time when a log is loaded.
const PAGE: usize = 1_000;

/// The dependencies of the loop.
#[derive(Debug, Clone)]
pub(crate) struct LoopDeps {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) order: Order,
}

/// The state of a workspace after a crash, and the known outcomes of calls that were cut off.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    pub(crate) workspace: Option<String>,
    pub(crate) recovered: Vec<(CallId, Recovered)>,
}

/// Performs the effects of a machine.
pub(crate) trait EffectExecutor<M>: Send + Sync {
    /// The state of the workspace, for a machine that was just loaded and has calls with unknown outcomes.
    fn look(&self, machine: &M) -> BoxFuture<'static, Recovery>;

    fn effects(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome>;
}

/// A command on its way to a machine, with its number if it came from the inbox.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) number: Option<u64>,
    pub(crate) command: Command,
    /// Notified as soon as its consequences are recorded.
    pub(crate) heard: Option<oneshot::Sender<()>>,
}

impl Posted {
    pub(crate) fn new(command: Command) -> Self {
        Self { number: None, command, heard: None }
    }
}

/// Behaviour of the loop when only a person can continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenWaiting {
    Leave,
    Stay,
}

/// Called with the machine after each step, and the lines just stored.
pub(crate) type Observer<M> = Box<dyn Fn(&M, &[Envelope]) + Send + Sync>;

/// Why the loop returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The machine is over.
    Over,
    /// Only a person can continue.
    Waiting,
    /// It was suspended.
    Suspended,
}

/// Why a loop failed. Everything acknowledged before is safe.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(
        "repository {path} no longer exists; restore it, or name its new path: `bosun resume {run} --repo PATH`"
    )]
    RepositoryGone { run: types::RunId, path: String },
    #[error("bug: one input to {log} led to more than {MOST_EVENTS} events")]
    Endless { log: LogId },
}

impl DriveError {
    /// The fault for the work that the loop was driving.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Journal(error) => error.fault(),
            Self::RepositoryGone { .. } => {
                Fault::new(FaultClass::Resource, "git.no_repository", self.to_string())
            }
            Self::Endless { .. } => Fault::new(FaultClass::Bug, "bug", self.to_string()),
        }
    }
}

/// A machine with its log.
pub(crate) struct Drive<M> {
    pub(crate) machine: M,
    log: LogId,
    lease: Lease,
    seq: u64,
    around: LoopDeps,
    observer: Option<Observer<M>>,
    /// The summary that is stored beside the log.
    listed: Option<Listed>,
    /// Whether the machine has been woken before the loop runs.
    woken: bool,
}

impl<M: Machine> Drive<M> {
    /// Takes the lease on the log and folds it into the machine.
    pub(crate) async fn load(machine: M, log: LogId, around: LoopDeps) -> Result<Self, DriveError> {
        let lease = around.journal.lease(&log).await?;
        // A machine is large; this avoids a second copy.
        Box::pin(Self::load_held(machine, lease, around)).await
    }

    /// The same with a lease already held.
    pub(crate) async fn load_held(
        machine: M,
        lease: Lease,
        around: LoopDeps,
    ) -> Result<Self, DriveError> {
        let log = lease.log().clone();
        let (observer, listed, woken) = (None, None, false);
        let mut drive = Self { machine, log, lease, seq: 0, around, observer, listed, woken };
        drive.seq = fold(&mut drive.machine, &drive.log, &*drive.around.journal).await?;
        Ok(drive)
    }

    /// Calls an observer after every step, starting with the current state.
    pub(crate) fn observed_by(mut self, observer: Observer<M>) -> Self {
        observer(&self.machine, &[]);
        self.observer = Some(observer);
        self
    }

    pub(crate) fn is_new(&self) -> bool {
        self.seq == 0
    }

    /// Takes one input: decides, decides what is due, and stores all events atomically.
    pub(crate) async fn take(
        &mut self,
        input: &Input,
        taken: Option<u64>,
    ) -> Result<(), DriveError> {
        self.take_all(std::slice::from_ref(input), taken).await
    }

    /// The same for several inputs, all or none of which are recorded.
    pub(crate) async fn take_all(
        &mut self,
        inputs: &[Input],
        taken: Option<u64>,
    ) -> Result<(), DriveError> {
        let now = self.around.clock.now();
        let mut batch: Vec<Clean> = Vec::new();
        for input in inputs {
            let mut events = self.machine.decide(input, now);
            // An input without events, such as a timer, may also make something due.
            loop {
                for event in events {
                    let clean = self.around.redactor.clean(event);
                    self.machine.apply(clean.event(), now);
                    batch.push(clean);
                }
                if batch.len() > MOST_EVENTS {
                    return Err(DriveError::Endless { log: self.log.clone() });
                }
                events = self.machine.decide(&Input::Due, now);
                if events.is_empty() {
                    break;
                }
            }
        }
        self.store(&batch, now, taken).await
    }

    /// Takes all commands in the run's inbox; returns whether there were any.
    pub(crate) async fn take_posted(&mut self) -> Result<bool, DriveError> {
        let posted = self.around.journal.posted(&self.log.run).await?;
        let some = !posted.is_empty();
        for (number, command) in posted {
            self.take(&Input::Command(command), Some(number)).await?;
        }
        Ok(some)
    }

    /// Takes all commands in the inbox of a session that is resumed. If one is an answer, the session is woken first: a
    /// call that the answer allows is not one that was interrupted. Interrupted calls have to be looked at before the
    /// machine wakes; then the commands are left to the loop.
    pub(crate) async fn wake_and_take_posted(&mut self) -> Result<(), DriveError> {
        let posted = self.around.journal.posted(&self.log.run).await?;
        let answered = posted.iter().any(|(_, command)| matches!(command, Command::Answer { .. }));
        if answered && !self.machine.is_over() {
            let woke = Input::Woke { workspace: None, recovered: vec![] };
            let decided = self.machine.decide(&woke, self.around.clock.now());
            if decided.iter().any(|event| matches!(event, Event::ToolLost { .. })) {
                return Ok(());
            }
            self.take(&woke, None).await?;
            self.woken = true;
        }
        self.take_posted().await.map(|_| ())
    }

    async fn store(
        &mut self,
        events: &[Clean],
        at: Timestamp,
        taken: Option<u64>,
    ) -> Result<(), DriveError> {
        if events.is_empty() && taken.is_none() {
            return Ok(());
        }
        let batch = Batch { expect: self.seq, at, events, taken };
        let lines = self.append(batch).await?;
        self.seq = lines.last().map_or(self.seq, |line| line.seq);
        if let Some(observer) = &self.observer {
            observer(&self.machine, &lines);
        }
        Ok(())
    }

    /// Appends, with the list entry of the log if it changed. Logs of attempts are not listed.
    async fn append(&mut self, batch: Batch<'_>) -> Result<Vec<Envelope>, JournalError> {
        let journal = &self.around.journal;
        let listed = self.machine.listed().filter(|_| self.log.attempt.is_none());
        if listed.is_none() {
            return journal.append(&self.lease, batch).await;
        }
        let new = listed.as_ref().filter(|_| listed != self.listed);
        let summary = new.and_then(|listed| summary(&self.machine, listed));
        let lines = journal.append_summarized(&self.lease, batch, summary).await?;
        self.listed = listed;
        Ok(lines)
    }

    /// Drives the machine until it is over, waits for a person and may leave, or is suspended.
    pub(crate) async fn run<H: EffectExecutor<M> + ?Sized>(
        &mut self,
        executor: &H,
        inbox: &mut mpsc::Receiver<Posted>,
        suspend: &CancellationToken,
        waiting: WhenWaiting,
    ) -> Result<Left, DriveError> {
        let mut in_flight = RunningEffects::new(self.around.order, suspend.child_token());
        let left = self.start_due(executor, inbox, suspend, waiting, &mut in_flight).await;
        if matches!(left, Err(DriveError::Journal(JournalError::Fenced { .. }))) {
            // Another process drives it now: all our work stops, and nothing is recorded as ended.
            suspend.cancel();
        }
        in_flight.drain().await;
        left
    }

    async fn start_due<H: EffectExecutor<M> + ?Sized>(
        &mut self,
        executor: &H,
        inbox: &mut mpsc::Receiver<Posted>,
        suspend: &CancellationToken,
        waiting: WhenWaiting,
        in_flight: &mut RunningEffects,
    ) -> Result<Left, DriveError> {
        if !std::mem::take(&mut self.woken) {
            let Recovery { workspace, recovered } = executor.look(&self.machine).await;
            self.take(&Input::Woke { workspace, recovered }, None).await?;
        }
        let mut renewal = self.lease.renew_every().map(tokio::time::interval);
        loop {
            if self.machine.is_over() {
                return Ok(Left::Over);
            }
            self.start_effects(executor, in_flight);
            let idle = in_flight.only_timers() && inbox.is_empty();
            if idle && waiting == WhenWaiting::Leave && self.machine.waits_for_a_person() {
                return Ok(Left::Waiting);
            }
            if let Some(until) = in_flight.nothing_before() {
                self.around.clock.skip_to(until);
            }
            let clock = self.around.clock.clone();
            tokio::select! {
                biased;
                () = suspend.cancelled() => return Ok(Left::Suspended),
                () = self.lease.lost() => return Err(self.fenced().into()),
                () = due(&mut renewal) => self.around.journal.renew(&self.lease).await?,
                Some(posted) = inbox.recv() => {
                    self.take(&Input::Command(posted.command), posted.number).await?;
                    // The sender may not be waiting for it.
                    posted.heard.map(|heard| heard.send(()));
                }
                (effect, outcome) = in_flight.next(&*clock) => {
                    self.take(&Input::Outcome(effect, outcome), None).await?;
                }
            }
        }
    }

    fn fenced(&self) -> JournalError {
        let (log, generation) = (self.log.clone(), self.lease.generation());
        JournalError::Fenced { log, generation }
    }

    fn start_effects<H: EffectExecutor<M> + ?Sized>(
        &self,
        executor: &H,
        in_flight: &mut RunningEffects,
    ) {
        in_flight.release(|id| self.machine.awaits(id));
        for effect in self.machine.pending(in_flight.ids()) {
            match effect {
                Effect::Wait { timer, until } => {
                    in_flight.start_timer(EffectId::Timer(timer), until);
                }
                effect => in_flight.start(effect.id(), |stop| executor.effects(effect, stop)),
            }
        }
        if self.machine.winds_down() {
            in_flight.stop_all();
        }
    }

    /// The hash of the last line of the log.
    pub(crate) async fn head(&self) -> Result<Digest, DriveError> {
        Ok(hash_of(&*self.around.journal, &self.log, self.seq).await?)
    }
}

/// Waits until the lease must be renewed; forever, if it need not be.
async fn due(renewal: &mut Option<tokio::time::Interval>) {
    match renewal {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}

/// The summary stored beside the log of a machine.
pub(crate) fn summary<M: Machine>(machine: &M, listed: &Listed) -> Option<Summary> {
    let whole = machine.last_view().and_then(|view| serde_json::to_string(&view).ok());
    let text = serde_json::to_string(listed).ok()?;
    Some(Summary { form: Listed::FORM, text, whole })
}

/// Folds a log into a machine, page by page, and returns the number of its last line.
pub(crate) async fn fold<M: Machine>(
    machine: &mut M,
    log: &LogId,
    journal: &dyn Journal,
) -> Result<u64, JournalError> {
    let mut seq = 0;
    loop {
        let lines = journal.read(log, seq, PAGE).await?;
        for line in &lines {
            machine.apply(&line.event, line.at);
            seq = line.seq;
        }
        if lines.len() < PAGE {
            return Ok(seq);
        }
    }
}
