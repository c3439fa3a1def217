//! What a sandbox permits to commands, as data: files, resources, the isolation level. Each system enforces it in its
//! own way, or refuses to.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use types::{IsolationLevel, Scope, WorkPath};

/// Bounds of commands. By default, all of the workspace is writable, at the highest level of isolation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Bounds {
    /// Where commands may write in the workspace; if unset, everywhere except git's own files. A missing folder is
    /// created. A file can be written, even if it was missing; it can be replaced by a rename only where the environment
    /// supports that (`LocalEnvironment::replacing_files`), since otherwise it is a mount point.
    pub scope: Option<Scope>,
    /// Paths of the scope that commands may create as a file or as a folder, such as a build's output. A missing one is
    /// not created for them, as in any checkout; so it needs a folder above in which the environment lets commands
    /// create entries (`LocalEnvironment::replacing_files`).
    pub builds: Vec<WorkPath>,
    /// Paths of this machine that commands may read in addition to the usual ones, such as the repository behind a
    /// worktree.
    pub visible: Vec<PathBuf>,
    /// The objects of git that commands may read.
    pub objects: Option<Objects>,
    /// Files and folders of the machine that appear empty, wherever they would be visible.
    pub masked: Vec<PathBuf>,
    /// Paths of the workspace that are read-only, regardless of the scope. Without namespaces this cannot be enforced;
    /// then only the scope counts.
    pub closed: Vec<WorkPath>,
    /// Paths in `closed` that are writable nevertheless.
    pub reopened: Vec<WorkPath>,
    pub limits: Limits,
    /// Another level than the highest, where that one is not available.
    pub level: IsolationLevel,
    /// The workspace as a stack of folders. Needs the highest level.
    pub layers: Option<Layers>,
}

impl Bounds {
    /// Where commands see a workspace.
    pub(crate) fn seen_at<'a>(&'a self, root: &'a Path) -> &'a Path {
        self.layers.as_ref().map_or(root, |layers| layers.at.as_path())
    }

    /// The lower folders of a workspace that is a stack.
    pub(crate) fn lower(&self) -> &[PathBuf] {
        self.layers.as_ref().map_or(&[], |layers| layers.lower.as_slice())
    }
}

impl Bounds {
    /// Masks everything also below the links by which it would be visible: a visible link shows what it leads to.
    pub(crate) fn masking_all_names(mut self) -> Self {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let masked: Vec<PathBuf> = self.masked.iter().map(real).collect();
        for shown in &self.visible {
            let below = real(shown);
            if below == *shown {
                continue;
            }
            let inside = masked.iter().filter_map(|path| path.strip_prefix(&below).ok());
            self.masked.extend(inside.map(|rest| match rest.as_os_str().is_empty() {
                true => shown.clone(),
                false => shown.join(rest),
            }));
        }
        self.masked.extend(masked);
        self.masked.sort();
        self.masked.dedup();
        self
    }
}

/// A workspace that is a stack of folders: commands see them as one, and everything they write goes to the uppermost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// Where commands see it. Nothing needs to exist there outside.
    pub at: PathBuf,
    /// Folders that are only read, the upper ones first.
    pub lower: Vec<PathBuf>,
    /// The uppermost folder: the one that the environment is opened on.
    pub upper: PathBuf,
    /// An empty folder for the kernel, on the same file system as `upper`; a new one for each command.
    pub work: PathBuf,
}

/// The objects of a repository that commands see in place of all that it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Where git looks for them.
    pub at: PathBuf,
    /// The folder that has them. Without namespaces, commands find it by a variable.
    pub from: PathBuf,
}

/// Resource limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Concurrent processes and threads.
    pub processes: u64,
    /// Memory of one process, and of all together.
    pub memory_bytes: u64,
    /// Size of the largest file.
    pub file_bytes: u64,
    /// Size of all private temporary folders together.
    pub temp_bytes: u64,
    /// Total size of a command's writes to the workspace.
    pub disk_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            processes: 1024,
            memory_bytes: 8 * GIB,
            file_bytes: 8 * GIB,
            temp_bytes: 2 * GIB,
            disk_bytes: 32 * GIB,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_is_masked_under_every_name_that_is_visible() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("a folder");
        std::fs::create_dir_all(top.join("real/acceptance")).expect("a folder");
        std::os::unix::fs::symlink(top.join("real"), top.join("link")).expect("a link");
        let of = |visible: &str, masked: &str| {
            let (visible, masked) = (vec![top.join(visible)], vec![top.join(masked)]);
            Bounds { visible, masked, ..Bounds::default() }.masking_all_names().masked
        };
        let both = [top.join("link/acceptance"), top.join("real/acceptance")];
        assert_eq!(of("link", "real/acceptance"), both);
        assert_eq!(of("link", "link/acceptance"), both);
        assert_eq!(of("real", "link/acceptance"), both);
        assert_eq!(of("link", "real"), [top.join("link"), top.join("real")]);
        assert_eq!(of("real", "real/acceptance"), both[1..]);
    }
}
