//! A received request, and queries on it for any dialect.

use runtime::llm::Dialect;
use serde_json::Value;

use super::native::{list, word};

/// One request to the server.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Counted from 0, over all sessions.
    pub number: usize,
    pub dialect: Dialect,
    pub body: Value,
    /// The size of the body in bytes.
    pub bytes: usize,
}

/// An item of a history, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryItem {
    User(String),
    Assistant(String),
    Call(String),
    Result(String),
}

impl Asked {
    /// The system text.
    #[must_use]
    pub fn system(&self) -> String {
        match self.dialect {
            Dialect::Messages => texts(&self.body["system"]),
            Dialect::Responses => word(&self.body, "instructions").to_owned(),
            Dialect::Gemini => texts(&self.body["systemInstruction"]["parts"]),
            Dialect::Chat | Dialect::Ollama => {
                let first = list(&self.body, "messages").first();
                first
                    .filter(|first| word(first, "role") == "system")
                    .map(content)
                    .unwrap_or_default()
            }
        }
    }

    /// The names of the tools offered to the model.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        let tools = match self.dialect {
            Dialect::Gemini => list(&self.body["tools"][0], "functionDeclarations"),
            _ => list(&self.body, "tools"),
        };
        let name = |tool: &Value| match self.dialect {
            Dialect::Chat | Dialect::Ollama => word(&tool["function"], "name").to_owned(),
            _ => word(tool, "name").to_owned(),
        };
        tools.iter().map(name).collect()
    }

    /// The number of the model's turns in the history.
    #[must_use]
    pub fn turn(&self) -> usize {
        let said = self.history();
        let own =
            |said: &HistoryItem| matches!(said, HistoryItem::Assistant(_) | HistoryItem::Call(_));
        let starts = said
            .iter()
            .enumerate()
            .filter(|(at, one)| own(one) && (*at == 0 || !said.get(at - 1).is_some_and(own)));
        starts.count()
    }

    /// All messages, without thinking.
    #[must_use]
    pub fn history(&self) -> Vec<HistoryItem> {
        match self.dialect {
            Dialect::Messages => list(&self.body, "messages").iter().flat_map(message).collect(),
            Dialect::Responses => list(&self.body, "input").iter().filter_map(item).collect(),
            Dialect::Gemini => list(&self.body, "contents").iter().flat_map(gemini).collect(),
            Dialect::Chat | Dialect::Ollama => {
                list(&self.body, "messages").iter().flat_map(chat).collect()
            }
        }
    }

    /// The results of tools, in order.
    #[must_use]
    pub fn results(&self) -> Vec<String> {
        let said = self.history().into_iter();
        let results = said.filter_map(|said| match said {
            HistoryItem::Result(text) => Some(text),
            _ => None,
        });
        results.collect()
    }

    /// The user messages, in order.
    #[must_use]
    pub fn inputs(&self) -> Vec<String> {
        let said = self.history().into_iter();
        let inputs = said.filter_map(|said| match said {
            HistoryItem::User(text) => Some(text),
            _ => None,
        });
        inputs.collect()
    }
}

fn texts(parts: &Value) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().map(|part| word(part, "text")).collect::<Vec<_>>().join("\n")
}

fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => texts(parts),
    }
}

fn message(message: &Value) -> Vec<HistoryItem> {
    let user = word(message, "role") == "user";
    let block = |block: &Value| match word(block, "type") {
        "text" if user => Some(HistoryItem::User(word(block, "text").to_owned())),
        "text" => Some(HistoryItem::Assistant(word(block, "text").to_owned())),
        "tool_use" => Some(HistoryItem::Call(word(block, "name").to_owned())),
        "tool_result" => Some(HistoryItem::Result(content(block))),
        _ => None,
    };
    list(message, "content").iter().filter_map(block).collect()
}

fn item(item: &Value) -> Option<HistoryItem> {
    match (word(item, "type"), word(item, "role")) {
        ("function_call", _) => Some(HistoryItem::Call(word(item, "name").to_owned())),
        ("function_call_output", _) => Some(HistoryItem::Result(match &item["output"] {
            Value::String(text) => text.clone(),
            parts => texts(parts),
        })),
        (_, "user" | "developer") => Some(HistoryItem::User(content(item))),
        (_, "assistant") => Some(HistoryItem::Assistant(content(item))),
        _ => None,
    }
}

fn gemini(turn: &Value) -> Vec<HistoryItem> {
    let user = word(turn, "role") == "user";
    let part = |part: &Value| {
        if let Some(call) = part.get("functionCall") {
            return Some(HistoryItem::Call(word(call, "name").to_owned()));
        }
        if let Some(response) = part.get("functionResponse") {
            let response = &response["response"];
            let text = response.get("result").or(response.get("error"));
            return Some(HistoryItem::Result(
                text.and_then(Value::as_str).unwrap_or_default().to_owned(),
            ));
        }
        let text = word(part, "text").to_owned();
        match (part["thought"].as_bool(), user) {
            (Some(true), _) => None,
            (_, true) => Some(HistoryItem::User(text)),
            (_, false) => Some(HistoryItem::Assistant(text)),
        }
    };
    list(turn, "parts").iter().filter_map(part).collect()
}

fn chat(message: &Value) -> Vec<HistoryItem> {
    let text = content(message);
    match word(message, "role") {
        "user" | "developer" => vec![HistoryItem::User(text)],
        "tool" => vec![HistoryItem::Result(text)],
        "assistant" => {
            let calls = list(message, "tool_calls").iter();
            let calls =
                calls.map(|call| HistoryItem::Call(word(&call["function"], "name").to_owned()));
            let said = (!text.is_empty()).then_some(HistoryItem::Assistant(text));
            said.into_iter().chain(calls).collect()
        }
        _ => vec![],
    }
}
