//! Whether the work was really done: a test that no agent and no check has seen, in a clean checkout of the result.

use std::path::Path;

use anyhow::Context as _;

use super::case::Case;
use super::case_dir::{CaseDir, put};

/// The file that a truth leaves if it holds. A result that ends the test early never creates it.
const MARK: &str = "truth.ok";

/// Whether the truth holds in a checkout, and its output.
pub(crate) fn holds(
    case_dir: &CaseDir,
    case: &Case,
    tree: &Path,
) -> anyhow::Result<(bool, String)> {
    // The truth is about commits, not about untracked build results.
    case_dir.git(tree, &["clean", "-ffdxq"])?;
    put(tree, &case.truth.files, &[])?;
    let mark = tree.join(MARK);
    if mark.exists() {
        std::fs::remove_file(&mark).context("taking away a forged mark")?;
    }
    let (code, said) = case_dir.shell(&case.truth.command, tree, &case_dir.variables)?;
    Ok((code == 0 && mark.is_file(), said))
}
