//! Streamed answers of plain text, written as each provider writes them.

use std::fmt::Write as _;

use llm::Dialect;

/// An answer of so many text deltas, each of so many words.
pub(crate) fn answer(dialect: Dialect, events: usize, words: usize) -> Vec<u8> {
    let piece = "harbour ".repeat(words);
    let mut out = String::new();
    let (begin, delta, end) = match dialect {
        Dialect::Messages => (MESSAGES_BEGIN, MESSAGES_DELTA, MESSAGES_END),
        Dialect::Responses => (RESPONSES_BEGIN, RESPONSES_DELTA, RESPONSES_END),
        Dialect::Chat => ("", CHAT_DELTA, CHAT_END),
        Dialect::Gemini => ("", GEMINI_DELTA, GEMINI_END),
        Dialect::Ollama => ("", OLLAMA_DELTA, OLLAMA_END),
    };
    out.push_str(begin);
    let (before, after) = delta.split_once("TEXT").unwrap_or((delta, ""));
    for _ in 0..events {
        let _infallible = write!(out, "{before}{piece}{after}");
    }
    out.push_str(end);
    out.into_bytes()
}

const MESSAGES_BEGIN: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

"#;
const MESSAGES_DELTA: &str = r#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"TEXT"}}

"#;
const MESSAGES_END: &str = r#"event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":99}}

event: message_stop
data: {"type":"message_stop"}

"#;

const RESPONSES_BEGIN: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

"#;
const RESPONSES_DELTA: &str = r#"event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_0123456789abcdef0123456789abcdef","output_index":0,"content_index":0,"delta":"TEXT","logprobs":[],"obfuscation":"a1B2c3D4"}

"#;
const RESPONSES_END: &str = r#"event: response.completed
data: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":9,"output_tokens":99,"total_tokens":108}}}

"#;

const CHAT_DELTA: &str = r#"data: {"id":"chatcmpl-0123456789abcdef0123456789abc","object":"chat.completion.chunk","created":1760000000,"model":"some-model-2026-01-01","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":"TEXT"},"logprobs":null,"finish_reason":null}]}

"#;
const CHAT_END: &str = r#"data: {"id":"chatcmpl-0123456789abcdef0123456789abc","object":"chat.completion.chunk","created":1760000000,"model":"some-model-2026-01-01","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

"#;

const GEMINI_DELTA: &str = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"TEXT\"}],\"role\": \"model\"},\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 9,\"candidatesTokenCount\": 99,\"totalTokenCount\": 108,\"promptTokensDetails\": [{\"modality\": \"TEXT_\",\"tokenCount\": 9}]},\"modelVersion\": \"some-model\",\"responseId\": \"0123456789abcdef\"}\r\n\r\n";
const GEMINI_END: &str = "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}],\"usageMetadata\": {\"promptTokenCount\": 9,\"candidatesTokenCount\": 99,\"totalTokenCount\": 108},\"modelVersion\": \"some-model\"}\r\n\r\n";

const OLLAMA_DELTA: &str = "{\"model\":\"some-model\",\"created_at\":\"2026-01-01T00:00:00.000000001Z\",\"message\":{\"role\":\"assistant\",\"content\":\"TEXT\"},\"done\":false}\n";
const OLLAMA_END: &str = "{\"model\":\"some-model\",\"created_at\":\"2026-01-01T00:00:00.000000001Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":1,\"prompt_eval_count\":9,\"eval_count\":99}\n";
