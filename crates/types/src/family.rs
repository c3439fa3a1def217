//! Model families: models trained on the same tools and wording.

use serde::{Deserialize, Serialize};

use crate::ModelRef;

/// A family of models with the same conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    OpenAi,
    Anthropic,
    Gemini,
    /// Any other model.
    #[default]
    Portable,
}

impl Family {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Portable];

    /// The family of a model: by its provider, or by its name if the provider serves several families.
    #[must_use]
    pub fn of(model: &ModelRef) -> Self {
        let by_name = |name: &str| {
            let name = name.rsplit('/').next().unwrap_or(name);
            let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
            match name {
                _ if starts(&["claude"]) => Self::Anthropic,
                _ if starts(&["gemini"]) => Self::Gemini,
                _ if starts(&["gpt-4", "gpt-5", "o1", "o3", "o4", "codex"]) => Self::OpenAi,
                _ => Self::Portable,
            }
        };
        match model.provider() {
            "openai" => Self::OpenAi,
            "anthropic" => Self::Anthropic,
            "gemini" | "google" => Self::Gemini,
            "script" => Self::Portable,
            _ => by_name(model.name()),
        }
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Portable => "portable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_family_is_known_by_its_provider_or_its_name() {
        for (model, family) in [
            ("anthropic/some-model", Family::Anthropic),
            ("openai/gpt-x", Family::OpenAi),
            ("google/some-model", Family::Gemini),
            ("openrouter/anthropic/claude-x", Family::Anthropic),
            ("openrouter/google/gemini-x", Family::Gemini),
            ("ollama/x", Family::Portable),
        ] {
            let model: ModelRef = model.parse().expect("a model");
            assert_eq!(Family::of(&model), family, "{model}");
        }
    }

    #[test]
    fn the_written_word_is_the_word() {
        for family in Family::ALL {
            assert_eq!(serde_json::to_value(family).expect("a word"), family.as_str());
        }
    }
}
