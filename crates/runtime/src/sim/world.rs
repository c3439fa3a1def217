//! Shared state of one simulated run: the case, the clock, the dice, the invariants and the counts; and the moment at
//! which the process is killed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use types::Envelope;

use super::case::Case;
use super::clock::{START, SimClock};
use super::dice::Dice;
use super::laws::Laws;
use super::tally::Tally;

/// The number of trace lines kept for debugging.
const KEPT: usize = 400;

#[derive(Debug)]
pub(super) struct World {
    pub(super) case: Case,
    pub(super) clock: Arc<SimClock>,
    /// Notified when a command was posted.
    pub(super) posted: Notify,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) dice: Dice,
    pub(super) laws: Laws,
    pub(super) tally: Tally,
    pub(super) story: Vec<String>,
    /// Kills the current process at once.
    kill: CancellationToken,
    steps: u64,
    crash_at: Option<u64>,
    /// The store accepts nothing until the process is restarted.
    pub(super) store_is_gone: bool,
    /// The number of questions the person has answered.
    pub(super) answers: u64,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let case = Case::new(seed);
        let laws = Laws::new(case.policy.clone(), case.talks);
        let state = State {
            dice: Dice::of(seed, "world"),
            laws,
            tally: Tally::default(),
            story: Vec::new(),
            kill: CancellationToken::new(),
            steps: 0,
            crash_at: None,
            store_is_gone: false,
            answers: 0,
        };
        let (clock, posted) = (Arc::new(SimClock::default()), Notify::new());
        Self { case, clock, posted, state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process and draws its first crash, if any.
    pub(super) fn born(&self) -> CancellationToken {
        let mut state = self.lock();
        state.tally.lives += 1;
        state.kill = CancellationToken::new();
        state.store_is_gone = false;
        // A run that is killed again and again would never end: crashes become rarer.
        let lives = state.tally.lives;
        let steps = state.steps;
        let after = self.case.crash_after.map(|mean| state.dice.between(1, mean * 2 * lives));
        state.crash_at = after.filter(|_| lives < 12).map(|after| steps + after);
        state.laws.restarted();
        state.kill.clone()
    }

    /// A point at which the process may be killed. If it is, nothing after it happens.
    pub(super) async fn step(&self, fault: &'static str) {
        let gone = {
            let mut state = self.lock();
            state.steps += 1;
            if state.crash_at == Some(state.steps) {
                state.count(fault);
                state.kill.cancel();
            }
            state.kill.is_cancelled()
        };
        if gone {
            std::future::pending::<()>().await;
        }
    }
}

impl State {
    /// Counts and traces an injected fault.
    pub(super) fn count(&mut self, fault: &'static str) {
        *self.tally.faults.entry(fault).or_default() += 1;
        self.tell(format!("      ** {fault}"));
    }

    pub(super) fn tell(&mut self, line: String) {
        if self.story.len() >= KEPT * 2 {
            self.story.drain(..KEPT);
        }
        self.story.push(line);
    }

    /// Lines that are now stored.
    pub(super) fn stored(&mut self, lines: &[Envelope]) {
        for line in lines {
            *self.tally.events.entry(line.event.kind()).or_default() += 1;
            let attempt = line.attempt.as_ref().map(ToString::to_string).unwrap_or_default();
            let at = line.at.millis() - START.millis();
            let (seq, kind) = (line.seq, line.event.kind());
            self.tell(format!("{at:>9} {attempt:<8} {seq:>3} {kind:<18} {}", line.event.summary()));
            self.laws.stored(line);
        }
    }
}
