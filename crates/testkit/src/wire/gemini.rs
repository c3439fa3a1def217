//! Gemini's generateContent on the wire: the stream of a reply, the format of a refusal, and the accepted histories.

use serde_json::{Value, json};

use super::answer::{Refusal, Reply};
use super::native::{Keepsake, Spoken, event, list, pieces, tokens, word};

pub(super) fn speak(reply: &Reply, number: usize, body: &Value) -> Spoken {
    let (input, output) = tokens(reply, body);
    let mut parts = vec![];
    let mut keepsakes = vec![];
    if let Some(thinking) = &reply.thinking {
        parts.extend(pieces(thinking).map(|piece| json!({ "text": piece, "thought": true })));
    }
    if let Some(text) = &reply.text {
        parts.extend(pieces(text).map(|piece| json!({ "text": piece })));
    }
    for (place, (tool, arguments)) in reply.calls.iter().enumerate() {
        let call = json!({ "name": tool, "args": arguments });
        let mut part = json!({ "functionCall": call });
        // The first call of a turn is signed, the others are not.
        if reply.thinking.is_some() && place == 0 {
            let token = format!("signature-{number}");
            part["thoughtSignature"] = json!(token);
            keepsakes.push(Keepsake { call: known_by(&part), token });
        }
        parts.push(part);
    }
    let id = format!("response_{number}");
    let chunk = |parts: Vec<Value>, more: Value| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if let (Some(candidate), Value::Object(more)) = (candidate.as_object_mut(), more) {
            candidate.extend(more);
        }
        let usage = json!({
            "promptTokenCount": input, "candidatesTokenCount": output,
            "totalTokenCount": input + output,
        });
        let chunk = json!({
            "candidates": [candidate], "usageMetadata": usage, "responseId": id,
            "modelVersion": "gemini",
        });
        event("", &chunk)
    };
    let mut events: Vec<String> =
        parts.into_iter().map(|part| chunk(vec![part], json!({}))).collect();
    events.push(chunk(vec![], json!({ "finishReason": "STOP" })));
    Spoken { events, keepsakes }
}

pub(super) fn refuse(refusal: Refusal) -> (u16, Value) {
    let (status, word, message) = match refusal {
        Refusal::Key => (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
        Refusal::TooLong => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        Refusal::Overloaded => (503, "UNAVAILABLE", "The model is overloaded."),
    };
    (status, error(status, word, message))
}

pub(super) fn broke(rule: &str) -> (u16, Value) {
    (400, error(400, "INVALID_ARGUMENT", rule))
}

fn error(code: u16, status: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "status": status } })
}

/// The identity of a call, by its content: calls have no ids here.
fn known_by(part: &Value) -> String {
    part["functionCall"].to_string()
}

/// The companions of each call in a history: the call and its signature.
pub(super) fn companions(body: &Value) -> Vec<(String, String)> {
    let parts = list(body, "contents").iter().flat_map(|turn| list(turn, "parts"));
    let calls = parts.filter(|part| part.get("functionCall").is_some());
    calls.map(|part| (known_by(part), word(part, "thoughtSignature").to_owned())).collect()
}

pub(super) fn broken_rules(body: &Value) -> Vec<String> {
    let mut broken = vec![];
    let contents = list(body, "contents");
    let role = |turn: Option<&Value>| turn.map(|turn| word(turn, "role").to_owned());
    if role(contents.first()).as_deref() != Some("user") {
        broken.push("contents: the first turn must be the user's".to_owned());
    }
    if role(contents.last()).as_deref() != Some("user") {
        broken.push("contents: the last turn must be the user's".to_owned());
    }
    let mut open: Vec<&str> = vec![];
    let mut last_role = "";
    for (at, turn) in contents.iter().enumerate() {
        let mut wrong = |rule: &str| broken.push(format!("contents[{at}]: {rule}"));
        let (role, parts) = (word(turn, "role"), list(turn, "parts"));
        if role == last_role || !matches!(role, "user" | "model") {
            wrong("roles must alternate between user and model");
        }
        last_role = role;
        if parts.is_empty() {
            wrong("the parts must not be empty");
        }
        let answers = parts.iter().filter_map(|part| part.get("functionResponse"));
        let answers: Vec<&str> = answers.map(|answer| word(answer, "name")).collect();
        if answers != open {
            wrong(
                "the number of function response parts must equal the number of function call parts of the \
                 turn before, in the same order",
            );
        }
        let calls = parts.iter().filter_map(|part| part.get("functionCall"));
        open = calls.map(|call| word(call, "name")).collect();
        for part in parts {
            broken_part(part, role, &mut wrong);
        }
    }
    if !open.is_empty() {
        broken.push("contents: function calls without responses at the end".to_owned());
    }
    broken
}

fn broken_part(part: &Value, role: &str, wrong: &mut impl FnMut(&str)) {
    if part.get("text").is_some_and(|text| text.as_str().is_none_or(str::is_empty)) {
        wrong("a part must have data: the text is empty");
    }
    if let Some(call) = part.get("functionCall")
        && (role != "model" || word(call, "name").is_empty() || !call["args"].is_object())
    {
        wrong("a function call is the model's, and has a name and an object of arguments");
    }
    if let Some(response) = part.get("functionResponse") {
        let given = response["response"].as_object();
        let empty = |value: &Value| value.as_str().is_some_and(str::is_empty);
        if role != "user" || given.is_none_or(|given| given.is_empty() || given.values().any(empty))
        {
            wrong("a function response is the user's, and is an object with something in it");
        }
    }
}
