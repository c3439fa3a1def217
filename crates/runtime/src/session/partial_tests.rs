//! Incomplete replies as a program sees them: interrupted by a person, or broken off.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use llm::Model;
use sandbox::LocalEnvironment;
use store::MemoryJournal;
use types::{
    Block, Fault, Message, Millis, ModelReply, ModelRequest, Part, Retry, SessionState, StopReason,
    StreamItem, Usage,
};

use crate::{Bosun, Config, Models, NewSession, Session, SessionItem};

/// A model whose first reply never ends, whose second breaks off, and whose third ends.
#[derive(Debug, Default)]
struct Halting(AtomicU32);

impl Model for Halting {
    fn stream(&self, _: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let text = |text: &str| StreamItem::Text(text.to_owned());
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => stream::iter([text("I will now "), text("del")]).chain(stream::pending()).boxed(),
            1 => {
                let fault = Fault::structural("model.broken_stream", "it ended in the middle");
                let failed = StreamItem::Failed(fault.retry(Retry::Now));
                stream::iter([text("The answer"), failed]).boxed()
            }
            _ => {
                let blocks = vec![Block::text("It is 42.")];
                let reply = ModelReply::new(blocks, StopReason::End, Usage::default(), None);
                stream::iter([text("It is 42."), StreamItem::Finished(Box::new(reply))]).boxed()
            }
        }
    }
}

async fn open(folder: &std::path::Path) -> Session {
    let journal = Arc::new(MemoryJournal::new());
    let mut setup = Config::new(journal, folder.join("state"));
    setup.models = Models::default().with("fake", Arc::new(Halting::default()));
    let work = folder.join("work");
    std::fs::create_dir(&work).expect("a folder");
    let mut new =
        NewSession::new(&work, "fake/model".parse().expect("a model")).expect("the preset");
    new.policy.model_failures.iter_mut().for_each(|rule| rule.backoff_ms = Millis(0));
    new.environment = Some(Arc::new(LocalEnvironment::open(&work).expect("a workspace")));
    Bosun::new(setup).open(new).await.expect("a session")
}

/// The history, one line per message.
async fn history(session: &Session) -> Vec<String> {
    let said = |message: &Message| match message {
        Message::User { parts } => match parts.first() {
            Some(Part::Text { text }) => format!("user: {text}"),
            _ => String::new(),
        },
        Message::Assistant { blocks, .. } => {
            let reply = ModelReply::new(blocks.clone(), StopReason::End, Usage::default(), None);
            format!("model: {}", reply.text())
        }
        _ => String::new(),
    };
    let history = session.history().await.expect("a log");
    history.iter().map(|message| said(message)).collect()
}

/// The partial text stays in the history, and the model is told why it ends there.
#[tokio::test]
async fn what_was_seen_of_a_reply_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = open(folder.path()).await;
    let mut seen = String::new();
    let mut items = Box::pin(session.events());
    session.submit("Clean up.").await.expect("it is idle");
    while !seen.ends_with("del") {
        if let SessionItem::Delta(delta) = items.next().await.expect("more to come") {
            seen.push_str(&delta.text);
        }
    }
    session.interrupt().await.expect("it is heard");
    assert_eq!(session.rest().await, SessionState::Idle);
    let kept = history(&session).await;
    assert_eq!(kept[..2], ["user: Clean up.", "model: I will now del"]);
    assert!(kept[2].contains("interrupted your reply"), "{kept:?}");
    session.submit("What is it?").await.expect("it is idle");
    assert_eq!(session.rest().await, SessionState::Idle);
    assert_eq!(session.last_words().await.expect("a log"), "It is 42.");
    let kept = history(&session).await;
    assert_eq!(kept[4], "model: The answer", "{kept:?}");
    assert!(kept[5].contains("connection broke off"), "{kept:?}");
}
