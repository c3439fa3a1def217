//! A chain of models: when one cannot answer, the next is asked, with the same conversation in its own
//! dialect. No switch happens once part of a reply was delivered, nor for faults that every model would
//! have: an invalid request, a conversation that is too long, a content filter.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use types::{Decision, Fault, ModelRef, ModelRequest, RuleId, StreamItem, Used};

use crate::Model;
use crate::faults::Cause;
use crate::meter;

/// Models, in the order in which they are asked.
#[derive(Debug, Clone)]
pub struct Failover {
    pub first: Arc<dyn Model>,
    pub next: Vec<(ModelRef, Arc<dyn Model>)>,
}

struct Run {
    items: BoxStream<'static, StreamItem>,
    left: VecDeque<(ModelRef, Arc<dyn Model>)>,
    request: Arc<ModelRequest>,
    changed: bool,
    started: bool,
    delivered: bool,
    decisions: Vec<Decision>,
    /// Usage of models that failed to answer.
    used: Option<Box<Used>>,
    over: bool,
}

impl Model for Failover {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let run = Run {
            items: self.first.stream(request.clone()),
            left: self.next.iter().cloned().collect(),
            request,
            changed: false,
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
            match self.items.next().await {
                Some(StreamItem::Failed(fault)) => return Some(self.failed(fault)),
                Some(StreamItem::Finished(mut reply)) => {
                    self.over = true;
                    reply.provenance.decisions.splice(0..0, self.decisions.drain(..));
                    meter::add(&mut reply.provenance.failed_tries, self.used.take());
                    if self.changed {
                        reply.provenance.model = Some(self.request.model.clone());
                    }
                    return Some(StreamItem::Finished(reply));
                }
                Some(StreamItem::Started) if std::mem::replace(&mut self.started, true) => {}
                Some(item) => {
                    self.delivered |= !matches!(item, StreamItem::Started | StreamItem::Decided(_));
                    return Some(item);
                }
                None => self.over = true,
            }
        }
        None
    }

    fn failed(&mut self, mut fault: Fault) -> StreamItem {
        meter::add(&mut self.used, fault.used.take());
        let next =
            if self.delivered || !another_may_help(&fault) { None } else { self.left.pop_front() };
        let Some((name, model)) = next else {
            self.over = true;
            fault.used = self.used.take();
            return StreamItem::Failed(fault);
        };
        let reason = format!("{} cannot answer; asking {name}", self.request.model);
        let decision = Decision::new(RuleId::fixed("model.fail_over"), reason)
            .seeing(format!("{}: {}", fault.code, fault.what));
        self.decisions.push(decision.clone());
        let mut request = (*self.request).clone();
        request.model = name;
        self.request = Arc::new(request);
        self.changed = true;
        self.items = model.stream(self.request.clone());
        StreamItem::Decided(decision)
    }
}

fn another_may_help(fault: &Fault) -> bool {
    !matches!(Cause::of(fault), Some(Cause::InvalidRequest | Cause::TooLong | Cause::Filtered))
}

#[cfg(test)]
mod tests {
    use types::{Money, Usage};

    use super::*;
    use crate::gather;
    use crate::repair::tests::request;
    use crate::retry::tests::{Fake, failed, ok};

    fn chain(first: &Arc<Fake>, second: &Arc<Fake>) -> Failover {
        let next: Vec<(ModelRef, Arc<dyn Model>)> =
            vec![("other/m".parse().expect("a model"), second.clone())];
        Failover { first: first.clone(), next }
    }

    /// P59: an unavailable model is replaced by the next.
    #[tokio::test]
    async fn the_next_model_is_asked_and_the_reply_says_who_answered_and_why() {
        let first = Fake::new(vec![failed(Cause::NotFound.fault("no such model"))]);
        let second = Fake::new(vec![ok("yes")]);
        let stream = chain(&first, &second).stream(Arc::new(request("a/b", vec![])));
        let mut decided = 0;
        let reply =
            gather(stream, |item| decided += usize::from(matches!(item, StreamItem::Decided(_))));
        let reply = reply.await.expect("a reply");
        assert_eq!(decided, 1);
        assert_eq!(reply.provenance.model, Some("other/m".parse().expect("a model")));
        assert_eq!(reply.provenance.decisions[0].rule.as_str(), "model.fail_over");
        assert_eq!(second.asked.lock().expect("a lock")[0].1, "other/m");
    }

    #[tokio::test]
    async fn what_a_model_used_that_broke_off_is_told_with_the_reply_of_the_next() {
        let used = |input, estimated| {
            let usage = Usage { input, ..Usage::default() };
            Some(Box::new(Used { usage, cost: Some(Money::nanos(input)), estimated }))
        };
        let broken = |input, estimated| Fault {
            used: used(input, estimated),
            ..Cause::BrokenStream.fault("it broke off")
        };
        let stream = |last| {
            let first = Fake::new(vec![failed(broken(100, true))]);
            let second = Fake::new(vec![last]);
            gather(chain(&first, &second).stream(Arc::new(request("a/b", vec![]))), |_| {})
        };
        let tries = stream(ok("yes")).await.expect("a reply").provenance.failed_tries;
        assert_eq!(tries, used(100, true));
        let both = stream(failed(broken(7, false))).await.expect_err("down").used.expect("both");
        assert_eq!((both.usage.input, both.usage.estimated, both.estimated), (107, 100, true));
        assert_eq!(both.cost, Some(Money::nanos(107)));
    }

    #[tokio::test]
    async fn nobody_else_is_asked_for_what_everybody_would_refuse() {
        for cause in [Cause::InvalidRequest, Cause::TooLong, Cause::Filtered] {
            let first = Fake::new(vec![failed(cause.fault("x"))]);
            let second = Fake::new(vec![ok("no")]);
            let stream = chain(&first, &second).stream(Arc::new(request("a/b", vec![])));
            assert!(gather(stream, |_| {}).await.is_err());
            assert_eq!(second.times(), 0, "{cause:?}");
        }
    }

    #[tokio::test]
    async fn when_all_are_down_the_last_fault_is_told() {
        let first = Fake::new(vec![failed(Cause::Server.fault("one"))]);
        let second = Fake::new(vec![failed(Cause::Overloaded.fault("two"))]);
        let stream = chain(&first, &second).stream(Arc::new(request("a/b", vec![])));
        assert_eq!(gather(stream, |_| {}).await.expect_err("down").what, "two");
    }
}
