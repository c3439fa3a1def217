//! Injected faults: the error statuses of every provider in its own format, streams cut at every byte, mislabelled
//! answers. Needs nothing besides this repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm::{Dialect, Model as _, decode_stream, gather};
use serde_json::{Value, json};
use types::{Fault, ModelReply, StreamItem};

use crate::faults::{http, registry, request};
use crate::server::Server;

const ONCE: &str = "[retry]\nmax_tries = 1\n";

/// Errors of each provider in its own format, with the expected fault codes.
fn troubles() -> Vec<(Dialect, u16, Value, &'static str)> {
    let anthropic = |kind: &str, what: &str| json!({ "type": "error", "error": { "type": kind, "message": what } });
    let openai = |kind: &str, code: &str, what: &str| json!({ "error": { "message": what, "type": kind, "code": code } });
    let google = |code: u16, status: &str, what: &str| json!({ "error": { "code": code, "message": what, "status": status } });
    let mut all = vec![
        (
            Dialect::Messages,
            401,
            anthropic("authentication_error", "invalid x-api-key"),
            "model.authentication",
        ),
        (Dialect::Messages, 403, anthropic("permission_error", "not yours"), "model.permission"),
        (Dialect::Messages, 404, anthropic("not_found_error", "model: x"), "model.not_found"),
        (
            Dialect::Messages,
            400,
            anthropic("invalid_request_error", "messages: required"),
            "model.invalid_request",
        ),
        (
            Dialect::Messages,
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            "model.context_too_long",
        ),
        (
            Dialect::Messages,
            400,
            anthropic("invalid_request_error", "Your credit balance is too low to access the API"),
            "model.quota",
        ),
        (Dialect::Messages, 429, anthropic("rate_limit_error", "slow down"), "model.rate_limit"),
        (Dialect::Messages, 500, anthropic("api_error", "internal"), "model.server"),
        (Dialect::Messages, 503, json!("upstream"), "model.overloaded"),
        (Dialect::Messages, 529, anthropic("overloaded_error", "Overloaded"), "model.overloaded"),
        (
            Dialect::Gemini,
            400,
            google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            "model.authentication",
        ),
        (Dialect::Gemini, 403, google(403, "PERMISSION_DENIED", "denied"), "model.permission"),
        (
            Dialect::Gemini,
            404,
            google(404, "NOT_FOUND", "models/x is not found"),
            "model.not_found",
        ),
        (
            Dialect::Gemini,
            400,
            google(
                400,
                "INVALID_ARGUMENT",
                "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            "model.context_too_long",
        ),
        (
            Dialect::Gemini,
            429,
            google(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted"),
            "model.rate_limit",
        ),
        (
            Dialect::Gemini,
            500,
            google(500, "INTERNAL", "An internal error has occurred"),
            "model.server",
        ),
        (
            Dialect::Gemini,
            503,
            google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
            "model.overloaded",
        ),
        (
            Dialect::Ollama,
            404,
            json!({ "error": "model \"x\" not found, try pulling it first" }),
            "model.not_found",
        ),
        (
            Dialect::Ollama,
            500,
            json!({ "error": "llama runner process has terminated" }),
            "model.server",
        ),
        (
            Dialect::Ollama,
            503,
            json!({ "error": "server busy, please try again" }),
            "model.overloaded",
        ),
    ];
    for dialect in [Dialect::Responses, Dialect::Chat] {
        all.extend([
            (
                dialect,
                401,
                openai("invalid_request_error", "invalid_api_key", "Incorrect API key provided"),
                "model.authentication",
            ),
            (
                dialect,
                403,
                openai("invalid_request_error", "unsupported_country", "not here"),
                "model.permission",
            ),
            (
                dialect,
                404,
                openai("invalid_request_error", "model_not_found", "no such model"),
                "model.not_found",
            ),
            (
                dialect,
                400,
                openai("invalid_request_error", "context_length_exceeded", "too long"),
                "model.context_too_long",
            ),
            (
                dialect,
                400,
                openai("invalid_request_error", "invalid_value", "temperature"),
                "model.invalid_request",
            ),
            (
                dialect,
                429,
                openai(
                    "insufficient_quota",
                    "insufficient_quota",
                    "You exceeded your current quota",
                ),
                "model.quota",
            ),
            (
                dialect,
                429,
                openai("requests", "rate_limit_exceeded", "Rate limit reached; try again in 20ms"),
                "model.rate_limit",
            ),
            (dialect, 500, openai("server_error", "", "The server had an error"), "model.server"),
            (
                dialect,
                503,
                openai(
                    "server_error",
                    "",
                    "The engine is currently overloaded, please try again later",
                ),
                "model.overloaded",
            ),
            (dialect, 529, json!({ "message": "overloaded" }), "model.overloaded"),
        ]);
    }
    all
}

/// A93: a status and a body map to a fault by their meaning, in every provider's own format.
#[test]
fn every_status_has_its_meaning_in_every_providers_shape() {
    for (dialect, status, body, code) in troubles() {
        let fault = dialect.fault(status, body.to_string().as_bytes());
        assert_eq!(fault.code, code, "{dialect:?} {status} {body}");
    }
}

async fn asked(
    dialect: Dialect,
    attempts: Vec<Value>,
    settings: &str,
) -> (Result<ModelReply, Fault>, usize) {
    let server = Server::start(attempts).await;
    let registry = registry(http(), dialect, &server.url, settings);
    let reply = gather(registry.stream(Arc::new(request())), |_| {}).await;
    (reply, server.requests().len())
}

fn answer(kind: &str, body: &str) -> Value {
    json!({ "status": 200, "headers": { "content-type": kind }, "body": body })
}

const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// K13: an unreadable answer never crashes, and ends in a fault that says so.
#[tokio::test]
async fn answers_that_are_not_what_they_say_end_in_a_fault() {
    for (kind, body, code) in [
        (
            "text/event-stream",
            "data: {\"choices\":[{\"delta\":{\"content\":\"y",
            "model.broken_stream",
        ),
        ("text/event-stream", "data: not json\n\ndata: [DONE]\n\n", "model.broken_stream"),
        ("text/event-stream", "", "model.broken_stream"),
        ("application/json", "{\"choices\": [", "model.bad_reply"),
        ("application/json", "[]", "model.bad_reply"),
        ("text/html", "<html>a portal</html>", "model.bad_reply"),
    ] {
        let (reply, _) = asked(Dialect::Chat, vec![answer(kind, body)], ONCE).await;
        match reply {
            Ok(reply) => panic!("{kind} {body}: {reply:?}"),
            Err(fault) => assert_eq!(fault.code, code, "{kind} {body}"),
        }
    }
}

#[tokio::test]
async fn a_wrong_content_type_and_squeezed_bytes_are_read_all_the_same() {
    let odd = answer("application/octet-stream", CHAT);
    let (reply, _) = asked(Dialect::Chat, vec![odd], ONCE).await;
    assert_eq!(reply.expect("a reply").text(), "yes");
    for how in ["gzip", "deflate"] {
        let headers = json!({ "content-type": "text/event-stream", "content-encoding": how });
        let squeezed = json!({ "status": 200, "headers": headers, "chunks": [CHAT] });
        let (reply, _) = asked(Dialect::Chat, vec![squeezed], ONCE).await;
        assert_eq!(reply.expect("a reply").text(), "yes", "{how}");
    }
}

/// A94: only faults that a retry can cure are retried.
#[tokio::test]
async fn each_fault_is_asked_again_or_not_as_its_verdict_says() {
    const SETTINGS: &str = "[retry]\nmax_tries = 2\nbase_ms = 1\n";
    for (status, tries) in [(401, 1), (400, 1), (404, 1), (429, 2), (500, 2), (503, 2), (529, 2)] {
        let trouble =
            json!({ "status": status, "headers": {}, "body": "{\"error\":{\"message\":\"x\"}}" });
        let good = answer("text/event-stream", CHAT);
        let (reply, asked) = asked(Dialect::Chat, vec![trouble, good], SETTINGS).await;
        assert_eq!((reply.is_ok(), asked), (tries == 2, tries), "{status}");
    }
}

#[test]
fn calls_with_the_same_id_stay_two_calls() {
    let call = |index: u8, city: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":\"same\",\"function\":{{\"name\":\"weather\",\"arguments\":\"{{\\\"city\\\":\\\"{city}\\\"}}\"}}}}]}}}}]}}\n\n"
        )
    };
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let stream = format!("{}{}{end}", call(0, "Rome"), call(1, "Oslo"));
    let items = decode_stream(Dialect::Chat, vec![stream.into()]);
    let Some(StreamItem::Finished(reply)) = items.last() else { panic!("{items:?}") };
    assert_eq!(reply.calls().count(), 2);
}

/// Bodies of the streamed answers recorded in this dialect.
fn recorded(dialect: Dialect) -> Vec<String> {
    let mut found = vec![];
    let mut folders =
        vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings").join(dialect.as_str())];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).expect("recordings");
        for path in entries.map(|entry| entry.expect("a file").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "json") {
                found.extend(stream_in(&path));
            }
        }
    }
    found.sort_by_key(String::len);
    found
}

fn stream_in(path: &PathBuf) -> Option<String> {
    let recorded: Value =
        serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON");
    let kind = recorded["response"]["headers"]["content-type"].as_str().unwrap_or_default();
    let body = recorded["response"]["body"].as_str().unwrap_or_default();
    let streamed = kind.contains("event-stream") || kind.contains("ndjson");
    (streamed && recorded["response"]["status"] == 200).then(|| body.to_owned())
}

/// A disconnect anywhere gives the whole reply or a fault, never a different reply.
#[test]
fn a_recorded_stream_can_be_cut_at_every_byte() {
    for dialect in Dialect::ALL {
        let streams = recorded(dialect);
        assert!(streams.len() >= 5, "{dialect:?}: {}", streams.len());
        // The longest streams add nothing new at a hundred times the cost.
        for stream in streams.iter().filter(|stream| stream.len() < 6_000).rev().take(3) {
            let whole = last(dialect, stream.as_bytes());
            for end in 0..stream.len() {
                match last(dialect, &stream.as_bytes()[..end]) {
                    Ok(reply) => {
                        let Ok(whole) = &whole else {
                            panic!("a part is a reply, the whole is not")
                        };
                        assert_eq!(reply.blocks, whole.blocks, "{dialect:?} cut at {end}");
                    }
                    Err(fault) => assert!(fault.code.starts_with("model."), "{fault:?}"),
                }
            }
        }
    }
}

fn last(dialect: Dialect, bytes: &[u8]) -> Result<ModelReply, Fault> {
    match decode_stream(dialect, vec![bytes::Bytes::copy_from_slice(bytes)]).pop() {
        Some(StreamItem::Finished(reply)) => Ok(*reply),
        Some(StreamItem::Failed(fault)) => Err(fault),
        other => panic!("{other:?}"),
    }
}
