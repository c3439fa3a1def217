//! The ignore files of a workspace: `.git/info/exclude`, and `.gitignore` and `.ignore` of each folder, read when something
//! below it is first judged. They are opened through the jail, and only if they are ordinary files: an agent can put a
//! link, or a pipe that nobody writes to, in their place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ignore::DirEntry;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::jail::Jail;

/// Maximum size of an ignore file; larger ones are not read as such.
const MAX_BYTES: u64 = 256 * 1024;
/// In each folder; later ones take precedence.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];
/// At the root.
const EXCLUDE: &str = ".git/info/exclude";

#[derive(Debug)]
pub(super) struct Ignores {
    jail: Jail,
    root: PathBuf,
    /// By folder, from the root.
    known: RwLock<HashMap<PathBuf, Arc<Gitignore>>>,
}

impl Ignores {
    pub(super) fn new(jail: Jail, root: &Path) -> Self {
        Self { jail, root: root.to_owned(), known: RwLock::default() }
    }

    /// Whether an entry is ignored: the nearest folder whose files name it decides.
    pub(super) fn cover(&self, entry: &DirEntry) -> bool {
        let Ok(path) = entry.path().strip_prefix(&self.root) else { return false };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let mut folder = path.parent();
        while let Some(at) = folder {
            let verdict = self.of(at);
            let verdict = verdict.matched(entry.path(), is_folder);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
            folder = at.parent();
        }
        false
    }

    fn of(&self, folder: &Path) -> Arc<Gitignore> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(folder) {
            return found.clone();
        }
        drop(known);
        let read = Arc::new(self.read(folder));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(folder.to_owned()).or_insert(read).clone()
    }

    fn read(&self, folder: &Path) -> Gitignore {
        let mut builder = GitignoreBuilder::new(self.root.join(folder));
        let at_root = folder.as_os_str().is_empty().then_some(EXCLUDE);
        for name in at_root.into_iter().chain(NAMES) {
            let path = folder.join(name);
            let path = path.to_str().and_then(|path| path.parse().ok());
            let text = path.and_then(|path| self.jail.small_text(&path, MAX_BYTES));
            for line in text.iter().flat_map(|text| text.lines()) {
                // An invalid pattern ignores nothing.
                builder.add_line(None, line).ok();
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }
}
