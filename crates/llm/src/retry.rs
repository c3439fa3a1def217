//! Retries where that can help: not before the wait requested by the provider, never more often than the policy
//! allows, and never once part of the reply was delivered. An open breaker is waited for only if the policy sets
//! `patience_ms`. Waits are jittered with a seed supplied by the caller.

use std::hash::{BuildHasher as _, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde::Deserialize;
use tokio::time::Instant;
use types::{Decision, Fault, Millis, ModelRequest, Retry, RuleId, StreamItem, Used};

use crate::Model;
use crate::breaker::BREAKER_OPEN;
use crate::meter;

/// Seed that places the waits of this process between zero and the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread(u64);

impl Spread {
    /// Different in every process, so that many of them do not retry at the same moment.
    #[must_use]
    pub fn random() -> Self {
        // The keys of a hash map are random; no generator of our own is needed.
        Self(std::collections::hash_map::RandomState::new().hash_one(0))
    }

    /// A fixed seed, for tests.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A jittered wait, anywhere from zero to `longest`.
    fn of(self, longest: u64, tries: u32, request: &ModelRequest) -> Millis {
        let mut hasher = DefaultHasher::new();
        let origin = &request.origin;
        let who = (origin.role.as_str(), &origin.attempt, origin.session, origin.turn);
        (self.0, who, tries).hash(&mut hasher);
        let share = hasher.finish() % 1_001;
        Millis(longest.saturating_mul(share) / 1_000)
    }
}

/// How often to retry, and after which waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// Maximum number of tries, including the first.
    pub max_tries: u32,
    /// Longest wait before the second try; it doubles with each further try.
    pub base_ms: Millis,
    pub cap_ms: Millis,
    /// A provider that asks for a longer wait than this is not waited for.
    pub longest_wait_ms: Millis,
    /// Total time to keep trying, however often; if unset, `max_tries` applies.
    pub patience_ms: Option<Millis>,
    /// Whether to retry a reply that broke off. No part of a reply is then passed on before its end.
    pub whole_replies: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_tries: 3,
            base_ms: Millis::seconds(1),
            cap_ms: Millis::seconds(60),
            longest_wait_ms: Millis::seconds(60),
            patience_ms: None,
            whole_replies: false,
        }
    }
}

impl RetryPolicy {
    /// Wait after a failed try, or the reason to give up.
    fn wait(
        &self,
        fault: &Fault,
        (tries, spent): (u32, Millis),
        spread: impl Fn(u64) -> Millis,
    ) -> Result<Millis, GiveUp> {
        let over = match self.patience_ms {
            Some(patience) => spent >= patience,
            None => tries >= self.max_tries || fault.code == BREAKER_OPEN,
        };
        match fault.retry {
            Retry::Never => Err(GiveUp::Useless),
            _ if over => Err(GiveUp::Useless),
            Retry::After(wait) if wait > self.longest_wait_ms => Err(GiveUp::TooLong(wait)),
            Retry::After(wait) => Ok(wait),
            Retry::Now => {
                let doubled = self.base_ms.0.saturating_mul(1 << (tries - 1).min(30));
                Ok(spread(doubled.min(self.cap_ms.0)))
            }
        }
    }
}

enum GiveUp {
    Useless,
    TooLong(Millis),
}

/// A model that retries where that can help.
#[derive(Debug, Clone)]
pub struct Retrying {
    pub inner: Arc<dyn Model>,
    pub policy: RetryPolicy,
    pub spread: Spread,
}

struct Run {
    model: Retrying,
    request: Arc<ModelRequest>,
    items: BoxStream<'static, StreamItem>,
    /// Wait before the next try.
    wait: Option<Millis>,
    tries: u32,
    began: Instant,
    started: bool,
    delivered: bool,
    decisions: Vec<Decision>,
    /// Usage of tries that yielded no reply.
    used: Option<Box<Used>>,
    over: bool,
}

impl Model for Retrying {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let items = self.inner.stream(request.clone());
        let run = Run {
            model: self.clone(),
            request,
            items,
            wait: None,
            tries: 1,
            began: Instant::now(),
            started: false,
            delivered: false,
            decisions: vec![],
            used: None,
            over: false,
        };
        stream::unfold(run, |mut run| async move { Some((run.next().await?, run)) }).boxed()
    }
}

impl Run {
    async fn next(&mut self) -> Option<StreamItem> {
        while !self.over {
            if let Some(wait) = self.wait.take() {
                tokio::time::sleep(wait.duration()).await;
                self.items = self.model.inner.stream(self.request.clone());
            }
            match self.items.next().await {
                Some(StreamItem::Failed(fault)) => return Some(self.failed(fault)),
                Some(StreamItem::Finished(mut reply)) => {
                    self.over = true;
                    reply.provenance.decisions.splice(0..0, self.decisions.drain(..));
                    meter::add(&mut reply.provenance.failed_tries, self.used.take());
                    return Some(StreamItem::Finished(reply));
                }
                Some(StreamItem::Started) if std::mem::replace(&mut self.started, true) => {}
                Some(item @ (StreamItem::Started | StreamItem::Decided(_))) => return Some(item),
                Some(_) if self.model.policy.whole_replies => {}
                Some(item) => {
                    self.delivered = true;
                    return Some(item);
                }
                None => self.over = true,
            }
        }
        None
    }

    fn failed(&mut self, mut fault: Fault) -> StreamItem {
        meter::add(&mut self.used, fault.used.take());
        let (tries, request) = (self.tries, self.request.clone());
        let spread = |longest| self.model.spread.of(longest, tries, &request);
        let so_far = (self.tries, Millis::from(self.began.elapsed()));
        let wait = match self.model.policy.wait(&fault, so_far, spread) {
            Ok(wait) if !self.delivered => wait,
            end => {
                if let Err(GiveUp::TooLong(wait)) = end {
                    let seconds = wait.0.div_ceil(1_000);
                    let limit = self.model.policy.longest_wait_ms;
                    fault.what.push_str(&format!(
                        " (it asks us to come back in {seconds} s, and we wait at most {limit})"
                    ));
                }
                self.over = true;
                fault.used = self.used.take();
                return StreamItem::Failed(fault);
            }
        };
        let decision = Decision::new(
            RuleId::fixed("model.retry"),
            format!("asking again in {wait}, after try {}", self.tries),
        );
        let decision = decision.seeing(format!("{}: {}", fault.code, fault.what));
        self.decisions.push(decision.clone());
        self.tries += 1;
        self.wait = Some(wait);
        StreamItem::Decided(decision)
    }
}

#[cfg(test)]
pub(crate) mod tests;
