//! Each dialect's request: what is asked for arrives under the provider's own name for it.

use std::sync::Arc;

use serde_json::json;
use types::{
    Caching, CallOutcome, CallResult, Effort, Message, OutputSchema, Part, Source, ToolChoice,
    ToolSpec,
};

use super::*;
use crate::repair::tests::request;

fn full(model: &str) -> ModelRequest {
    let image = Part::Image {
        source: Source::Bytes { media_type: "image/png".to_owned(), base64: "QUJD".to_owned() },
    };
    let text = Part::Text { text: "look".to_owned() };
    let mut request = request(model, vec![Message::User { parts: vec![text, image] }]);
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = ToolSpec { name: "read_file".to_owned(), description: "reads".to_owned(), schema };
    request.tools = Arc::from([tool]);
    request.options.effort = Some(Effort::High);
    request.options.output =
        Some(OutputSchema { name: "out".to_owned(), schema: json!({ "type": "object" }) });
    request.options.stop_at = vec!["END".to_owned()];
    request
}

fn body(dialect: Dialect, request: &ModelRequest) -> Value {
    let wire = dialect.request(request, Delivery::Streamed, &Quirks::default());
    serde_json::from_slice(&wire.expect("a request").body).expect("JSON")
}

/// A42, A90, A91, A98: every dialect takes effort, images, tools and a schema by its own mechanism.
#[test]
fn every_dialect_carries_tools_images_effort_and_a_schema() {
    for (dialect, model, paths) in [
        (
            Dialect::Messages,
            "anthropic/claude-sonnet-4-5",
            vec![
                ("/tools/0/input_schema/type", json!("object")),
                ("/messages/0/content/1/source/data", json!("QUJD")),
                ("/thinking/budget_tokens", json!(1_499)),
                ("/output_config/format/type", json!("json_schema")),
                ("/stop_sequences/0", json!("END")),
            ],
        ),
        (
            Dialect::Responses,
            "openai/gpt-5",
            vec![
                ("/tools/0/parameters/type", json!("object")),
                ("/input/0/content/1/image_url", json!("data:image/png;base64,QUJD")),
                ("/reasoning/effort", json!("high")),
                ("/text/format/name", json!("out")),
                ("/include/0", json!("reasoning.encrypted_content")),
            ],
        ),
        (
            Dialect::Chat,
            "local/m",
            vec![
                ("/tools/0/function/parameters/type", json!("object")),
                ("/messages/1/content/1/image_url/url", json!("data:image/png;base64,QUJD")),
                ("/reasoning_effort", json!("high")),
                ("/response_format/json_schema/name", json!("out")),
                ("/stream_options/include_usage", json!(true)),
                ("/stop/0", json!("END")),
            ],
        ),
        (
            Dialect::Gemini,
            "gemini/gemini-2.5-pro",
            vec![
                ("/tools/0/functionDeclarations/0/name", json!("read_file")),
                ("/contents/0/parts/1/inlineData/data", json!("QUJD")),
                ("/generationConfig/thinkingConfig/thinkingBudget", json!(24_576)),
                ("/generationConfig/responseMimeType", json!("application/json")),
                ("/generationConfig/stopSequences/0", json!("END")),
            ],
        ),
        (
            Dialect::Ollama,
            "ollama/qwen3",
            vec![
                ("/tools/0/function/name", json!("read_file")),
                ("/messages/1/images/0", json!("QUJD")),
                ("/think", json!(true)),
                ("/format/type", json!("object")),
                ("/options/stop/0", json!("END")),
            ],
        ),
    ] {
        let mut request = full(model);
        request.max_output = if dialect == Dialect::Messages { 1_500 } else { 1_000 };
        let body = body(dialect, &request);
        for (path, value) in paths {
            assert_eq!(body.pointer(path), Some(&value), "{dialect:?} {path}: {body}");
        }
    }
}

/// A97: the modes of tool choice.
#[test]
fn every_choice_of_tools_has_its_word_in_every_dialect() {
    let named = || ToolChoice::Named("read_file".to_owned());
    for (dialect, path, words) in [
        (Dialect::Messages, "/tool_choice/type", ["auto", "none", "any", "tool"]),
        (Dialect::Gemini, "/toolConfig/functionCallingConfig/mode", ["AUTO", "NONE", "ANY", "ANY"]),
    ] {
        let choices = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, named()];
        for (choice, word) in choices.into_iter().zip(words) {
            let mut request = full("anthropic/claude-sonnet-4-5");
            request.options.tool_choice = choice;
            assert_eq!(body(dialect, &request).pointer(path), Some(&json!(word)), "{dialect:?}");
        }
    }
    let mut request = full("openai/gpt-5");
    request.options.tool_choice = named();
    assert_eq!(body(Dialect::Responses, &request)["tool_choice"]["name"], "read_file");
    assert_eq!(body(Dialect::Chat, &request)["tool_choice"]["function"]["name"], "read_file");
    request.options.tool_choice = ToolChoice::Required;
    assert_eq!(body(Dialect::Chat, &request)["tool_choice"], "required");
    request.options.tool_choice = ToolChoice::None;
    assert!(body(Dialect::Ollama, &request).get("tools").is_none());
}

/// A95: prompt caching.
#[test]
fn the_cache_is_marked_after_tools_system_and_tail_and_can_be_switched_off() {
    let mut request = full("anthropic/claude-sonnet-4-5");
    let marked = body(Dialect::Messages, &request);
    for place in ["/tools/0", "/system/0", "/messages/0/content/1"] {
        let mark = marked.pointer(&format!("{place}/cache_control/type"));
        assert_eq!(mark, Some(&json!("ephemeral")), "{place}");
    }
    request.options.caching = Caching::Off;
    assert!(!body(Dialect::Messages, &request).to_string().contains("cache_control"));
}

/// A95: a stable prefix is what a cache can hit.
#[test]
fn what_was_sent_before_is_sent_again_byte_for_byte() {
    let call = types::Call {
        wire_id: "c1".to_owned(),
        tool: "read_file".to_owned(),
        arguments: types::Arguments::Broken("{\"path\": ".to_owned()),
    };
    let part = Part::Image { source: Source::Url("https://e.org/a.png".to_owned()) };
    let result = CallResult {
        wire_id: "c1".to_owned(),
        tool: "read_file".to_owned(),
        outcome: CallOutcome::Error,
        parts: vec![Part::Text { text: "not JSON".to_owned() }, part],
    };
    let blocks = vec![types::Block::text("hm"), types::Block::call(call)];
    let mut messages = vec![
        Message::user("go"),
        Message::Developer { parts: vec![Part::Text { text: "be careful".to_owned() }] },
        Message::Assistant { blocks, model: None },
        Message::Results { results: vec![result] },
    ];
    for dialect in Dialect::ALL {
        let mut first = request("x/m", messages.clone());
        first.options.caching = Caching::Off;
        let short = serde_json::to_string(&body(dialect, &first)).expect("JSON");
        messages.push(Message::Assistant { blocks: vec![types::Block::text("so")], model: None });
        messages.push(Message::user("more"));
        let mut second = request("x/m", messages.clone());
        second.options.caching = Caching::Off;
        let long = serde_json::to_string(&body(dialect, &second)).expect("JSON");
        messages.truncate(4);
        let same = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
        let conversation =
            short.rfind("e.org").or_else(|| short.rfind("not JSON")).expect("the end");
        assert!(same > conversation, "{dialect:?}: {short}\n{long}");
        assert!(short.contains("unreadable_arguments"), "{dialect:?}: what was said is shown");
    }
}

/// K10, A99: limits are enforced, and options of a provider's own pass through.
#[test]
fn a_callers_own_keys_win_and_impossible_numbers_are_refused() {
    let mut request = full("gemini/gemini-2.5-pro");
    let own =
        json!({ "generationConfig": { "topK": 3, "maxOutputTokens": 7 }, "labels": { "a": "b" } });
    let Value::Object(own) = own else { panic!("an object") };
    request.options.native = own;
    let body = body(Dialect::Gemini, &request);
    assert_eq!(body["generationConfig"]["topK"], 3);
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 7);
    assert_eq!(body["generationConfig"]["stopSequences"][0], "END", "ours is still there");
    request.options.temperature = Some(3.0);
    assert!(Dialect::Gemini.request(&request, Delivery::Whole, &Quirks::default()).is_err());
    request.options.temperature = None;
    request.max_output = 0;
    assert!(Dialect::Gemini.request(&request, Delivery::Whole, &Quirks::default()).is_err());
}
