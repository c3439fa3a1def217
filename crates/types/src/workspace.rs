//! How a fresh checkout is made ready for agents and checks, as a policy says it. Nothing is prepared here.

use serde::{Deserialize, Serialize};

use crate::{Millis, WorkPath};

/// The `[workspace]` table of a policy. What it leaves open is found from the repository's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspacePolicy {
    /// Commands that make a fresh checkout ready, in this order. They run in the sandbox, once for each state of the
    /// lock files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Ignored paths of the person's own checkout that are brought along, such as `node_modules`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bring: Option<Vec<WorkPath>>,
    /// Files whose content decides whether a set-up can be used again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<WorkPath>>,
    /// Hosts that the set-up may reach, and nobody else; in the format of `[sandbox] network`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Toolchains and virtual environments outside the repository that commands may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<String>,
    /// Brought paths that agents and checks may write to; each worktree has its own copy of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<WorkPath>>,
    /// Whether submodules are filled from the person's own checkout; where there are any, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submodules: Option<bool>,
    /// Whether Git LFS pointers are replaced by the objects that the person's repository has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lfs: bool,
    /// How long one set-up command may take.
    pub timeout_ms: Millis,
    /// The most that is brought along and kept after a set-up.
    pub max_mb: u64,
}

impl Default for WorkspacePolicy {
    fn default() -> Self {
        Self {
            setup: vec![],
            bring: None,
            locks: None,
            network: vec![],
            visible: vec![],
            writable: None,
            submodules: None,
            lfs: false,
            timeout_ms: Millis::seconds(1_800),
            max_mb: 8_192,
        }
    }
}

impl WorkspacePolicy {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
