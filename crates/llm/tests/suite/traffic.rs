//! Recorded answers of real providers, read from a folder `shared/traffic` above this crate, if there is
//! one. Each must decode to what the provider's own library understood, for any chunking of its bytes.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use llm::{Dialect, decode_stream, decode_whole};
use serde_json::Value;
use types::{Arguments, ModelReply, StreamItem, Usage};

struct Recording {
    name: String,
    status: u16,
    streamed: bool,
    body: Vec<u8>,
    expected: Value,
}

fn folder() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = here.ancestors().map(|up| up.join("shared/traffic")).find(|path| path.is_dir());
    if found.is_none() {
        println!("SKIPPED: there is no folder shared/traffic above {}", here.display());
    }
    found
}

fn recordings(folder: &Path, dialect: Dialect) -> Vec<Recording> {
    let name = match dialect {
        Dialect::Messages => "anthropic_messages",
        Dialect::Responses => "openai_responses",
        Dialect::Chat => "openai_chat",
        Dialect::Gemini => "gemini",
        Dialect::Ollama => return vec![],
    };
    let entries = std::fs::read_dir(folder.join(name)).expect("the dialect's folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| !path.to_string_lossy().ends_with(".expected.json"));
    paths.sort();
    paths.iter().map(|path| recording(path)).collect()
}

fn recording(path: &Path) -> Recording {
    let read = |path: &Path| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
    };
    let exchange = read(path);
    let response = &exchange["response"];
    let headers = response["headers"].to_string().to_lowercase();
    Recording {
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        status: u16::try_from(response["status"].as_u64().expect("a status")).expect("small"),
        streamed: headers.contains("event-stream"),
        body: response["body"].as_str().expect("a body").as_bytes().to_vec(),
        expected: read(&path.with_extension("expected.json")),
    }
}

fn last(mut items: Vec<StreamItem>) -> StreamItem {
    let last = items.pop().expect("at least one item");
    let over = |item: &StreamItem| matches!(item, StreamItem::Finished(_) | StreamItem::Failed(_));
    assert!(over(&last), "the last item is {last:?}");
    assert!(!items.iter().any(over), "an end in the middle");
    last
}

/// Usage of a reply, in the provider's own way of counting.
fn own_usage(dialect: Dialect, reply: &ModelReply, expected: &Value) -> Usage {
    let usage = reply.usage;
    let mut own = usage;
    let counted = reply.provenance.usage.clone().unwrap_or_default();
    match dialect {
        Dialect::Messages => own.input -= usage.cache_read + usage.cache_write,
        Dialect::Gemini => {
            own.output -= usage.reasoning;
            own.input -= counted["toolUsePromptTokenCount"].as_u64().unwrap_or(0);
        }
        // Some compatible servers count thinking separately from the output, most include it.
        Dialect::Chat
            if expected["output"].as_u64() == usage.output.checked_sub(usage.reasoning) =>
        {
            own.output -= usage.reasoning;
        }
        _ => {}
    }
    own
}

fn differences(dialect: Dialect, reply: &ModelReply, expected: &Value) -> Vec<String> {
    let mut wrong = vec![];
    let mut compare = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            wrong.push(format!("{what}: ours {ours:.300} theirs {theirs:.300}"));
        }
    };
    let text = |key: &str| expected[key].as_str().unwrap_or_default().to_owned();
    compare("text", reply.text(), text("text"));
    compare("refusal", reply.refusal().unwrap_or_default().to_owned(), text("refusal"));
    compare("thinking", reply.thinking(), text("thinking_text"));
    compare("stop", reply.provenance.stop.clone().unwrap_or_default(), text("stop_reason"));
    let theirs = expected["tool_calls"].as_array().cloned().unwrap_or_default();
    let ours: Vec<_> = reply.calls().collect();
    compare("calls", ours.len().to_string(), theirs.len().to_string());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        compare("tool", ours.tool.clone(), theirs["name"].as_str().unwrap_or_default().to_owned());
        if let Some(id) = theirs["id"].as_str() {
            compare("call id", ours.wire_id.clone(), id.to_owned());
        }
        match &ours.arguments {
            Arguments::Json(value) => compare("arguments", sorted(value), sorted(&theirs["args"])),
            Arguments::Broken(text) => {
                let raw = theirs["args_raw"].as_str().unwrap_or_default();
                compare("raw arguments", text.clone(), raw.to_owned());
            }
        }
    }
    let usage = &expected["usage"];
    let own = own_usage(dialect, reply, usage);
    for (key, ours) in [
        ("input", own.input),
        ("output", own.output),
        ("cache_read", own.cache_read),
        ("cache_write", own.cache_write),
        ("reasoning", own.reasoning),
    ] {
        if let Some(theirs) = usage[key].as_u64() {
            compare(key, ours.to_string(), theirs.to_string());
        }
    }
    wrong
}

fn sorted(value: &Value) -> String {
    fn sort(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut keys: Vec<_> = fields.iter().map(|(k, v)| (k.clone(), sort(v))).collect();
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(keys.into_iter().collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(sort).collect()),
            other => other.clone(),
        }
    }
    sort(value).to_string()
}

fn check(dialect: Dialect, recording: &Recording) -> Vec<String> {
    let items = if recording.status >= 400 {
        vec![StreamItem::Failed(dialect.fault(recording.status, &recording.body))]
    } else if recording.streamed {
        decode_stream(dialect, vec![Bytes::from(recording.body.clone())])
    } else {
        decode_whole(dialect, &recording.body)
    };
    let error = recording.expected.get("error").filter(|error| !error.is_null());
    match (last(items), error) {
        (StreamItem::Finished(reply), None) => differences(dialect, &reply, &recording.expected),
        (StreamItem::Failed(fault), Some(error)) => {
            let message = error["message"].as_str().unwrap_or_default();
            let said = fault.what.contains(message) || message.contains("Invalid API Key");
            if said { vec![] } else { vec![format!("fault {:?} lacks {message:?}", fault.what)] }
        }
        (last, _) => vec![format!("ours {last:?}, theirs {error:?}")],
    }
}

fn all_are_read(dialect: Dialect) {
    let Some(folder) = folder() else { return };
    let mut wrong = vec![];
    for recording in recordings(&folder, dialect) {
        let differences = check(dialect, &recording);
        if !differences.is_empty() {
            wrong.push(format!("{}:\n    {}", recording.name, differences.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} recordings differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Deterministic pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }
}

fn cut(body: &[u8], dice: &mut Dice, largest: usize) -> Vec<Bytes> {
    let mut rest = Bytes::copy_from_slice(body);
    let mut chunks = vec![];
    while !rest.is_empty() {
        chunks.push(rest.split_to((1 + dice.below(largest)).min(rest.len())));
    }
    chunks
}

fn no_cut_matters(dialect: Dialect) {
    let Some(folder) = folder() else { return };
    let mut dice = Dice(7);
    for recording in recordings(&folder, dialect).iter().filter(|one| one.streamed) {
        let whole = decode_stream(dialect, vec![Bytes::from(recording.body.clone())]);
        for largest in [1, 3, 17, 200, 5000] {
            let chunks = cut(&recording.body, &mut dice, largest);
            assert_eq!(decode_stream(dialect, chunks), whole, "{}", recording.name);
        }
    }
}

/// Cut off after any byte, a stream ends in the whole reply or in a retryable fault, never in a different reply.
fn no_disconnect_makes_another_reply(dialect: Dialect) {
    let Some(folder) = folder() else { return };
    for recording in recordings(&folder, dialect).iter().filter(|one| one.streamed) {
        let whole = last(decode_stream(dialect, vec![Bytes::from(recording.body.clone())]));
        let StreamItem::Finished(whole) = whole else { continue };
        let step = (recording.body.len() / 150).max(1);
        for end in (0..recording.body.len()).step_by(step) {
            let part = Bytes::copy_from_slice(&recording.body[..end]);
            match last(decode_stream(dialect, vec![part])) {
                StreamItem::Failed(fault) => assert_eq!(fault.code, "model.broken_stream"),
                StreamItem::Finished(reply) => {
                    assert_eq!(reply.blocks, whole.blocks, "{} cut at {end}", recording.name);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Bytes that no provider sent: flipped, dropped, doubled, swapped. Nothing panics, and the stream ends once.
fn no_nonsense_breaks_it(dialect: Dialect) {
    let Some(folder) = folder() else { return };
    let rounds = std::env::var("FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let mut dice = Dice(11);
    let recordings = recordings(&folder, dialect);
    for round in 0..rounds {
        for recording in recordings.iter().filter(|one| one.body.len() < 40_000) {
            let mut body = recording.body.clone();
            for _ in 0..=dice.below(6) {
                mutate(&mut body, &mut dice);
            }
            let items = if recording.streamed {
                decode_stream(dialect, cut(&body, &mut dice, 500))
            } else {
                decode_whole(dialect, &body)
            };
            let _end = last(items);
            let _fault = dialect.fault(u16::try_from(400 + round % 200).expect("small"), &body);
        }
    }
}

fn mutate(body: &mut Vec<u8>, dice: &mut Dice) {
    if body.is_empty() {
        return;
    }
    let at = dice.below(body.len());
    let end = (at + 1 + dice.below(40)).min(body.len());
    match dice.below(5) {
        0 => body[at] = u8::try_from(dice.below(256)).expect("a byte"),
        1 => drop(body.drain(at..end)),
        2 => {
            let piece = body[at..end].to_vec();
            body.splice(at..at, piece);
        }
        3 => {
            let signs = br#"{}[]",:0-9nt\\"#;
            body[at] = signs[dice.below(signs.len())];
        }
        _ => {
            let other = dice.below(body.len());
            body.swap(at, other);
        }
    }
}

macro_rules! dialect_tests {
    ($($module:ident: $dialect:expr;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn every_recorded_answer_is_read_as_its_provider_meant_it() {
                all_are_read($dialect);
            }

            #[test]
            fn it_does_not_matter_where_the_bytes_are_cut() {
                no_cut_matters($dialect);
            }

            #[test]
            fn a_disconnect_never_makes_another_reply() {
                no_disconnect_makes_another_reply($dialect);
            }

            #[test]
            fn no_nonsense_makes_it_panic() {
                no_nonsense_breaks_it($dialect);
            }
        }
    )*};
}

dialect_tests! {
    messages: Dialect::Messages;
    responses: Dialect::Responses;
    chat: Dialect::Chat;
    gemini: Dialect::Gemini;
}
