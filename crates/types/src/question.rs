//! Questions of an attempt: what it asks a person, and what the person said.

use serde::{Deserialize, Serialize};

use crate::{Decision, FileState};

/// An attempt cannot go on before this is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// The question's number in its attempt, counted from 0.
    pub question: u32,
    pub text: String,
    pub decision: Decision,
    /// The files that it is about, as they were when it was asked.
    pub files: Vec<FileState>,
}

/// What a person said to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub by: String,
    pub text: String,
}

impl Said {
    /// Whether it is a yes. Anything that is not clearly one is a no.
    #[must_use]
    pub fn allows(&self) -> bool {
        let word = self.text.trim().trim_end_matches(['.', '!']).to_lowercase();
        matches!(word.as_str(), "allow" | "allowed" | "yes" | "y" | "ok")
    }
}
