//! Copied bytes must equal freshly encoded ones.

use serde_json::json;
use types::{Arguments, Block, Call, CallOutcome, CallResult, Message, Native, Part};

use super::*;
use crate::repair::tests::request;

fn reply(number: usize, dialect: Dialect) -> Message {
    let arguments = Arguments::Json(json!({ "path": format!("{number}.txt") }));
    // Three replies in a row share one id.
    let (wire_id, tool) = (format!("c{}", number - number % 3), "read_file".to_owned());
    let mut blocks =
        vec![Block::text(format!("step {number}")), Block::call(Call { wire_id, tool, arguments })];
    if number.is_multiple_of(2) {
        let body = blocks[0].body.clone();
        let item = json!({ "type": "text", "text": format!("step {number}"), "mine": true });
        blocks[0].native = Some(Native::new(dialect.as_str(), item, &body));
    }
    Message::Assistant { blocks, model: "anthropic/m".parse().ok() }
}

fn results(number: usize) -> Message {
    let parts = vec![Part::Text { text: format!("\"{number}\"\n") }];
    let (wire_id, tool) = (format!("c{}", number - number % 3), "read_file".to_owned());
    let outcome = if number == 4 { CallOutcome::Unknown } else { CallOutcome::Ok };
    Message::Results { results: vec![CallResult { wire_id, tool, outcome, parts }] }
}

fn history(dialect: Dialect) -> Vec<Message> {
    let mut messages = vec![Message::user("go")];
    for number in 0..8 {
        messages.push(reply(number, dialect));
        messages.push(results(number));
        if number == 3 {
            messages.push(Message::user("faster"));
            messages.push(Message::Assistant { blocks: vec![], model: None });
            messages.push(Message::user("now"));
        }
    }
    messages
}

fn body(dialect: Dialect, request: &ModelRequest, before: &RequestCache) -> String {
    let wire = before.encode(dialect, request, Delivery::Streamed, &Quirks::default());
    String::from_utf8(wire.expect("a request").body.to_vec()).expect("text")
}

/// The beginning of a request has the same bytes from turn to turn, and costs no more than a copy.
#[test]
fn a_conversation_that_grows_is_the_same_as_one_written_anew() {
    for dialect in Dialect::ALL {
        let whole = request("anthropic/m", history(dialect));
        let before = RequestCache::default();
        for length in 1..=whole.messages.len() {
            let mut request = whole.clone();
            request.messages.truncate(length);
            let fresh = body(dialect, &request, &RequestCache::default());
            assert_eq!(body(dialect, &request, &before), fresh, "{dialect:?} up to {length}");
            serde_json::from_str::<Value>(&fresh).expect("JSON");
        }
    }
}

/// A conversation may lose its middle, or move to another provider.
#[test]
fn what_changed_is_written_anew() {
    let dialect = Dialect::Messages;
    let whole = request("anthropic/m", history(dialect));
    let before = RequestCache::default();
    body(dialect, &whole, &before);
    let mut shorter = whole.clone();
    shorter.messages.drain(3..7);
    let mut elsewhere = whole.clone();
    elsewhere.model = "other/m".parse().expect("a model");
    let mut cut = whole;
    cut.messages.truncate(5);
    for request in [shorter, elsewhere, cut] {
        let fresh = body(dialect, &request, &RequestCache::default());
        assert_eq!(body(dialect, &request, &before), fresh);
    }
}

#[test]
fn only_a_few_conversations_are_remembered_and_one_that_goes_on_is_one() {
    let before = RequestCache::default();
    let kept = |before: &RequestCache| before.0.lock().expect("no panic").len();
    let mut request = request("anthropic/m", vec![Message::user("go")]);
    for number in 0..5 {
        body(Dialect::Chat, &request, &before);
        assert_eq!(kept(&before), 1, "at {number}");
        request.messages.push(Arc::new(reply(number, Dialect::Chat)));
        request.messages.push(Arc::new(results(number)));
    }
    for number in 0..9 {
        request.messages = vec![Arc::new(Message::user(format!("other {number}")))];
        body(Dialect::Chat, &request, &before);
    }
    assert_eq!(kept(&before), KEPT);
}

/// The user may change the model, effort or tools between two turns.
#[test]
fn what_is_around_a_conversation_may_change_while_it_goes_on() {
    type Change = fn(&mut ModelRequest);
    let schema = json!({ "type": "object" });
    let changes: [(&str, Change); 6] = [
        ("the model", |request| request.model = "anthropic/other".parse().expect("a model")),
        ("the instructions", |request| request.system = "Be brief.".into()),
        ("the tools", |request| request.tools = Arc::from([])),
        ("the limit", |request| request.max_output += 1),
        ("the effort", |request| request.options.effort = Some(types::Effort::High)),
        ("a key of the caller's own", |request| {
            request.options.native.insert("messages".to_owned(), json!("mine"));
        }),
    ];
    for dialect in Dialect::ALL {
        let mut request = request("anthropic/m", history(dialect));
        let (name, description) = ("read_file".to_owned(), "reads".to_owned());
        request.tools = Arc::from([types::ToolSpec { name, description, schema: schema.clone() }]);
        let before = RequestCache::default();
        body(dialect, &request, &before);
        for (what, change) in changes {
            change(&mut request);
            let now = body(dialect, &request, &before);
            assert_eq!(
                now,
                body(dialect, &request, &RequestCache::default()),
                "{dialect:?}: {what}"
            );
            serde_json::from_str::<Value>(&now).expect("JSON");
        }
        let quirks = Quirks { max_tokens_key: "most".to_owned(), ..Quirks::default() };
        let wire = |before: &RequestCache| {
            before.encode(dialect, &request, Delivery::Whole, &quirks).expect("a request")
        };
        assert_eq!(wire(&before), wire(&RequestCache::default()), "{dialect:?}");
    }
}
