//! A circuit breaker: after several failed requests in a row, a model is not asked for a while; then one trial request
//! decides. Success closes the breaker at once. Faults caused by our own request do not count against the provider. The
//! breaker counts requests, so it sits inside retries, and all callers of one model through one registry share it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde::Deserialize;
use tokio::time::Instant;
use types::{Fault, FaultClass, Millis, ModelRequest, Retry, StreamItem};

use crate::Model;
use crate::faults::Cause;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BreakerPolicy {
    /// Number of consecutive failed requests that open the breaker.
    pub failures: u32,
    pub open_ms: Millis,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self { failures: 5, open_ms: Millis::seconds(30) }
    }
}

/// Breaker of one model of one provider, shared by all callers.
#[derive(Debug)]
pub struct Breaker {
    policy: BreakerPolicy,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed {
        failures: u32,
    },
    Open {
        until: Instant,
    },
    /// One trial call is in flight.
    Trial,
}

impl Breaker {
    #[must_use]
    pub fn new(policy: BreakerPolicy) -> Self {
        Self { policy, state: Mutex::new(State::Closed { failures: 0 }) }
    }

    /// Whether a call that may be made now is the trial. The error is the time to wait.
    fn admit(&self, now: Instant) -> Result<bool, Millis> {
        let mut state = self.lock();
        match *state {
            State::Closed { .. } => Ok(false),
            State::Open { until } if now >= until => {
                *state = State::Trial;
                Ok(true)
            }
            State::Open { until } => Err(Millis::from(until - now)),
            State::Trial => Err(self.policy.open_ms),
        }
    }

    fn succeeded(&self) {
        *self.lock() = State::Closed { failures: 0 };
    }

    fn failed(&self, trial: bool, now: Instant) {
        let mut state = self.lock();
        let failures = match (*state, trial) {
            (State::Closed { failures }, _) => failures.saturating_add(1),
            (State::Trial, true) => self.policy.failures,
            // Calls that were in flight when the breaker opened change nothing.
            (State::Open { .. } | State::Trial, _) => return,
        };
        *state = if failures >= self.policy.failures {
            State::Open { until: now + self.policy.open_ms.duration() }
        } else {
            State::Closed { failures }
        };
    }

    /// A cancelled trial proves nothing; the next caller may try.
    fn abandoned(&self, trial: bool, now: Instant) {
        let mut state = self.lock();
        if *state == State::Trial && trial {
            *state = State::Open { until: now };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is a single value written in one step, so a panic elsewhere cannot have left it inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model behind a breaker.
#[derive(Debug, Clone)]
pub struct Guarded {
    pub inner: Arc<dyn Model>,
    pub breaker: Arc<Breaker>,
}

struct Call {
    breaker: Arc<Breaker>,
    trial: bool,
    judged: bool,
}

impl Call {
    fn judge(&mut self, item: &StreamItem) {
        match item {
            StreamItem::Finished(_) => self.breaker.succeeded(),
            // A provider that explains what is wrong with our request is healthy.
            StreamItem::Failed(fault) if Cause::of(fault).is_some_and(|c| !c.blames_provider()) => {
                self.breaker.succeeded();
            }
            StreamItem::Failed(_) => self.breaker.failed(self.trial, Instant::now()),
            _ => return,
        }
        self.judged = true;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.judged {
            self.breaker.abandoned(self.trial, Instant::now());
        }
    }
}

impl Model for Guarded {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let model = self.clone();
        let items = stream::once(async move {
            let trial = match model.breaker.admit(Instant::now()) {
                Ok(trial) => trial,
                Err(wait) => return left_alone(&request, wait),
            };
            let mut call = Call { breaker: model.breaker.clone(), trial, judged: false };
            model.inner.stream(request).inspect(move |item| call.judge(item)).boxed()
        });
        items.flatten().boxed()
    }
}

fn left_alone(request: &ModelRequest, wait: Millis) -> BoxStream<'static, StreamItem> {
    let what = format!("{} failed too often and is not called again for {wait}", request.model);
    let fault = Fault::new(FaultClass::Transient, BREAKER_OPEN, what);
    stream::iter([StreamItem::Failed(fault.retry(Retry::After(wait)))]).boxed()
}

pub(crate) const BREAKER_OPEN: &str = "model.breaker_open";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gather;
    use crate::repair::tests::request;
    use crate::retry::tests::{Fake, failed, ok};

    fn guarded(answers: Vec<Vec<StreamItem>>) -> (Guarded, Arc<Fake>) {
        let fake = Fake::new(answers);
        let breaker = Arc::new(Breaker::new(BreakerPolicy::default()));
        (Guarded { inner: fake.clone(), breaker }, fake)
    }

    async fn ask(model: &Guarded) -> Result<String, Fault> {
        let stream = model.stream(Arc::new(request("a/b", vec![])));
        gather(stream, |_| {}).await.map(|reply| reply.text())
    }

    fn down() -> Vec<StreamItem> {
        failed(Cause::Server.fault("down"))
    }

    #[tokio::test(start_paused = true)]
    async fn five_failures_in_a_row_open_it_and_one_trial_decides() {
        let mut answers: Vec<_> = (0..6).map(|_| down()).collect();
        answers.push(ok("well again"));
        let (model, fake) = guarded(answers);
        for _ in 0..5 {
            assert_eq!(ask(&model).await.expect_err("down").code, "model.server");
        }
        assert_eq!(ask(&model).await.expect_err("open").code, BREAKER_OPEN);
        assert_eq!(fake.times(), 5, "the provider was not asked");
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(ask(&model).await.expect_err("the trial fails").code, "model.server");
        assert!(matches!(*model.breaker.lock(), State::Open { .. }), "one failure is enough now");
        // More than a day later it still recovers.
        tokio::time::advance(Duration::from_secs(90_000)).await;
        assert_eq!(ask(&model).await.expect("the trial succeeds"), "well again");
        assert!(matches!(*model.breaker.lock(), State::Closed { .. }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_in_between_starts_the_count_anew_and_our_own_mistakes_do_not_count() {
        let mut answers: Vec<_> = (0..4).map(|_| down()).collect();
        answers.push(ok("fine"));
        answers.extend((0..4).map(|_| down()));
        answers.extend((0..9).map(|_| failed(Cause::InvalidRequest.fault("bad"))));
        let (model, fake) = guarded(answers);
        for _ in 0..18 {
            let _outcome = ask(&model).await;
        }
        assert_eq!(fake.times(), 18);
        assert!(matches!(*model.breaker.lock(), State::Closed { .. }));
    }

    #[tokio::test(start_paused = true)]
    async fn only_one_trial_is_made_at_a_time_and_a_cancelled_one_is_made_again() {
        let mut answers: Vec<_> =
            std::iter::once(ok("old")).chain((0..5).map(|_| down())).collect();
        answers.extend([ok("a"), ok("b")]);
        let (model, fake) = guarded(answers);
        let mut old = model.stream(Arc::new(request("a/b", vec![])));
        assert_eq!(old.next().await, Some(StreamItem::Started));
        for _ in 0..5 {
            assert!(ask(&model).await.is_err());
        }
        tokio::time::advance(Duration::from_secs(31)).await;
        let mut trial = model.stream(Arc::new(request("a/b", vec![])));
        assert_eq!(trial.next().await, Some(StreamItem::Started));
        assert_eq!(ask(&model).await.expect_err("a trial is on its way").code, BREAKER_OPEN);
        assert_eq!(fake.times(), 7);
        // Dropping a call from before the breaker opened does not end the trial.
        drop(old);
        assert_eq!(*model.breaker.lock(), State::Trial);
        drop(trial);
        assert_eq!(ask(&model).await.expect("the next trial"), "b");
    }
}
