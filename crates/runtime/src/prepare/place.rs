//! Safe paths in a worktree, and the faults of preparing one.

use std::path::{Path, PathBuf};

use sandbox::Most;
use types::{Artifact, Fault, FaultClass, Scope, WorkPath, WorkspacePolicy};

/// The staging folder for files before they are moved into place; never part of a result.
pub(super) const STAGING: &str = ".bosun-staging-workspace";
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

/// The target of a path in a worktree, with its parent folders created; `None` if it exists. The commit may be hostile,
/// so no link in it is followed.
pub(super) fn free_place(folder: &Path, path: &WorkPath) -> Result<Option<PathBuf>, Fault> {
    let whole = folder.canonicalize().map_err(|error| broken("opening", folder, &error))?;
    let to = whole.join(path.as_str());
    let mut step = whole;
    for name in Path::new(path.as_str()).parent().into_iter().flatten() {
        step.push(name);
        match std::fs::symlink_metadata(&step) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Ok(None),
            Err(_) => {
                std::fs::create_dir(&step).map_err(|error| broken("making", &step, &error))?;
            }
        }
    }
    Ok(std::fs::symlink_metadata(&to).is_err().then_some(to))
}

/// The fault of a step that the file system refused.
pub(super) fn broken(doing: &str, path: &Path, error: &std::io::Error) -> Fault {
    let what = format!("preparing a worktree: {doing} {}: {error}", path.display());
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
