//! Replies that break off, and odd replies: in every dialect no part of a reply counts before its end, its usage is
//! counted regardless, and unsupported content is named.

use std::sync::Arc;

use llm::{Dialect, Model as _, decode_stream, gather};
use serde_json::{Value, json};
use types::{Fault, ModelReply, StopReason, StreamItem};

use crate::faults::{http, registry, request};
use crate::server::Server;

const ONCE: &str = "[retry]\nmax_tries = 1\n[breaker]\nfailures = 1000\n";

fn sse(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// A text and a call in each dialect, event by event, and the number of events after which the reply is complete.
fn replies() -> Vec<(Dialect, Vec<String>, usize)> {
    let messages = sse(&[
        json!({ "type": "message_start", "message": { "id": "m", "usage": { "input_tokens": 50, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "I look." } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "id": "c", "name": "look", "input": {} } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "{\"at\":" } }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "input_json_delta", "partial_json": "\"a\"}" } }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 9 } }),
        json!({ "type": "message_stop" }),
    ]);
    let call = json!({ "type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "" });
    let done = json!({ "type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{\"at\":\"a\"}" });
    let text = json!({ "type": "message", "id": "t", "content": [{ "type": "output_text", "text": "I look." }] });
    let responses = sse(&[
        json!({ "type": "response.created", "response": {} }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "t", "content": [] } }),
        json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "I look." }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": text }),
        json!({ "type": "response.output_item.added", "output_index": 1, "item": call }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"at\":" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 1, "delta": "\"a\"}" }),
        json!({ "type": "response.output_item.done", "output_index": 1, "item": done }),
        json!({ "type": "response.completed", "response": { "status": "completed", "output": [text, done] } }),
    ]);
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
    let piece =
        |json: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": json } }] });
    let begun = json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "look", "arguments": "" } }] });
    let mut chat = sse(&[
        delta(json!({ "content": "I look." })),
        delta(begun),
        delta(piece("{\"at\":")),
        delta(piece("\"a\"}")),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
    ]);
    chat.push("data: [DONE]\n\n".to_owned());
    let part = |part: Value| json!({ "candidates": [{ "content": { "parts": [part] } }], "usageMetadata": { "promptTokenCount": 50 } });
    let gemini = sse(&[
        part(json!({ "text": "I " })),
        part(json!({ "text": "look." })),
        part(json!({ "functionCall": { "name": "look", "args": { "at": "a" } } })),
        json!({ "candidates": [{ "content": { "parts": [] }, "finishReason": "STOP" }] }),
    ]);
    let line = |line: Value| format!("{line}\n");
    let called = json!([{ "function": { "name": "look", "arguments": { "at": "a" } } }]);
    let ollama = vec![
        line(json!({ "message": { "content": "I " }, "done": false })),
        line(json!({ "message": { "content": "look." }, "done": false })),
        line(json!({ "message": { "content": "", "tool_calls": called }, "done": false })),
        line(
            json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "eval_count": 4 }),
        ),
    ];
    vec![
        (Dialect::Messages, messages, 10),
        (Dialect::Responses, responses, 9),
        (Dialect::Chat, chat, 6),
        (Dialect::Gemini, gemini, 4),
        (Dialect::Ollama, ollama, 4),
    ]
}

async fn served(dialect: Dialect, chunks: &[String]) -> Result<ModelReply, Fault> {
    let kind =
        if dialect == Dialect::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    let answer = json!({ "status": 200, "headers": { "content-type": kind }, "chunks": chunks });
    let server = Server::start(vec![answer]).await;
    let registry = registry(http(), dialect, &server.url, ONCE);
    gather(registry.stream(Arc::new(request())), |_| {}).await
}

/// A disconnect after any event: before the end there is no reply, so none of its calls can
/// run; the usage so far is counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_after_any_event_is_a_fault_that_may_pass() {
    for (dialect, events, enough) in replies() {
        for end in 0..=events.len() {
            let reply = served(dialect, &events[..end]).await;
            if end >= enough {
                let reply = reply.expect("it is complete");
                assert_eq!((reply.text().as_str(), reply.calls().count()), ("I look.", 1));
                assert_eq!(reply.stop, StopReason::Calls, "{dialect:?}");
                continue;
            }
            let fault = reply.expect_err("it is not complete");
            assert_eq!(fault.code, "model.broken_stream", "{dialect:?} after {end}: {fault:?}");
            assert!(fault.passes(), "{dialect:?} after {end}");
            match fault.used {
                Some(used) => {
                    assert!(used.estimated && used.usage.input > 0, "{dialect:?} {used:?}");
                }
                None => assert_eq!(end, 0, "{dialect:?} after {end}"),
            }
        }
    }
}

fn last(dialect: Dialect, events: &[Value]) -> Result<ModelReply, Fault> {
    match decode_stream(dialect, vec![sse(events).concat().into()]).pop() {
        Some(StreamItem::Finished(reply)) => Ok(*reply),
        Some(StreamItem::Failed(fault)) => Err(fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_message_beside_each_delta_says_nothing_new() {
    let both = |piece: &str, whole: &str, stop: Value| json!({ "choices": [{ "index": 0, "delta": { "content": piece }, "message": { "content": whole }, "finish_reason": stop }] });
    let events = [
        both("I ", "I ", json!(null)),
        both("see.", "I see.", json!(null)),
        both("", "I see.", json!("stop")),
    ];
    let reply = last(Dialect::Chat, &events).expect("a reply");
    assert_eq!((reply.text().as_str(), reply.provenance.skipped), ("I see.", 0));
}

#[test]
fn a_last_count_of_zeros_takes_nothing_back() {
    let chat = [
        json!({ "choices": [{ "index": 0, "delta": { "content": "x" } }], "usage": { "prompt_tokens": 50, "completion_tokens": 7 } }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": { "prompt_tokens": 0, "completion_tokens": 0 } }),
    ];
    let messages = [
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 50, "output_tokens": 7 } } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "input_tokens": 0, "output_tokens": 0 } }),
        json!({ "type": "message_stop" }),
    ];
    let gemini = [
        json!({ "candidates": [{ "content": { "parts": [{ "text": "x" }] } }], "usageMetadata": { "promptTokenCount": 50, "candidatesTokenCount": 7 } }),
        json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 0, "candidatesTokenCount": 0 } }),
    ];
    for (dialect, events) in [
        (Dialect::Chat, &chat[..]),
        (Dialect::Messages, &messages[..]),
        (Dialect::Gemini, &gemini[..]),
    ] {
        let reply = last(dialect, events).expect("a reply");
        assert_eq!((reply.usage.input, reply.usage.output), (50, 7), "{dialect:?}");
    }
}

#[test]
fn gaps_between_output_indexes_double_nothing() {
    let item = |id: &str, text: &str| json!({ "type": "message", "id": id, "content": [{ "type": "output_text", "text": text }] });
    for ids in [["a", "b"], ["x", "y"]] {
        let events = [
            json!({ "type": "response.created" }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item("a", "one ") }),
            json!({ "type": "response.output_item.done", "output_index": 2, "item": item("b", "two") }),
            json!({ "type": "response.completed", "response": { "status": "completed", "output": [item(ids[0], "one "), item(ids[1], "two")] } }),
        ];
        assert_eq!(
            last(Dialect::Responses, &events).expect("a reply").text(),
            "one two",
            "{ids:?}"
        );
    }
}

#[test]
fn calls_that_cannot_be_answered_are_named() {
    let responses = [
        json!({ "type": "response.created" }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "custom_tool_call", "name": "poem", "input": "" } }),
    ];
    let chat = [
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c", "type": "custom", "custom": { "name": "poem", "input": "x" } }] } }] }),
    ];
    let gemini = [
        json!({ "candidates": [{ "content": { "parts": [{ "functionCall": { "name": "poem", "willContinue": true } }] } }] }),
    ];
    for (dialect, events) in [
        (Dialect::Responses, &responses[..]),
        (Dialect::Chat, &chat[..]),
        (Dialect::Gemini, &gemini[..]),
    ] {
        let fault = last(dialect, events).expect_err("not supported");
        assert_eq!(fault.code, "model.bad_reply", "{dialect:?}");
        assert!(fault.what.contains("poem") && fault.what.contains("not supported"), "{fault:?}");
    }
}
