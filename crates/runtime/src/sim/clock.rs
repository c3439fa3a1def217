//! Virtual time. It moves only when nothing else can happen, and then to the next awaited moment. If nothing is
//! awaited, the simulation hangs, which is reported.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use async_trait::async_trait;
use tokio::sync::Notify;
use types::{Millis, Timestamp};

use crate::clock::Clock;

#[derive(Debug, Default)]
pub(super) struct SimClock {
    state: Mutex<State>,
    /// Notified when nothing can happen any more.
    stuck: Notify,
}

#[derive(Debug)]
struct State {
    now: i64,
    tickets: u64,
    sleepers: BTreeMap<(i64, u64), Waker>,
}

/// The start time.
pub(super) const START: Timestamp = Timestamp::from_millis(1_000_000_000);

impl Default for State {
    fn default() -> Self {
        Self { now: START.millis(), tickets: 0, sleepers: BTreeMap::new() }
    }
}

/// Removes a dropped sleeper.
struct Sleeper<'c> {
    clock: &'c SimClock,
    key: (i64, u64),
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.clock.lock().sleepers.remove(&self.key);
    }
}

impl SimClock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is ready: jumps to the next awaited moment.
    pub(super) fn idle(&self) {
        let mut state = self.lock();
        let Some((key, waker)) = state.sleepers.pop_first() else {
            drop(state);
            self.stuck.notify_one();
            return;
        };
        state.now = state.now.max(key.0);
        drop(state);
        waker.wake();
    }

    /// Returns when nothing can happen any more.
    pub(super) async fn stuck(&self) {
        self.stuck.notified().await;
    }

    /// Advances while no process runs; its sleepers are gone.
    pub(super) fn pass(&self, span: Millis) {
        let mut state = self.lock();
        state.sleepers.clear();
        state.now = state.now.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX));
    }

    /// Sets the clock back while no process runs.
    pub(super) fn set_back(&self, span: Millis) {
        self.lock().now -= i64::try_from(span.0).unwrap_or(0);
    }

    pub(super) async fn sleep(&self, span: Millis) {
        self.sleep_until(self.now().after(span)).await;
    }
}

#[async_trait]
impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.lock().now)
    }

    async fn sleep_until(&self, until: Timestamp) {
        let key = {
            let mut state = self.lock();
            state.tickets += 1;
            (until.millis(), state.tickets)
        };
        let sleeper = Sleeper { clock: self, key };
        poll_fn(|context| {
            let mut state = self.lock();
            if state.now >= until.millis() {
                return Poll::Ready(());
            }
            state.sleepers.insert(key, context.waker().clone());
            Poll::Pending
        })
        .await;
        drop(sleeper);
    }

    fn skip_to(&self, _until: Timestamp) {}
}
