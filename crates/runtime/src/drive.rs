//! The loop. It loads a log, folds it into a machine, and then, until the machine is over: starts what the state asks
//! for, takes one input, lets the machine decide, stores the events, and only then lets anybody see or do anything.
//! It contains no rule.

use std::sync::Arc;

use engine::Machine;
use futures::future::BoxFuture;
use store::{Batch, Clean, Journal, JournalError, Lease, Redactor};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{Command, Digest, Effect, EffectId, Input, LogId, Outcome, Timestamp};

use crate::clock::Clock;
use crate::flight::{Flight, Order};

/// How many events may follow from one input before something must be wrong.
const MOST_EVENTS: usize = 100_000;
/// How many lines are read at a time when a log is loaded.
const PAGE: usize = 1_000;

/// What the loop needs of its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) order: Order,
}

/// Whoever performs the effects of a machine.
pub(crate) trait Hands<M>: Send + Sync {
    /// What the workspace shows, for a machine that was just loaded and has calls whose outcome nobody knows.
    fn look(&self, machine: &M) -> BoxFuture<'static, Option<String>>;

    fn perform(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome>;
}

/// A command on its way to a machine, with its number in the inbox if it came from there.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) number: Option<u64>,
    pub(crate) command: Command,
}

/// Why the loop came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// The machine is over.
    Over,
    /// Nothing can happen before a person says something.
    Waiting,
    /// It was told to leave everything as it is.
    Suspended,
}

/// Why a loop could not go on. What was acknowledged before is safe.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("bug: one input to {log} led to more than {MOST_EVENTS} events")]
    Endless { log: LogId },
}

/// A machine with its log.
pub(crate) struct Drive<M> {
    pub(crate) machine: M,
    log: LogId,
    lease: Lease,
    seq: u64,
    around: Surroundings,
}

impl<M: Machine> Drive<M> {
    /// Becomes the one writer of the log and folds what is there into the machine.
    pub(crate) async fn load(
        machine: M,
        log: LogId,
        around: Surroundings,
    ) -> Result<Self, DriveError> {
        let lease = around.journal.lease(&log).await?;
        let mut drive = Self { machine, log, lease, seq: 0, around };
        drive.seq = fold(&mut drive.machine, &drive.log, &*drive.around.journal).await?;
        Ok(drive)
    }

    pub(crate) fn is_new(&self) -> bool {
        self.seq == 0
    }

    /// Takes one input: decides, settles what follows from it, and stores all of that at once.
    pub(crate) async fn take(
        &mut self,
        input: &Input,
        taken: Option<u64>,
    ) -> Result<(), DriveError> {
        let now = self.around.clock.now();
        let mut batch: Vec<Clean> = Vec::new();
        let mut events = self.machine.decide(input, now);
        // Also an input that says nothing new, such as a timer, may make something due.
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
        self.store(&batch, now, taken).await
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
        let lines = self.around.journal.append(&self.lease, batch).await?;
        self.seq = lines.last().map_or(self.seq, |line| line.seq);
        Ok(())
    }

    /// Drives the machine until it is over, waits for a person, or is told to leave.
    pub(crate) async fn run<H: Hands<M> + ?Sized>(
        &mut self,
        hands: &H,
        inbox: &mut mpsc::Receiver<Posted>,
        suspend: &CancellationToken,
    ) -> Result<Left, DriveError> {
        let mut flight = Flight::new(self.around.order, suspend.child_token());
        let left = self.fly(hands, inbox, suspend, &mut flight).await;
        flight.land().await;
        left
    }

    async fn fly<H: Hands<M> + ?Sized>(
        &mut self,
        hands: &H,
        inbox: &mut mpsc::Receiver<Posted>,
        suspend: &CancellationToken,
        flight: &mut Flight,
    ) -> Result<Left, DriveError> {
        let workspace = hands.look(&self.machine).await;
        self.take(&Input::Woke { workspace }, None).await?;
        loop {
            if self.machine.is_over() {
                return Ok(Left::Over);
            }
            self.start_effects(hands, flight);
            if flight.only_timers() && inbox.is_empty() && self.machine.waits_for_a_person() {
                return Ok(Left::Waiting);
            }
            if let Some(until) = flight.nothing_before() {
                self.around.clock.skip_to(until);
            }
            let clock = self.around.clock.clone();
            tokio::select! {
                biased;
                () = suspend.cancelled() => return Ok(Left::Suspended),
                Some(posted) = inbox.recv() => {
                    self.take(&Input::Command(posted.command), posted.number).await?;
                }
                (effect, outcome) = flight.next(&*clock) => {
                    self.take(&Input::Outcome(effect, outcome), None).await?;
                }
            }
        }
    }

    fn start_effects<H: Hands<M> + ?Sized>(&self, hands: &H, flight: &mut Flight) {
        flight.release(|id| self.machine.awaits(id));
        for effect in self.machine.pending(flight.ids()) {
            match effect {
                Effect::Wait { timer, until } => flight.start_timer(EffectId::Timer(timer), until),
                effect => flight.start(effect.id(), |stop| hands.perform(effect, stop)),
            }
        }
        if self.machine.winds_down() {
            flight.stop_all();
        }
    }

    /// The hash of the last line of the log.
    pub(crate) async fn head(&self) -> Result<Digest, DriveError> {
        let last = self.around.journal.lines(&self.log, self.seq.saturating_sub(1), 1).await?;
        Ok(last.last().map_or(Digest::ZERO, |line| Digest::of(line.as_bytes())))
    }
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
