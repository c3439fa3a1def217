//! Bedrock over a real connection: a signed request, and a reply in AWS event stream frames.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llm::{Model as _, Registry, Settings, gather};
use serde_json::{Value, json};
use types::{Fault, ModelReply};

use crate::faults::{http, request};
use crate::server::Server;

/// Wraps an event of the model in a frame.
fn chunk(event: &Value) -> Vec<u8> {
    let payload = json!({ "bytes": STANDARD.encode(event.to_string()) });
    framed(&[(":message-type", "event"), (":event-type", "chunk")], &payload)
}

/// A frame: lengths, their checksum, headers, payload, and the checksum of all of it.
fn framed(headers: &[(&str, &str)], payload: &Value) -> Vec<u8> {
    let payload = payload.to_string().into_bytes();
    let mut head = vec![];
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).expect("short"));
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&u16::try_from(value.len()).expect("short").to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("short").to_be_bytes();
    let mut frame = length(16 + head.len() + payload.len()).to_vec();
    frame.extend_from_slice(&length(head.len()));
    frame.extend_from_slice(&checksum(&frame));
    frame.extend_from_slice(&head);
    frame.extend_from_slice(&payload);
    frame.extend_from_slice(&checksum(&frame));
    frame
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum().to_be_bytes()
}

/// A short reply of the model, in frames.
fn reply() -> Vec<Vec<u8>> {
    [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "over "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a wire"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(chunk)
    .collect()
}

/// Sends a request to a Bedrock server that answers with these bytes, `split_every` at a time; also
/// returns the requests it saw.
async fn asked(bytes: &[u8], split_every: usize) -> (Result<ModelReply, Fault>, Vec<String>) {
    let body = json!({ "base64": STANDARD.encode(bytes), "split_every": split_every });
    let headers = json!({ "content-type": "application/vnd.amazon.eventstream" });
    let attempt = json!({ "status": 200, "headers": headers, "chunks": [body] });
    let server = Server::start(vec![attempt]).await;
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKID".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "hush".to_owned()),
        ("AWS_REGION", "eu-west-1".to_owned()),
        ("BEDROCK_BASE_URL", server.url.clone()),
    ];
    let variable = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    };
    let once = Settings::parse("[retry]\nmax_tries = 1\n").expect("settings");
    let registry = Registry::new(once, variable, http()).expect("a registry");
    let mut request = request();
    request.model = "bedrock/anthropic.claude:0".parse().expect("a model");
    let reply = gather(registry.stream(Arc::new(request)), |_| {}).await;
    (reply, server.requests().into_iter().map(|(_, request)| request).collect())
}

#[tokio::test]
async fn a_reply_in_frames_is_read_from_a_connection_however_it_arrives() {
    for split_every in [1, 13, 4096] {
        let (reply, requests) = asked(&reply().concat(), split_every).await;
        let reply = reply.expect("a reply");
        assert_eq!((reply.text().as_str(), reply.usage.output), ("over a wire", 3));
        let [request] = requests.as_slice() else { panic!("{} requests", requests.len()) };
        assert!(
            request.starts_with(
                "POST /model/anthropic.claude%3A0/invoke-with-response-stream HTTP/1.1\r\n"
            ),
            "{request}"
        );
        assert!(request.contains("AWS4-HMAC-SHA256 Credential=AKID/"), "{request}");
        assert!(!request.contains("hush"));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_off_and_an_exception_in_the_stream_are_faults() {
    let frames = reply();
    // With the stop reason a reply is complete; the last frame adds nothing.
    for kept in 1..frames.len() - 1 {
        let (reply, _) = asked(&frames[..kept].concat(), 4096).await;
        let fault = reply.expect_err("cut between two frames");
        assert_eq!(fault.code, "model.broken_stream", "{kept} frames");
    }
    let mut thrown = frames[..3].to_vec();
    thrown.push(framed(
        &[(":message-type", "exception"), (":exception-type", "throttlingException")],
        &json!({"message": "slow down"}),
    ));
    let (reply, _) = asked(&thrown.concat(), 4096).await;
    let fault = reply.expect_err("thrown");
    assert!(fault.code == "model.rate_limit" && fault.what.contains("slow down"), "{fault:?}");
}
