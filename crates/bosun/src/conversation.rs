//! Reads conversations and tools from files, in Bosun's own format or in the common one with `role` and `content`.
//! Unknown fields of a message in the common format are errors.

use serde::Deserialize;
use serde_json::Value;
use types::{Arguments, Block, Call, CallOutcome, CallResult, Message, Part, ToolSpec};

use crate::exit::CliError;

#[derive(Debug, Default)]
pub(crate) struct Conversation {
    pub(crate) system: Option<String>,
    pub(crate) messages: Vec<Message>,
}

/// A message in the format with `role` and `content`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleMessage {
    role: Who,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Vec<Wanted>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Who {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

/// A string, or a list of text parts.
#[derive(Debug)]
struct Content(Vec<String>);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = |part: &Value| part["text"].as_str().map(ToOwned::to_owned);
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(vec![text])),
            Value::Null => Ok(Self(vec![])),
            Value::Array(parts) => {
                let texts: Option<Vec<String>> = parts.iter().map(text).collect();
                texts
                    .map(Self)
                    .ok_or_else(|| D::Error::custom("every content part must have a text"))
            }
            _ => Err(D::Error::custom("content must be a string or a list of parts")),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Wanted {
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
    #[serde(default)]
    function: Option<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
}

/// Why a text could not be read; valid JSON of another form is not called invalid.
pub(crate) fn not_json(error: &serde_json::Error) -> String {
    if error.is_data() { error.to_string() } else { format!("not valid JSON: {error}") }
}

/// Reads a conversation. `name` appears in error messages.
pub(crate) fn read(name: &str, text: &str) -> Result<Conversation, CliError> {
    let wrong = |cause: String| CliError::Json { path: name.to_owned(), cause };
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| wrong(not_json(&error)))?;
    let mut talk = Conversation::default();
    for (place, value) in list.into_iter().enumerate() {
        let at = |error: serde_json::Error| wrong(format!("message {}: {error}", place + 1));
        if value.get("from").is_some() {
            talk.messages.push(serde_json::from_value(value).map_err(at)?);
        } else {
            add(&mut talk, serde_json::from_value(value).map_err(at)?);
        }
    }
    Ok(talk)
}

fn add(talk: &mut Conversation, said: RoleMessage) {
    let texts = said.content.map(|content| content.0).unwrap_or_default();
    let parts =
        |texts: Vec<String>| texts.into_iter().map(|text| Part::Text { text }).collect::<Vec<_>>();
    match said.role {
        Who::System => {
            let text = texts.join("\n");
            talk.system =
                Some(talk.system.take().map_or(text.clone(), |before| format!("{before}\n{text}")));
        }
        Who::Developer => talk.messages.push(Message::Developer { parts: parts(texts) }),
        Who::User => talk.messages.push(Message::User { parts: parts(texts) }),
        Who::Assistant => {
            let texts = texts.into_iter().filter(|text| !text.is_empty()).map(Block::text);
            let calls = said.tool_calls.into_iter().map(|call| Block::call(wanted(call)));
            talk.messages
                .push(Message::Assistant { blocks: texts.chain(calls).collect(), model: None });
        }
        Who::Tool => {
            let result = CallResult {
                wire_id: said.tool_call_id.unwrap_or_default(),
                tool: said.name.unwrap_or_default(),
                outcome: CallOutcome::Ok,
                parts: parts(texts),
            };
            match talk.messages.last_mut() {
                Some(Message::Results { results }) => results.push(result),
                _ => talk.messages.push(Message::Results { results: vec![result] }),
            }
        }
    }
}

fn wanted(call: Wanted) -> Call {
    let (name, arguments) = match call.function {
        Some(function) => (function.name, function.arguments),
        None => (call.name.unwrap_or_default(), call.arguments),
    };
    let arguments = match arguments {
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(value) => Arguments::Json(value),
            Err(_) => Arguments::Broken(text),
        },
        Some(value) => Arguments::Json(value),
        None => Arguments::Json(Value::Object(serde_json::Map::new())),
    };
    Call { wire_id: call.id, tool: name, arguments }
}

/// Reads a list of tools, each with a name, a description and a schema, the schema under any of the usual keys.
pub(crate) fn tools(name: &str, text: &str) -> Result<Vec<ToolSpec>, CliError> {
    let wrong = |cause: String| CliError::Json { path: name.to_owned(), cause };
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| wrong(not_json(&error)))?;
    let tool = |(place, value): (usize, &Value)| {
        let value = value.get("function").unwrap_or(value);
        let schema = ["schema", "parameters", "input_schema"].iter().find_map(|key| value.get(key));
        let name = value["name"].as_str();
        match (name, schema) {
            (Some(name), Some(schema)) => Ok(ToolSpec {
                name: name.to_owned(),
                description: value["description"].as_str().unwrap_or_default().to_owned(),
                schema: schema.clone(),
            }),
            _ => Err(wrong(format!("tool {} needs a name and a schema", place + 1))),
        }
    };
    list.iter().enumerate().map(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_with_roles_becomes_ours() {
        let text = r#"[
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                {"id": "b", "function": {"name": "g", "arguments": "{broken"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": "two"}
        ]"#;
        let talk = read("talk.json", text).expect("a conversation");
        assert_eq!(talk.system.as_deref(), Some("be brief"));
        assert_eq!(talk.messages.len(), 3, "both results are in one message: {:?}", talk.messages);
        assert!(matches!(&talk.messages[2], Message::Results { results } if results.len() == 2));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let error = read("talk.json", r#"[{"role": "user", "content": "x", "mood": "sad"}]"#);
        let said = error.expect_err("mood is unknown").to_string();
        assert!(
            said.contains("talk.json") && said.contains("message 1") && said.contains("mood"),
            "{said}"
        );
        assert!(tools("t.json", r#"[{"name": "f"}]"#).is_err());
    }
}
