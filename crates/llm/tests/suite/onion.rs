//! Models around models: whoever embeds the layer puts its own in between.

use std::sync::{Arc, Mutex};

use futures::stream::{self, BoxStream};
use futures::{FutureExt as _, StreamExt as _};
use llm::Model;
use types::{Block, ModelReply, ModelRequest, StopReason, StreamItem, Usage};

use crate::faults::request;

type Seen = Arc<Mutex<Vec<String>>>;

#[derive(Debug)]
struct Core;

impl Model for Core {
    fn stream(&self, _: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let blocks = vec![Block::text("hi")];
        let reply = ModelReply::new(blocks, StopReason::End, Usage::default(), None);
        let items = [StreamItem::Text("hi".to_owned()), StreamItem::Finished(Box::new(reply))];
        stream::iter(items).boxed()
    }
}

/// Notes what goes in and what comes out.
#[derive(Debug)]
struct Layer {
    name: &'static str,
    inner: Arc<dyn Model>,
    seen: Seen,
}

impl Model for Layer {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let (name, seen) = (self.name, self.seen.clone());
        let note = move |what: &str| seen.lock().expect("a lock").push(format!("{name} {what}"));
        note("asks");
        let items = self.inner.stream(request);
        items
            .inspect(move |item| {
                note(if matches!(item, StreamItem::Text(_)) { "text" } else { "end" });
            })
            .boxed()
    }
}

/// A89: the outermost asks first and hears last, for every piece of a stream.
#[test]
fn layers_are_passed_inwards_and_outwards_in_order() {
    let seen = Seen::default();
    let layer = |name, inner| Arc::new(Layer { name, inner, seen: seen.clone() }) as Arc<dyn Model>;
    let model = layer("outer", layer("inner", Arc::new(Core)));
    let items = model.stream(Arc::new(request())).collect::<Vec<_>>().now_or_never();
    assert_eq!(items.expect("nothing to wait for").len(), 2);
    let expected =
        ["outer asks", "inner asks", "inner text", "outer text", "inner end", "outer end"];
    assert_eq!(*seen.lock().expect("a lock"), expected);
}
