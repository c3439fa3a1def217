//! Decodes Gemini replies. A part is a block; pieces of text are joined unless one of them carries a
//! signature, which belongs to that part only. Thoughts are counted separately from the output.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use types::{Fault, StopReason, Usage};

use crate::assembly::{Assembly, BlockIndex};
use crate::complaint;
use crate::decoder::{Decoder, Ending, Next};
use crate::faults::unsupported;
use crate::json::{Text, count, read, text};

#[derive(Default)]
pub(crate) struct GeminiDecoder {
    assembly: Assembly,
    started: bool,
    /// Open block of text or thinking that later parts may extend.
    open: Option<BlockIndex>,
    blocked: bool,
    /// The answer came in one piece and has candidates, so it is complete.
    complete: bool,
    usage: Option<String>,
    /// What the server has said about its reply so far.
    said: Ending,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    /// Every chunk repeats the count; only the last one is used.
    #[serde(borrow, default)]
    usage_metadata: Option<&'a RawValue>,
    prompt_feedback: Option<Value>,
    #[serde(borrow, default)]
    response_id: Text<'a>,
    #[serde(borrow, default)]
    model_version: Text<'a>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    finish_reason: Text<'a>,
    #[serde(default)]
    index: u64,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<&'a RawValue>>,
}

/// The fields of a part that suffice for plain text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glance<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    thought: Option<bool>,
    thought_signature: Option<IgnoredAny>,
    function_call: Option<IgnoredAny>,
}

impl GeminiDecoder {
    fn chunk(&mut self, chunk: Chunk<'_>) -> Result<Next, Fault> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(complaint::gemini(None, &serde_json::json!({ "error": error })));
        }
        if !std::mem::replace(&mut self.started, true) {
            self.assembly.started();
        }
        if let Some(feedback) = chunk.prompt_feedback
            && feedback.get("blockReason").is_some()
        {
            self.blocked = true;
            self.assembly.opaque(feedback);
        }
        for candidate in chunk.candidates.into_iter().flatten().filter(|one| one.index == 0) {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                self.part(part.get())?;
            }
            note(&mut self.said.word, &candidate.finish_reason);
        }
        if let Some(usage) = chunk.usage_metadata.filter(|usage| self.counts(usage.get())) {
            usage.get().clone_into(self.usage.get_or_insert_default());
        }
        note(&mut self.said.id, &chunk.response_id);
        note(&mut self.said.served, &chunk.model_version);
        Ok(Next::More)
    }

    /// A final count of all zeros does not overwrite an earlier one.
    fn counts(&self, said: &str) -> bool {
        self.usage.is_none() || said.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
    }

    fn part(&mut self, part: &str) -> Result<(), Fault> {
        if let Ok(Glance {
            text: Some(words),
            thought,
            thought_signature: None,
            function_call: None,
        }) = serde_json::from_str(part)
        {
            return self.say(&words.0, thought.unwrap_or(false)).map(|_| ());
        }
        match serde_json::from_str(part) {
            Ok(part) => self.rare(part),
            Err(_) => Ok(()),
        }
    }

    /// Appends text to the open block if it is of the same kind, else opens a new one.
    fn say(&mut self, words: &str, thought: bool) -> Result<BlockIndex, Fault> {
        let same = |place: &BlockIndex| self.assembly.is_text(*place) != thought;
        let place = match self.open.filter(same) {
            Some(place) => place,
            None if thought => self.assembly.open_thinking(),
            None => self.assembly.open_text(),
        };
        self.open = Some(place);
        self.assembly.push(place, words)?;
        Ok(place)
    }

    /// Handles a part that is not plain text.
    fn rare(&mut self, part: Value) -> Result<(), Fault> {
        if let Some(call) = part.get("functionCall") {
            return self.call(&call.clone(), part);
        }
        let Some(words) = text(&part, "text").map(str::to_owned) else {
            self.open = None;
            self.assembly.opaque(part);
            return Ok(());
        };
        let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        let signature = text(&part, "thoughtSignature").map(str::to_owned);
        if signature.is_some() {
            self.open = None;
        }
        let place = self.say(&words, thought)?;
        if let Some(signature) = signature {
            self.assembly.sign(place, &signature);
            self.assembly.native(place, part);
            self.open = None;
        }
        Ok(())
    }

    fn call(&mut self, call: &Value, part: Value) -> Result<(), Fault> {
        self.open = None;
        let continues = call.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        if continues || call.get("partialArgs").is_some() {
            return Err(unsupported("a call whose arguments come in parts", text(call, "name")));
        }
        // Gemini omits the ids of calls; a generated one only has to be unique within the reply.
        let made_up = format!("call_{}", self.assembly.calls() + 1);
        let id = text(call, "id").filter(|id| !id.is_empty()).unwrap_or(&made_up);
        let place = self.assembly.open_call(id, text(call, "name").unwrap_or_default());
        let arguments = call.get("args").map(Value::to_string).unwrap_or_default();
        self.assembly.push(place, &arguments)?;
        self.assembly.native(place, part);
        self.assembly.close(place);
        Ok(())
    }
}

impl Decoder for GeminiDecoder {
    fn event(&mut self, data: &str) -> Result<Next, Fault> {
        read(data, |data| Ok(self.chunk(serde_json::from_str(data)?)))
            .unwrap_or(Ok(Next::Unreadable))
    }

    fn whole(&mut self, body: Value) -> Result<(), Fault> {
        // Without `alt=sse` a streamed answer is one array of chunks.
        let chunks = match body {
            Value::Array(chunks) => chunks,
            chunk => vec![chunk],
        };
        self.complete = chunks.iter().any(|chunk| chunk.get("candidates").is_some());
        for chunk in chunks {
            let chunk = chunk.to_string();
            let chunk = serde_json::from_str(&chunk).map_err(|error| {
                crate::faults::Cause::BadReply.fault(format!("reading the reply: {error}"))
            })?;
            self.chunk(chunk)?;
        }
        Ok(())
    }

    fn ending(&mut self) -> Option<Ending> {
        let stop = match self.said.word.as_deref() {
            None if self.blocked => Some(StopReason::Filtered),
            None if self.complete => Some(StopReason::Other),
            None => return None,
            // The default: calls if there are any, else the end.
            Some("STOP" | "FINISH_REASON_UNSPECIFIED" | "FUNCTION_CALL") => None,
            Some("MAX_TOKENS") => Some(StopReason::Length),
            Some(
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                | "MODEL_ARMOR" | "IMAGE_SAFETY" | "LANGUAGE",
            ) => Some(StopReason::Filtered),
            Some(_) => Some(StopReason::Other),
        };
        let counted: Option<Value> =
            self.usage.take().and_then(|usage| serde_json::from_str(&usage).ok());
        let counted = counted.filter(|usage| usage.get("promptTokenCount").is_some());
        let usage = counted.as_ref().map(usage).unwrap_or_default();
        Some(Ending { stop, usage, counted, ..std::mem::take(&mut self.said) })
    }

    fn counted(&self) -> Option<Usage> {
        let counted: Value = serde_json::from_str(self.usage.as_deref()?).ok()?;
        Some(usage(&counted))
    }

    fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}

/// Stores the latest value, reusing the allocation of the previous one.
fn note(kept: &mut Option<String>, said: &Text<'_>) {
    if let Some(said) = said.some() {
        said.clone_into(kept.get_or_insert_default());
    }
}

fn usage(usage: &Value) -> Usage {
    let reasoning = count(usage, "/thoughtsTokenCount");
    let tools = count(usage, "/toolUsePromptTokenCount");
    Usage {
        input: count(usage, "/promptTokenCount").saturating_add(tools),
        output: count(usage, "/candidatesTokenCount").saturating_add(reasoning),
        reasoning,
        cache_read: count(usage, "/cachedContentTokenCount"),
        cache_write: 0,
        estimated: 0,
    }
}

#[cfg(test)]
mod tests {
    use types::StreamItem;

    use crate::{Dialect, decode_stream, decode_whole};

    #[test]
    fn a_whole_answer_without_a_finish_reason_is_a_reply_and_a_streamed_one_broke_off() {
        let body = r#"{"candidates": [{"content": {"parts": [{"text": "hi"}]}}]}"#;
        let last = decode_whole(Dialect::Gemini, body.as_bytes()).pop();
        assert!(matches!(last, Some(StreamItem::Finished(reply)) if reply.text() == "hi"));
        let stream = format!("data: {body}\n\n");
        let last = decode_stream(Dialect::Gemini, vec![stream.into()]).pop();
        assert!(matches!(last, Some(StreamItem::Failed(f)) if f.code == "model.broken_stream"));
        let last = decode_whole(Dialect::Gemini, b"{}").pop();
        assert!(matches!(last, Some(StreamItem::Failed(_))), "nothing is not a reply");
    }
}
