//! An answer in one piece decodes to the same reply as the answer in pieces, in every dialect:
//! texts, calls, stop reason, usage.

use bytes::Bytes;
use llm::{Dialect, decode_stream, decode_whole};
use types::{Arguments, ModelReply, StopReason, StreamItem};

const CHAT: (&str, &str) = (
    r#"{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}}],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}"#,
    r#"data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"I "}}]}

data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"look."}}]}

data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\""}}]}}]}

data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":\"a\"}"}}]},"finish_reason":"tool_calls"}]}

data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}

data: [DONE]

"#,
);

const MESSAGES: (&str, &str) = (
    r#"{"id":"1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"read_file","input":{"path":"a"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":5}}"#,
    r#"event: message_start
data: {"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

"#,
);

const GEMINI: (&str, &str) = (
    r#"{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"read_file","args":{"path":"a"}}}]}}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"totalTokenCount":12},"modelVersion":"m","responseId":"1"}"#,
    r#"data: {"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"I look."}]}}],"usageMetadata":{"promptTokenCount":7},"modelVersion":"m","responseId":"1"}

data: {"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"read_file","args":{"path":"a"}}}]}}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":5,"totalTokenCount":12},"modelVersion":"m","responseId":"1"}

"#,
);

const RESPONSES: (&str, &str) = (
    r#"{"id":"1","object":"response","model":"m","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"type":"function_call","id":"f1","call_id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}","status":"completed"}],"usage":{"input_tokens":7,"output_tokens":5,"total_tokens":12}}"#,
    r#"event: response.created
data: {"type":"response.created","response":{"id":"1","object":"response","model":"m","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","status":"in_progress","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"I look."}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"read_file","arguments":"","status":"in_progress"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"f1","output_index":1,"delta":"{\"path\":\"a\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}","status":"completed"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"1","object":"response","model":"m","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"type":"function_call","id":"f1","call_id":"c1","name":"read_file","arguments":"{\"path\":\"a\"}","status":"completed"}],"usage":{"input_tokens":7,"output_tokens":5,"total_tokens":12}}}

"#,
);

const OLLAMA: (&str, &str) = (
    r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"I look.","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":5}"#,
    r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"I look."},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"read_file","arguments":{"path":"a"}}}]},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":5}
"#,
);

type Read = (String, Vec<(String, Arguments)>, StopReason, (u64, u64));

/// The parts of the last item that do not depend on delivery.
fn read(dialect: Dialect, items: &[StreamItem]) -> Read {
    let Some(StreamItem::Finished(reply)) = items.last() else {
        panic!("{}: {items:?}", dialect.as_str())
    };
    let reply: &ModelReply = reply;
    let calls = reply.calls().map(|call| (call.tool.clone(), call.arguments.clone()));
    (reply.text(), calls.collect(), reply.stop, (reply.usage.input, reply.usage.output))
}

/// A92: the whole equals the sum of its pieces, whichever way the server delivers it.
#[test]
fn a_reply_in_one_piece_is_the_reply_in_pieces() {
    for dialect in Dialect::ALL {
        let (body, stream) = match dialect {
            Dialect::Chat => CHAT,
            Dialect::Messages => MESSAGES,
            Dialect::Gemini => GEMINI,
            Dialect::Responses => RESPONSES,
            Dialect::Ollama => OLLAMA,
        };
        let whole = read(dialect, &decode_whole(dialect, body.as_bytes()));
        let pieces = vec![Bytes::from_static(stream.as_bytes())];
        let streamed = read(dialect, &decode_stream(dialect, pieces));
        assert_eq!(whole, streamed, "{}", dialect.as_str());
        assert_eq!((whole.0.as_str(), whole.1.len()), ("I look.", 1), "{}", dialect.as_str());
        assert_eq!(whole.3, (7, 5), "{}", dialect.as_str());
    }
}
