//! Ignore rules of git: the `.gitignore` of a folder, then those of the folders above, then the repository's own
//! exclude file; the nearest one that matches a name decides. The user's global ignores do not count, nor do the ignore
//! files of search tools: files excluded from searches are still user data.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::content;
use crate::jail::open_folder;

/// Name of the file with a folder's rules.
pub(super) const FILE: &str = ".gitignore";
/// Maximum size of an ignore file; larger ones are not read as such.
const MAX_BYTES: u64 = 256 * 1024;

/// The rules that apply in a folder.
#[derive(Debug)]
pub(super) struct Rules {
    own: Gitignore,
    /// Length of the path to the folder that these rules belong to.
    offset: usize,
    above: Option<Arc<Rules>>,
}

impl Rules {
    /// Rules that apply to all folders.
    pub(super) fn over_all(text: &[u8]) -> Self {
        Self { own: patterns(text), offset: 0, above: None }
    }

    /// Adds the rules of a folder, whose path is `offset` bytes long, to those above it.
    pub(super) fn below(above: &Arc<Self>, text: &[u8], offset: usize) -> Self {
        Self { own: patterns(text), offset, above: Some(Arc::clone(above)) }
    }

    /// Whether a path, relative to the root, is ignored. Assumes that the folders above it are not.
    pub(super) fn ignore(&self, path: &[u8], folder: bool) -> bool {
        let own = path.get(self.offset..).unwrap_or_default();
        let verdict = self.own.matched(Path::new(OsStr::from_bytes(own)), folder);
        match &self.above {
            Some(above) if verdict.is_none() => above.ignore(path, folder),
            _ => verdict.is_ignore(),
        }
    }
}

/// The text of an ignore file, if there is one.
pub(super) fn text(folder: impl AsFd, name: &str) -> Option<Vec<u8>> {
    content::read(folder, name, MAX_BYTES).ok().map(|(bytes, _)| bytes)
}

/// The text of the repository's own exclude file, if the workspace is a repository.
pub(super) fn exclude_text(root: impl AsFd) -> Option<Vec<u8>> {
    let git = open_folder(root, ".git").ok()?;
    text(open_folder(git, "info").ok()?, "exclude")
}

fn patterns(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(".");
    let text = String::from_utf8_lossy(text);
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // An invalid pattern ignores nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rule_decides_and_paths_count_from_its_own_folder() {
        let all = Arc::new(Rules::over_all(b"*.tmp\n"));
        let root = Arc::new(Rules::below(&all, b"*.log\n/build\ndocs/*.txt\n", 0));
        let sub = Rules::below(&root, b"!keep.log\n/only\nfolder/\n", 4);
        for (path, folder, ignored) in [
            ("a.log", false, true),
            ("a.tmp", false, true),
            ("build", true, true),
            ("docs/a.txt", false, true),
        ] {
            assert_eq!(root.ignore(path.as_bytes(), folder), ignored, "{path}");
        }
        for (path, folder, ignored) in [
            ("sub/a.log", false, true),
            ("sub/keep.log", false, false),
            ("sub/only", false, true),
            ("sub/x/only", false, false),
            ("sub/build", true, false),
            ("sub/folder", true, true),
            ("sub/folder", false, false),
            ("sub/a.tmp", false, true),
        ] {
            assert_eq!(sub.ignore(path.as_bytes(), folder), ignored, "{path}");
        }
    }
}
