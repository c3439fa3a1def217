//! Requests of each dialect: every option arrives under the provider's own name for it.

use std::sync::Arc;

use serde_json::json;
use types::{
    Caching, CallOutcome, CallResult, Effort, Message, OutputSchema, Part, Source, ToolChoice,
    ToolSpec,
};

use super::*;
use crate::Dialect;
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
    let schema = json!({ "type": "object", "additionalProperties": false });
    request.options.output = Some(OutputSchema { name: "out".to_owned(), schema });
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
                ("/thinking/budget_tokens", json!(1_500)),
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
                ("/generationConfig/thinkingConfig/thinkingBudget", json!(1_500)),
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
                ("/options/stop/0", json!("END")),
            ],
        ),
    ] {
        let mut request = full(model);
        request.max_output = 3_000;
        let body = body(dialect, &request);
        for (path, value) in paths {
            assert_eq!(body.pointer(path), Some(&value), "{dialect:?} {path}: {body}");
        }
    }
}

/// A98: a schema is sent by the provider's own mechanism, even with tools if the provider accepts both.
#[test]
fn a_schema_is_sent_where_the_provider_can_hold_its_model_to_it() {
    for (dialect, model, path, beside_tools) in [
        (Dialect::Messages, "anthropic/claude-sonnet-4-5", "/output_config/format/schema", true),
        (Dialect::Responses, "openai/gpt-5", "/text/format/schema", true),
        (Dialect::Gemini, "gemini/gemini-3-pro", "/generationConfig/responseJsonSchema", true),
        (Dialect::Gemini, "gemini/gemini-2.5-pro", "/generationConfig/responseJsonSchema", false),
        (Dialect::Chat, "local/m", "/response_format/json_schema/schema", false),
        (Dialect::Ollama, "ollama/qwen3", "/format", false),
    ] {
        let mut request = full(model);
        let wanted = request.options.output.clone().map(|output| output.schema);
        let both = body(dialect, &request);
        assert_eq!(both.pointer(path).is_some(), beside_tools, "{model}: {both}");
        request.tools = Arc::from([]);
        let alone = body(dialect, &request);
        assert_eq!(alone.pointer(path), wanted.as_ref(), "{model}: {alone}");
    }
    let mut request = full("anthropic/claude-sonnet-4-5");
    let open = json!({ "type": "object" });
    request.options.output = Some(OutputSchema { name: "out".to_owned(), schema: open });
    assert_eq!(body(Dialect::Messages, &request).pointer("/output_config"), None);
    let strict = |request| body(Dialect::Responses, request)["text"]["format"]["strict"].clone();
    request.model = "openai/gpt-5".parse().expect("a model");
    assert_eq!(strict(&request), json!(false));
    let old = full("anthropic/claude-3-7-sonnet");
    assert_eq!(body(Dialect::Messages, &old).pointer("/output_config"), None);
}

/// A96: thinking leaves half of the reply for the answer.
#[test]
fn thinking_leaves_room_for_the_answer() {
    for (dialect, model, path) in [
        (Dialect::Messages, "anthropic/claude-sonnet-4-5", "/thinking/budget_tokens"),
        (
            Dialect::Gemini,
            "gemini/gemini-2.5-pro",
            "/generationConfig/thinkingConfig/thinkingBudget",
        ),
    ] {
        let mut request = full(model);
        for (most, thinks) in [(16_000, 8_000), (64_000, 24_576), (2_048, 1_024)] {
            request.max_output = most;
            assert_eq!(body(dialect, &request).pointer(path), Some(&json!(thinks)), "{model}");
        }
    }
    let mut request = full("anthropic/claude-sonnet-4-5");
    request.max_output = 1_500;
    assert_eq!(body(Dialect::Messages, &request).pointer("/thinking"), None);
}

/// From the fifth generation on, thinking is neither disabled nor given a budget, no sampling options
/// are sent, and no call is forced.
#[test]
fn the_fifth_generation_is_asked_without_what_it_refuses() {
    for effort in [None, Some(Effort::None), Some(Effort::High)] {
        let mut request = full("anthropic/claude-sonnet-5-5");
        request.options.effort = effort;
        request.options.temperature = Some(0.5);
        request.options.top_p = Some(0.5);
        request.options.tool_choice = ToolChoice::Required;
        let body = body(Dialect::Messages, &request);
        for path in ["/thinking", "/temperature", "/top_p"] {
            assert_eq!(body.pointer(path), None, "{path} for {effort:?}");
        }
        assert_eq!(body.pointer("/tool_choice/type"), Some(&json!("auto")));
        let word = effort.map(|effort| if effort == Effort::High { "high" } else { "low" });
        assert_eq!(body.pointer("/output_config/effort").and_then(Value::as_str), word);
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

/// K10, A99: limits are enforced, and provider-specific options pass through.
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
