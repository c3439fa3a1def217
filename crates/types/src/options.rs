//! Model options: tools and their choice, effort, output format, sampling. Every option defaults to the provider's own
//! choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Fault, FaultClass};

/// The options of a model request besides the conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOptions {
    #[serde(skip_serializing_if = "crate::is_default")]
    pub tool_choice: ToolChoice,
    /// Whether a reply may have several calls; the provider's default if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
    /// From 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Stop sequences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_at: Vec<String>,
    #[serde(skip_serializing_if = "crate::is_default")]
    pub caching: Caching,
    /// Provider-specific keys, copied into the request as is; they override ours.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub native: Map<String, Value>,
    /// Names of the provider's beta features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beta: Vec<String>,
}

impl ModelOptions {
    /// Rejects values that no provider accepts.
    pub fn check(&self) -> Result<(), Fault> {
        let refuse = |what: String| Err(Fault::new(FaultClass::Bug, "model.invalid_request", what));
        match (self.temperature, self.top_p) {
            (Some(t), _) if !(0.0..=2.0).contains(&t) => {
                refuse(format!("the temperature is {t}; it must be from 0 to 2"))
            }
            (_, Some(p)) if !(0.0..=1.0).contains(&p) => {
                refuse(format!("top_p is {p}; it must be from 0 to 1"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether and which tools the model may or must use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
    None,
    /// Any tool.
    Required,
    Named(String),
}

/// How much a model should think.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    /// Above high, where a model has it.
    Xhigh,
    /// As much as the model can.
    Max,
}

impl Effort {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// The JSON Schema of the reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSchema {
    pub name: String,
    pub schema: Value,
}

/// Whether the provider should cache the stable part of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    #[default]
    On,
    Off,
}

impl Caching {
    #[must_use]
    pub const fn is_on(&self) -> bool {
        matches!(self, Self::On)
    }
}

/// A tool as offered to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_provider_takes_are_refused() {
        let hot = ModelOptions { temperature: Some(2.1), ..ModelOptions::default() };
        assert!(hot.check().expect_err("too hot").what.contains("2.1"));
        let odd = ModelOptions { top_p: Some(f64::NAN), ..ModelOptions::default() };
        assert!(odd.check().is_err());
        assert!(ModelOptions { temperature: Some(0.0), ..ModelOptions::default() }.check().is_ok());
    }

    #[test]
    fn the_default_writes_nothing() {
        let text = serde_json::to_string(&ModelOptions::default()).expect("JSON");
        assert_eq!(text, "{}");
    }
}
