//! Retries under a paused clock.

use std::sync::Mutex;

use types::{FaultClass, ModelReply, StopReason, Usage};

use super::*;
use crate::faults::Cause;
use crate::gather;
use crate::repair::tests::request;

/// A model that answers with these items, one list per request.
#[derive(Debug)]
pub(crate) struct Fake {
    answers: Mutex<Vec<Vec<StreamItem>>>,
    pub(crate) asked: Mutex<Vec<(Instant, String)>>,
}

impl Fake {
    pub(crate) fn new(mut answers: Vec<Vec<StreamItem>>) -> Arc<Self> {
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), asked: Mutex::new(vec![]) })
    }

    pub(crate) fn times(&self) -> usize {
        self.asked.lock().expect("a lock").len()
    }

    fn waits(&self) -> Vec<u128> {
        let asked = self.asked.lock().expect("a lock");
        asked.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect()
    }
}

impl Model for Fake {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let name = request.model.to_string();
        self.asked.lock().expect("a lock").push((Instant::now(), name));
        let items = self.answers.lock().expect("a lock").pop().unwrap_or_default();
        stream::iter(items).boxed()
    }
}

pub(crate) fn ok(text: &str) -> Vec<StreamItem> {
    let block = types::Block::text(text);
    let reply = ModelReply::new(vec![block], StopReason::End, Usage::default(), None);
    let said = StreamItem::Text(text.to_owned());
    vec![StreamItem::Started, said, StreamItem::Finished(Box::new(reply))]
}

pub(crate) fn failed(fault: Fault) -> Vec<StreamItem> {
    vec![StreamItem::Started, StreamItem::Failed(fault)]
}

fn retrying(inner: &Arc<Fake>) -> Retrying {
    Retrying { inner: inner.clone(), policy: RetryPolicy::default(), spread: Spread::seeded(1) }
}

async fn ask(model: &Retrying) -> Result<ModelReply, Fault> {
    gather(model.stream(Arc::new(request("a/b", vec![]))), |_| {}).await
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_asked_again_and_the_reply_says_so() {
    let busy = || failed(Cause::Overloaded.fault("busy"));
    let fake = Fake::new(vec![busy(), busy(), ok("yes")]);
    let reply = ask(&retrying(&fake)).await.expect("a reply");
    assert_eq!(reply.text(), "yes");
    assert_eq!(reply.provenance.decisions.len(), 2);
    assert_eq!(reply.provenance.decisions[0].rule.as_str(), "model.retry");
    let waits = fake.waits();
    assert!(waits[0] <= 1_000 && waits[1] <= 2_000, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_request_waits_other_times_in_another_process() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..8 {
        let fake = Fake::new((0..3).map(|_| failed(Cause::Server.fault("x"))).collect());
        let model = Retrying { spread: Spread::seeded(seed), ..retrying(&fake) };
        assert!(ask(&model).await.is_err());
        let waits = fake.waits();
        assert!(waits[0] <= 1_000 && waits[1] <= 2_000, "{waits:?}");
        seen.insert(waits);
    }
    assert!(seen.len() > 4, "{seen:?}");
    assert_ne!(Spread::random(), Spread::random());
}

#[tokio::test(start_paused = true)]
async fn with_patience_it_is_the_time_that_counts() {
    let fake = Fake::new((0..99).map(|_| failed(Cause::Server.fault("x"))).collect());
    let policy = RetryPolicy { patience_ms: Some(Millis::seconds(600)), ..RetryPolicy::default() };
    let before = Instant::now();
    assert!(ask(&Retrying { policy, ..retrying(&fake) }).await.is_err());
    let took = before.elapsed().as_secs();
    assert!((600..=660).contains(&took) && fake.times() > 5, "{took} s, {} times", fake.times());
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_is_not_waited_for() {
    let open = Fault::new(FaultClass::Transient, BREAKER_OPEN, "left alone");
    let fake = Fake::new(vec![failed(open.retry(Retry::After(Millis::seconds(5)))), ok("no")]);
    assert_eq!(ask(&retrying(&fake)).await.expect_err("open").code, BREAKER_OPEN);
    assert_eq!(fake.times(), 1);
}

/// A94: retries are bounded, and can be disabled.
#[tokio::test(start_paused = true)]
async fn tries_are_counted_and_what_cannot_be_cured_is_not_tried_again() {
    let fake = Fake::new((0..9).map(|_| failed(Cause::Server.fault("x"))).collect());
    assert_eq!(ask(&retrying(&fake)).await.expect_err("fails").class, FaultClass::Transient);
    assert_eq!(fake.times(), 3);
    for cause in [Cause::Authentication, Cause::Quota, Cause::TooLong, Cause::BadReply] {
        let fake = Fake::new(vec![failed(cause.fault("x")), ok("no")]);
        assert!(ask(&retrying(&fake)).await.is_err());
        assert_eq!(fake.times(), 1, "{cause:?}");
    }
    let fake = Fake::new(vec![failed(Cause::Server.fault("x")), ok("no")]);
    let once = RetryPolicy { max_tries: 1, ..RetryPolicy::default() };
    assert!(ask(&Retrying { policy: once, ..retrying(&fake) }).await.is_err());
    assert_eq!(fake.times(), 1);
}

/// A94: Retry-After is honoured, and one above the cap ends the retries.
#[tokio::test(start_paused = true)]
async fn a_named_wait_is_kept_to_and_too_long_a_one_is_not_waited_for() {
    let limited =
        |seconds| failed(Cause::RateLimit.fault_after("x", Some(Millis::seconds(seconds))));
    let fake = Fake::new(vec![limited(7), ok("yes")]);
    assert!(ask(&retrying(&fake)).await.is_ok());
    assert_eq!(fake.waits(), [7_000]);
    let fake = Fake::new(vec![limited(86_400), ok("no")]);
    let before = Instant::now();
    let fault = ask(&retrying(&fake)).await.expect_err("not waited for");
    assert!(fault.what.contains("86400"), "{}", fault.what);
    assert_eq!(before.elapsed().as_millis(), 0);
}

/// A94: never after partial data.
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_again_once_something_was_handed_on() {
    let cut = || {
        let fault = Cause::BrokenStream.fault("cut");
        vec![StreamItem::Started, StreamItem::Text("ha".to_owned()), StreamItem::Failed(fault)]
    };
    let fake = Fake::new(vec![cut(), ok("half")]);
    assert_eq!(ask(&retrying(&fake)).await.expect_err("cut").code, "model.broken_stream");
    assert_eq!(fake.times(), 1);

    let fake = Fake::new(vec![cut(), ok("half")]);
    let policy = RetryPolicy { whole_replies: true, ..RetryPolicy::default() };
    let model = Retrying { policy, ..retrying(&fake) };
    let mut texts = 0;
    let stream = model.stream(Arc::new(request("a/b", vec![])));
    let reply =
        gather(stream, |item| texts += usize::from(matches!(item, StreamItem::Text(_)))).await;
    assert_eq!(reply.expect("the second try").text(), "half");
    assert_eq!(texts, 0, "nobody saw the half");
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_ends_the_waiting() {
    let fake = Fake::new(vec![failed(Cause::Server.fault("x")), ok("no")]);
    let mut stream = retrying(&fake).stream(Arc::new(request("a/b", vec![])));
    assert_eq!(stream.next().await, Some(StreamItem::Started));
    assert!(matches!(stream.next().await, Some(StreamItem::Decided(_))), "told before it waits");
    drop(stream);
    tokio::time::advance(std::time::Duration::from_secs(100)).await;
    assert_eq!(fake.times(), 1);
}
