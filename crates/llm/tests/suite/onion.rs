//! Layers that a program puts around the models of a registry.

use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use futures::stream::BoxStream;
use llm::{Http, Layer, Model, Registry, Settings};
use types::{Millis, ModelRequest, StreamItem};

use crate::faults::request;

type Log = Arc<Mutex<Vec<String>>>;

/// Logs requests and items.
#[derive(Debug, Clone)]
struct Noting {
    name: &'static str,
    seen: Log,
}

#[derive(Debug)]
struct Noted {
    by: Noting,
    inner: Arc<dyn Model>,
}

impl Layer for Noting {
    fn around(&self, inner: Arc<dyn Model>) -> Arc<dyn Model> {
        Arc::new(Noted { by: self.clone(), inner })
    }
}

impl Model for Noted {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let Noting { name, seen } = self.by.clone();
        let note = move |what: &str| seen.lock().expect("a lock").push(format!("{name} {what}"));
        note("asks");
        let items = self.inner.stream(request);
        let last =
            |item: &StreamItem| matches!(item, StreamItem::Finished(_) | StreamItem::Failed(_));
        items.inspect(move |item| note(if last(item) { "end" } else { "item" })).boxed()
    }
}

/// A89: every request to a model of the registry passes all layers; the first one sees requests first,
/// and every item of a stream last.
#[tokio::test]
async fn layers_are_passed_inwards_and_outwards_in_order() {
    let seen = Log::default();
    let layer = |name| Arc::new(Noting { name, seen: seen.clone() });
    // Nothing listens on this port: the result is a fault, which passes the layers like any other item.
    let text = "[providers.openai]\nbase_url = \"http://127.0.0.1:9\"\nkey_env = []\nkey_needed = false\n\
                [retry]\nmax_tries = 1\n";
    let settings = Settings::parse(text).expect("settings");
    let transport = Arc::new(Http::new(Millis::seconds(1)));
    let registry = Registry::new(settings, |_| None, transport).expect("a registry");
    let registry = registry.with_layer(layer("outer")).with_layer(layer("inner"));
    let name = "openai/gpt-5".parse().expect("a model");
    let asked = ModelRequest { model: name, ..request() };
    let ways = [registry.model(&asked.model), registry.once(&asked.model)];
    for model in ways {
        seen.lock().expect("a lock").clear();
        let items = model.expect("a model").stream(Arc::new(asked.clone()));
        assert!(!items.collect::<Vec<_>>().await.is_empty());
        let seen = seen.lock().expect("a lock").clone();
        assert_eq!(seen[..2], ["outer asks", "inner asks"]);
        for pair in seen[2..].chunks(2) {
            assert_eq!(pair[0].replace("inner", "outer"), pair[1], "{seen:?}");
            assert!(pair[0].starts_with("inner"), "{seen:?}");
        }
        assert_eq!(seen.last().map(String::as_str), Some("outer end"));
    }
    seen.lock().expect("a lock").clear();
    registry.complete(asked, |_| {}).await.expect_err("nobody listens there");
    assert_eq!(seen.lock().expect("a lock")[..2], ["outer asks", "inner asks"]);
}
