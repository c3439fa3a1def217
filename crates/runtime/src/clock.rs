//! Time as a dependency: the real clock, and a manual one for tests and reproducible runs, which stands still until
//! something waits.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use tokio::sync::Notify;
use types::Timestamp;

/// The current time, and waiting.
#[async_trait]
pub trait Clock: Send + Sync + Debug {
    fn now(&self) -> Timestamp;

    /// Returns when it is `until` or later.
    async fn sleep_until(&self, until: Timestamp);

    /// Nothing will happen before `until`: a virtual clock may jump there at once.
    fn skip_to(&self, until: Timestamp);
}

/// The system clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealClock;

#[async_trait]
impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Timestamp::from_millis(
            since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    async fn sleep_until(&self, until: Timestamp) {
        tokio::time::sleep(until.since(self.now()).duration()).await;
    }

    fn skip_to(&self, _until: Timestamp) {}
}

/// A clock that stands still, and jumps when nothing else can happen or when set.
#[derive(Debug)]
pub struct ManualClock {
    millis: AtomicI64,
    moved: Notify,
}

impl ManualClock {
    #[must_use]
    pub fn at(start: Timestamp) -> Self {
        Self { millis: AtomicI64::new(start.millis()), moved: Notify::new() }
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }

    async fn sleep_until(&self, until: Timestamp) {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // Registered before the time is read, so that no move in between is missed.
            moved.as_mut().enable();
            if self.now() >= until {
                return;
            }
            moved.await;
        }
    }

    fn skip_to(&self, until: Timestamp) {
        self.millis.fetch_max(until.millis(), Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Millis;

    #[tokio::test]
    async fn the_manual_clock_wakes_sleepers_when_it_gets_there() {
        let start = Timestamp::from_millis(1_000);
        let clock = ManualClock::at(start);
        let later = start.after(Millis::seconds(60));
        let sleeper = clock.sleep_until(later);
        tokio::pin!(sleeper);
        assert!(futures::poll!(sleeper.as_mut()).is_pending());
        clock.skip_to(start.after(Millis::seconds(30)));
        assert!(futures::poll!(sleeper.as_mut()).is_pending());
        clock.skip_to(later);
        sleeper.await;
        clock.skip_to(start);
        assert_eq!(clock.now(), later, "time does not go backwards");
    }
}
