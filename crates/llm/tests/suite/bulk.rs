//! Load: endless replies, and many concurrent streams. Memory stays bounded, no caller waits forever,
//! and the cost can be printed (`--nocapture`).

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures::StreamExt;
use llm::{Dialect, Model, decode_stream};
use serde_json::json;
use types::StreamItem;

use crate::faults::{http, registry, request};
use crate::server::Server;

/// A piece of text as streamed by the dialect.
fn delta(dialect: Dialect, piece: &str) -> String {
    match dialect {
        Dialect::Messages => {
            let delta = json!({ "type": "text_delta", "text": piece });
            format!(
                "event: content_block_delta\ndata: {}\n\n",
                json!({ "type": "content_block_delta", "index": 0, "delta": delta })
            )
        }
        Dialect::Responses => {
            let event = json!({
                "type": "response.output_text.delta", "output_index": 0, "delta": piece,
            });
            format!("event: response.output_text.delta\ndata: {event}\n\n")
        }
        Dialect::Chat => {
            let choice =
                json!({ "index": 0, "delta": { "content": piece }, "finish_reason": null });
            format!("data: {}\n\n", json!({ "id": "c", "choices": [choice] }))
        }
        Dialect::Gemini => {
            let content = json!({ "parts": [{ "text": piece }], "role": "model" });
            format!("data: {}\n\n", json!({ "candidates": [{ "content": content, "index": 0 }] }))
        }
        Dialect::Ollama => format!(
            "{}\n",
            json!({ "message": { "role": "assistant", "content": piece }, "done": false })
        ),
    }
}

/// Events before and after the pieces.
fn frame(dialect: Dialect) -> (&'static str, &'static str) {
    match dialect {
        Dialect::Messages => (
            "data: {\"type\":\"message_start\",\"message\":{}}\n\n\
             data: {\"type\":\"content_block_start\",\"index\":0,\
             \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ),
        Dialect::Responses => (
            "data: {\"type\":\"response.created\"}\n\n",
            "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n",
        ),
        Dialect::Chat => ("", "data: [DONE]\n\n"),
        Dialect::Gemini => ("", "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"),
        Dialect::Ollama => ("", "{\"done\":true,\"done_reason\":\"stop\"}\n"),
    }
}

/// A streamed answer with this many pieces of text.
fn answer(dialect: Dialect, pieces: usize, piece: &str) -> Vec<u8> {
    let (before, after) = frame(dialect);
    [before, &delta(dialect, piece).repeat(pieces), after].concat().into_bytes()
}

#[test]
fn a_long_reply_is_read_whole_in_every_dialect() {
    for dialect in Dialect::ALL {
        let body = answer(dialect, 20_000, "twenty letters here.");
        let (size, begin) = (body.len(), Instant::now());
        let chunks = body.chunks(16 << 10).map(Bytes::copy_from_slice).collect();
        let items = decode_stream(dialect, chunks);
        let took = begin.elapsed();
        let Some(StreamItem::Finished(reply)) = items.last() else { panic!("{:?}", items.last()) };
        assert_eq!(reply.text().len(), 400_000, "{dialect:?}");
        println!(
            "{:10} {:7.1} MB/s {:9.0} events/s",
            dialect.as_str(),
            size as f64 / 1e6 / took.as_secs_f64(),
            20_000.0 / took.as_secs_f64()
        );
    }
}

#[test]
fn a_reply_without_end_is_ended_before_it_fills_the_memory() {
    let piece = "x".repeat(8 << 10);
    for dialect in Dialect::ALL {
        let megabyte = Bytes::from(delta(dialect, &piece).repeat(128));
        let mut chunks = vec![Bytes::from_static(frame(dialect).0.as_bytes())];
        chunks.extend(std::iter::repeat_n(megabyte, 100));
        let Some(StreamItem::Failed(fault)) = decode_stream(dialect, chunks).pop() else {
            panic!("{dialect:?} took 100 MB");
        };
        assert_eq!(fault.code, "model.bad_reply", "{dialect:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_streams_at_once_all_come_to_their_end() {
    let headers = json!({ "content-type": "text/event-stream" });
    let body = String::from_utf8(answer(Dialect::Chat, 50, "word ")).expect("text");
    let server = Server::start(vec![json!({ "headers": headers, "chunks": [body] })]).await;
    let registry = Arc::new(registry(http(), Dialect::Chat, &server.url, ""));
    let begin = Instant::now();
    let streams = (0..200).map(|_| registry.stream(Arc::new(request())));
    let ends: Vec<Option<StreamItem>> = futures::stream::iter(streams)
        .map(|stream| stream.fold(None, |_, item| async move { Some(item) }))
        .buffer_unordered(200)
        .collect()
        .await;
    let good = ends.iter().filter(|end| matches!(end, Some(StreamItem::Finished(_)))).count();
    println!("200 streams in {:?}", begin.elapsed());
    assert_eq!(good, 200);
}
