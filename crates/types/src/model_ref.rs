//! The name of a model: `provider/model`. Independent of which models exist.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A model, as `provider/model`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelRef {
    text: Arc<str>,
    slash: usize,
}

/// A text that does not name a provider and a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name a model; write provider/model")]
pub struct NotAModel(pub String);

impl ModelRef {
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The provider's own name for it, which may itself contain slashes.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text[self.slash + 1..]
    }
}

/// A person's choice of address for one provider in a run or session, instead of its default. Contains no secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelServer {
    pub provider: String,
    pub base_url: String,
}

impl ModelServer {
    /// Whether it serves a model.
    #[must_use]
    pub fn serves(&self, model: &ModelRef) -> bool {
        self.provider == model.provider()
    }
}

impl FromStr for ModelRef {
    type Err = NotAModel;
    fn from_str(text: &str) -> Result<Self, NotAModel> {
        let wrong = || NotAModel(text.chars().take(120).collect());
        let slash = text.find('/').ok_or_else(wrong)?;
        let bad = |c: char| c.is_control() || c.is_whitespace();
        if slash == 0 || slash + 1 == text.len() || text.len() > 200 || text.chars().any(bad) {
            return Err(wrong());
        }
        Ok(Self { text: Arc::from(text), slash })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
