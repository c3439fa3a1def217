//! Which branch or commit is checked out around a workspace, as far as its own git files say. Nothing else is asked of
//! git.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::content;
use crate::jail::Jail;

/// Maximum size of git's files that are read here.
const MAX_BYTES: u64 = 4096;

/// The text of git's `HEAD`; `None` outside a repository.
pub(super) fn checked_out(root: &Path) -> Option<Vec<u8>> {
    let top = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let mut git = top.join(".git");
    if let Some(text) = text(top, ".git") {
        // Of a linked worktree: a reference to its folder.
        let folder = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
        git = top.join(OsStr::from_bytes(folder));
    }
    text(&git, "HEAD")
}

fn text(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let jail = Jail::open(folder).ok()?;
    content::read(jail.root(), name, MAX_BYTES).ok().map(|(bytes, _)| bytes)
}
