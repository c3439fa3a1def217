//! The limits and faults of preparing a worktree.

use std::path::Path;

use sandbox::Most;
use types::{Artifact, Fault, FaultClass, Scope, WorkPath, WorkspacePolicy};

/// The most files that may be copied or kept.
const MOST_FILES: u64 = 2_000_000;

/// The limits on copied and kept files.
pub(crate) fn most(policy: &WorkspacePolicy) -> Most {
    Most { bytes: policy.max_mb.saturating_mul(1024 * 1024), files: MOST_FILES }
}

/// Whether a path equals another or is below it.
pub(super) fn is_below(path: &WorkPath, above: &WorkPath) -> bool {
    Scope(vec![Artifact { path: above.clone(), whole_folder: true }]).allows(path)
}

/// The fault of a step that the file system refused.
pub(super) fn broken(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    let what = format!("preparing a worktree: {doing} {}: {error}", path.display());
    if sandbox::is_out_of_descriptors(error) {
        return sandbox::out_of_descriptors(what);
    }
    Fault::structural("workspace.not_ready", what)
}

/// The fault of a path that a person has to change.
pub(super) fn refused(error: &sandbox::BringError) -> Fault {
    let (code, hint) = match error {
        sandbox::BringError::TooLarge { .. } => {
            ("workspace.too_large", "; raise max_mb in [workspace], or bring less")
        }
        sandbox::BringError::Io { .. } => ("workspace.not_ready", ""),
    };
    let what = format!("preparing a worktree: {}{hint}", sandbox::chain(error));
    Fault::new(FaultClass::Person, code, what)
}
