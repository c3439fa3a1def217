//! Commits, and the difference between two trees. Git itself is called elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkPath;

/// A git commit, by its full hash.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl CommitId {
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..10).unwrap_or(&self.0)
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What changed between two trees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Changes(pub Vec<FileChange>);

impl Changes {
    #[must_use]
    pub fn added(&self) -> u64 {
        self.0.iter().map(|file| file.added).sum()
    }

    #[must_use]
    pub fn removed(&self) -> u64 {
        self.0.iter().map(|file| file.removed).sum()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    pub path: WorkPath,
    /// Lines added and removed; both 0 for a binary file.
    pub added: u64,
    pub removed: u64,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub how: ChangeKind,
    /// Whether nothing but comments changed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub only_comments: bool,
}

/// How a file changed between two commits.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    /// Its content, or only its mode.
    #[default]
    Modified,
    Deleted,
}
