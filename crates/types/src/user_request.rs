//! The request as programs hand it in: one JSON object with the text, what is known about the project, what may be
//! spent, and what comes with it. Strict: a key that is not named here is an error.

use serde::{Deserialize, Serialize};

use crate::{Attachment, Budget, Span};

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
    /// The same as in `context`; what is said there wins.
    #[serde(default)]
    pub preferences: Preferences,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UserContext {
    pub project_path: Option<String>,
    pub project_type: Option<String>,
    pub preferences: Preferences,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preferences {
    /// `claude`, `ollama`, or a model as provider/model.
    pub model: Option<String>,
    pub max_budget_tokens: Option<u64>,
    pub max_time_seconds: Option<u64>,
}

impl UserRequest {
    /// A request with nothing but its text.
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

    /// What it may spend.
    #[must_use]
    pub fn budget(&self) -> Budget {
        let (own, outer) = (&self.context.preferences, &self.preferences);
        Budget {
            tokens: own.max_budget_tokens.or(outer.max_budget_tokens),
            time_ms: own.max_time_seconds.or(outer.max_time_seconds).map(Span::seconds),
            ..Budget::default()
        }
    }

    /// The model that is wanted, in the requester's word.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.context.preferences.model.as_deref().or(self.preferences.model.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1: the object is taken as it is written, and what is not part of it is refused.
    #[test]
    fn a_request_object_is_read_strictly() {
        let text = r#"{"request_id": "550e8400-e29b-41d4-a716-446655440000",
            "timestamp": "2025-10-28T10:30:00Z", "user_request": "Create a catalogue",
            "context": {"project_path": "/shop", "project_type": "frontend",
                "preferences": {"model": "claude", "max_budget_tokens": 50000, "max_time_seconds": 300}},
            "attachments": [{"type": "url", "content": "https://shop.test", "description": "the old one"}]}"#;
        let request: UserRequest = serde_json::from_str(text).expect("a request");
        assert_eq!(request.budget().tokens, Some(50_000));
        assert_eq!(request.budget().time_ms, Some(Span::seconds(300)));
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
}
