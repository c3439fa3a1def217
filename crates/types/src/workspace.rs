//! The policy for preparing a fresh checkout for agents and checks. Nothing is prepared here.

use serde::{Deserialize, Serialize};

use crate::{Millis, WorkPath};

/// The `[workspace]` table of a policy. Omitted keys are derived from the repository's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspacePolicy {
    /// Commands that prepare a fresh checkout, in order. They run in the sandbox, once for each state of the lock
    /// files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Ignored paths of the person's checkout to copy, such as `node_modules`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bring: Option<Vec<WorkPath>>,
    /// Files whose content decides whether a set-up can be reused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<WorkPath>>,
    /// Hosts that only the set-up may reach; in the format of `[sandbox] network`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Toolchains and virtual environments outside the repository that commands may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<String>,
    /// Copied paths that agents and checks may write to; each worktree has its own copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writable: Option<Vec<WorkPath>>,
    /// Whether submodules are filled from the person's checkout; by default if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submodules: Option<bool>,
    /// Whether Git LFS pointers are replaced by the objects that the person's repository has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lfs: bool,
    /// The timeout of one set-up command.
    pub timeout_ms: Millis,
    /// Maximum size of the data copied and kept after a set-up.
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
