//! Requests from programs: one JSON object with the text, the project, the budget, and attachments. Strict: an unknown
//! key is an error.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::text::quoted;
use crate::yaml::within;
use crate::{Attachment, AttachmentKind, Budget, Millis, ModelRef, Source, Timestamp, Uuid};

/// The largest image that models accept, in characters of base64.
const MOST_OF_A_PICTURE: usize = 6 * 1024 * 1024;

/// A request object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserRequest {
    #[serde(default)]
    pub request_id: Option<String>,
    #[serde(default)]
    pub timestamp: Option<String>,
    pub user_request: String,
    #[serde(default)]
    pub context: UserContext,
    /// The same as in `context`, which takes precedence.
    #[serde(default)]
    pub preferences: Preferences,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct UserContext {
    pub project_path: Option<String>,
    pub project_type: Option<String>,
    pub preferences: Preferences,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct Preferences {
    /// `claude`, `ollama`, or a model as provider/model.
    pub model: Option<String>,
    pub max_budget_tokens: Option<u64>,
    pub max_time_seconds: Option<u64>,
}

impl UserRequest {
    /// A request with only its text.
    #[must_use]
    pub fn of_text(text: impl Into<String>) -> Self {
        Self {
            request_id: None,
            timestamp: None,
            user_request: text.into(),
            context: UserContext::default(),
            preferences: Preferences::default(),
            attachments: vec![],
        }
    }

    /// Parses a request file: a JSON object, or else plain text. All problems of an object are reported at once, each
    /// with its key.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        if !text.trim_start().starts_with('{') {
            return Ok(Self::of_text(text));
        }
        match serde_json::from_str(text) {
            Ok(value) => Self::of_value(&value),
            Err(error) => Err(vec![format!("it is not JSON: {error}")]),
        }
    }

    /// The same from parsed JSON.
    pub fn of_value(value: &Value) -> Result<Self, Vec<String>> {
        let mut found = Vec::new();
        let probe = |value: &Value| Self::deserialize(value).err().map(|error| error.to_string());
        let Some(object) = value.as_object() else {
            return Err(vec!["it is not a JSON object".to_owned()]);
        };
        if !object.contains_key(TEXT) {
            found.push(format!("{TEXT}: it is missing"));
        }
        let fits = fitting("", &with_text(value.clone()), &probe, &mut found);
        let read = fits.and_then(|fits| Self::deserialize(&with_text(fits)).ok());
        found.extend(read.as_ref().map(Self::problems).unwrap_or_default());
        match read {
            Some(read) if found.is_empty() => Ok(read),
            _ => Err(found),
        }
    }

    /// Its budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        let (own, outer) = (&self.context.preferences, &self.preferences);
        Budget {
            tokens: own.max_budget_tokens.or(outer.max_budget_tokens),
            time_ms: own.max_time_seconds.or(outer.max_time_seconds).map(Millis::seconds),
            ..Budget::default()
        }
    }

    /// The requested model, as the requester wrote it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.context.preferences.model.as_deref().or(self.preferences.model.as_deref())
    }

    /// The requested model. `claude` and `ollama` are aliases for fixed models.
    #[must_use]
    pub fn wanted_model(&self) -> Option<ModelRef> {
        match self.model()? {
            "claude" => "anthropic/claude-sonnet-4-5".parse().ok(),
            "ollama" => "ollama/gemma2".parse().ok(),
            other => other.parse().ok(),
        }
    }

    /// All its problems, each with its key. A retry would not fix any of them.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(id) = self.request_id.as_deref().filter(|id| id.parse::<Uuid>().is_err()) {
            found.push(format!("request_id: {} is not a UUID", quoted(id)));
        }
        let is_time = |text: &&str| {
            serde_json::from_value::<Timestamp>(serde_json::Value::from(*text)).is_ok()
        };
        if let Some(time) = self.timestamp.as_deref().filter(|text| !is_time(text)) {
            found.push(format!("timestamp: {} is not an ISO 8601 date and time", quoted(time)));
        }
        if let Some(word) = self.model().filter(|_| self.wanted_model().is_none()) {
            let known = "claude, ollama, or a model as provider/model";
            found.push(format!("preferences.model: {} is not {known}", quoted(word)));
        }
        let budget = self.budget();
        if budget.tokens == Some(0) {
            found.push("preferences.max_budget_tokens: 0 tokens are no budget".to_owned());
        }
        if budget.time_ms == Some(Millis(0)) {
            found.push("preferences.max_time_seconds: 0 seconds are no time".to_owned());
        }
        for (place, attachment) in self.attachments.iter().enumerate() {
            let problem = attachment.problem();
            found.extend(problem.map(|what| format!("attachments[{place}].content: {what}")));
        }
        found
    }
}

/// The required key of a request object.
const TEXT: &str = "user_request";

/// The object with a text added if it has none.
fn with_text(mut value: Value) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.entry(TEXT).or_insert_with(|| json!(""));
    }
    value
}

/// The valid part of a value, found by trying each key and element alone; problems are collected with their paths.
/// `probe` returns the problem of the whole object with only this part.
fn fitting(
    path: &str,
    value: &Value,
    probe: &dyn Fn(&Value) -> Option<String>,
    found: &mut Vec<String>,
) -> Option<Value> {
    let Some(wrong) = probe(value) else { return Some(value.clone()) };
    // All keys here are optional, so each can be tried alone.
    let open = path.is_empty() || path == "context" || path.ends_with("preferences");
    match value {
        Value::Object(object) if open => {
            let mut fits = Map::new();
            for (key, value) in object {
                let inside = within(path, key);
                let alone = |value: &Value| {
                    let one = json!({ key.as_str(): value });
                    probe(&if path.is_empty() { with_text(one) } else { one })
                };
                let part = fitting(&inside, value, &alone, found);
                fits.extend(part.map(|part| (key.clone(), part)));
            }
            Some(Value::Object(fits))
        }
        Value::Array(list) if probe(&json!([])).is_none() => {
            let one = |(place, value): (usize, &Value)| {
                let alone = |value: &Value| probe(&json!([value]));
                let part = fitting(&format!("{path}[{place}]"), value, &alone, found);
                // A placeholder keeps the index of the other elements.
                part.unwrap_or_else(|| json!({ "type": "file", "content": "" }))
            };
            Some(list.iter().enumerate().map(one).collect())
        }
        _ => {
            found.push(format!("{path}: {wrong}"));
            None
        }
    }
}

impl Attachment {
    /// Why its content does not match its type.
    fn problem(&self) -> Option<String> {
        let content = self.content.trim();
        match self.kind {
            AttachmentKind::File => None,
            AttachmentKind::Url => {
                let rest =
                    content.strip_prefix("https://").or_else(|| content.strip_prefix("http://"));
                let fits = rest.is_some_and(|rest| !rest.is_empty())
                    && !content.contains(char::is_whitespace);
                (!fits).then(|| format!("{} is not an http or https address", quoted(content)))
            }
            AttachmentKind::Image if content.len() > MOST_OF_A_PICTURE => {
                Some(format!("a picture has at most {MOST_OF_A_PICTURE} characters of base64"))
            }
            AttachmentKind::Image if self.picture().is_none() => {
                Some("it is not a PNG, JPEG, GIF or WebP picture in base64".to_owned())
            }
            AttachmentKind::Image => None,
        }
    }

    /// The image for a model, if it is one in base64 (or a `data:` address of one).
    #[must_use]
    pub fn picture(&self) -> Option<Source> {
        if self.kind != AttachmentKind::Image {
            return None;
        }
        let content = self.content.trim();
        let inside = content.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        let base64: String =
            inside.map_or(content, |(_, base64)| base64).split_whitespace().collect();
        // The first bytes of each format in base64.
        let sorts = [
            ("iVBORw0KGgo", "image/png"),
            ("/9j/", "image/jpeg"),
            ("R0lGOD", "image/gif"),
            ("UklGR", "image/webp"),
        ];
        let (_, media_type) = sorts.iter().find(|(begins, _)| base64.starts_with(begins))?;
        let digits = base64.trim_end_matches('=');
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        let padding = base64.len() - digits.len();
        let fits = digits.bytes().all(is_digit) && padding <= 2 && base64.len().is_multiple_of(4);
        fits.then(|| Source::Bytes { media_type: (*media_type).to_owned(), base64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1: the object is accepted as written, and unknown keys are refused.
    #[test]
    fn a_request_object_is_read_strictly() {
        let text = r#"{"request_id": "550e8400-e29b-41d4-a716-446655440000",
            "timestamp": "2025-10-28T10:30:00Z", "user_request": "Create a catalogue",
            "context": {"project_path": "/shop", "project_type": "frontend",
                "preferences": {"model": "claude", "max_budget_tokens": 50000, "max_time_seconds": 300}},
            "attachments": [{"type": "url", "content": "https://shop.test", "description": "the old one"}]}"#;
        let request: UserRequest = serde_json::from_str(text).expect("a request");
        assert_eq!(request.budget().tokens, Some(50_000));
        assert_eq!(request.budget().time_ms, Some(Millis::seconds(300)));
        assert_eq!(request.model(), Some("claude"));
        assert_eq!(request.attachments.len(), 1);
        let read = |text: &str| serde_json::from_str::<UserRequest>(text);
        assert!(read("{}").is_err(), "the text is missing");
        assert!(read(r#"{"user_request": 5}"#).is_err());
        assert!(read(r#"{"user_request": "x", "colour": "red"}"#).is_err());
        assert!(
            read(r#"{"user_request": "x", "attachments": [{"type": "film", "content": ""}]}"#)
                .is_err()
        );
    }

    /// P1: problems are reported with their keys, all at once.
    #[test]
    fn what_cannot_be_used_is_named_with_its_key() {
        let text = r#"{"request_id": "42", "timestamp": "yesterday", "user_request": "x",
            "context": {"preferences": {"model": "gpt", "max_budget_tokens": 0, "max_time_seconds": 0}},
            "attachments": [{"type": "url", "content": "the wiki"}, {"type": "image", "content": "aGVsbG8="},
                {"type": "file", "content": "anything"}]}"#;
        let request: UserRequest = serde_json::from_str(text).expect("a request");
        let keys: Vec<String> = request.problems();
        let keys: Vec<&str> = keys.iter().filter_map(|one| one.split(": ").next()).collect();
        let named = [
            "request_id",
            "timestamp",
            "preferences.model",
            "preferences.max_budget_tokens",
            "preferences.max_time_seconds",
            "attachments[0].content",
            "attachments[1].content",
        ];
        assert_eq!(keys, named);
        assert!(UserRequest::of_text("x").problems().is_empty());
    }

    /// P1: an object that cannot be parsed is answered in the same way.
    #[test]
    fn everything_that_does_not_parse_is_named_at_once() {
        let text = r#"{"request_id": "42", "colour": {"a": 1}, "context": {"project_type": 5, "shape": "round",
            "preferences": {"max_budget_tokens": -1}}, "preferences": 7,
            "attachments": [{"type": "url"}, {"type": "film", "content": ""}, {"type": "url", "content": "x"}]}"#;
        let problems = UserRequest::read(text).expect_err("nothing of it can be used");
        let keys: Vec<&str> = problems.iter().filter_map(|one| one.split(": ").next()).collect();
        let named = [
            "user_request",
            "colour",
            "context.project_type",
            "context.shape",
            "context.preferences.max_budget_tokens",
            "preferences",
            "attachments[0]",
            "attachments[1]",
            "request_id",
            "attachments[2].content",
        ];
        assert_eq!(keys, named, "{problems:?}");
        assert!(problems.iter().any(|one| one.contains("unknown field `colour`, expected one of")));
        let missing = UserRequest::read(r#"{"user_request": 5}"#).expect_err("it is a number");
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert!(missing[0].starts_with("user_request: invalid type"), "{missing:?}");
        let preferences = problems.iter().find(|one| one.starts_with("preferences: "));
        assert!(preferences.is_some_and(|one| one.ends_with("expected an object")), "{problems:?}");
        let cut = UserRequest::read("{\"user_request\": ").expect_err("it is cut off");
        assert!(cut[0].starts_with("it is not JSON: ") && cut[0].contains("line 1"), "{cut:?}");
        assert_eq!(UserRequest::read("Fix it").expect("words").user_request, "Fix it");
    }

    /// P59: a request object may name its model, by an alias or as provider/model.
    #[test]
    fn a_request_object_may_name_its_model() {
        let named = |word: &str| {
            let mut object = UserRequest::of_text("Build a CLI");
            object.preferences.model = Some(word.to_owned());
            object.wanted_model().map(|model| model.to_string())
        };
        assert_eq!(named("claude").as_deref(), Some("anthropic/claude-sonnet-4-5"));
        assert_eq!(named("ollama").as_deref(), Some("ollama/gemma2"));
        assert_eq!(named("openai/gpt-5").as_deref(), Some("openai/gpt-5"));
        assert_eq!(named("gpt"), None);
    }

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        let picture = |content: &str| {
            let (kind, content) = (AttachmentKind::Image, content.to_owned());
            Attachment { kind, content, description: String::new() }.picture()
        };
        let png = "iVBORw0KGgoAAAANSUhEUgAA";
        let Some(Source::Bytes { media_type, base64 }) = picture(png) else { panic!("a picture") };
        assert_eq!((media_type.as_str(), base64.as_str()), ("image/png", png));
        assert!(picture(&format!("data:image/png;base64,{png}")).is_some());
        assert!(picture("iVBORw0KGgo").is_none(), "it is cut off");
        assert!(picture("iVBORw0KGgo<script>==").is_none());
    }
}
