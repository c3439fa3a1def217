//! Users with their roles, and projects.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a user may do; each role may also do what those before it may.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at everything in their projects.
    Viewer,
    /// Start runs, answer, review, accept.
    Operator,
    /// Manage users and projects.
    Admin,
}

impl Role {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// A person or program that may use the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct User {
    pub name: String,
    pub role: Role,
    /// The projects that they can see; null for all of them, and for repositories that are in no project.
    #[serde(default)]
    pub projects: Option<Vec<String>>,
}

/// A repository with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    pub name: String,
    /// The top of the repository on the server's machine.
    pub path: PathBuf,
}
