//! Puts files and folders into a tree that an agent may have changed. They are made elsewhere, beside the tree, where no
//! agent has ever been, and then moved in beneath a handle of the tree, which follows no link. Nothing that is there is
//! replaced, except for an empty folder. Does not make or judge what is put in.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, FileType, Mode};
use rustix::io::Errno;
use types::WorkPath;

use crate::jail::{Jail, Missing, kind_in, names_in, open_folder};
use crate::removal::{open_for_owner, remove};

/// The beginning of the name of the folder beside a tree.
const BESIDE: &str = ".placing-";

/// A tree, and the folder beside it for what is put in. Only one at a time may exist for a tree.
#[derive(Debug)]
pub struct Placing {
    jail: Jail,
    beside: PathBuf,
    made: AtomicU32,
}

impl Placing {
    /// Opens a tree. What an interrupted process left beside it is removed.
    pub fn into(tree: &Path) -> io::Result<Self> {
        let mut name = OsString::from(BESIDE);
        name.push(tree.file_name().unwrap_or_default());
        let beside = tree.with_file_name(name);
        remove(&beside)?;
        Ok(Self { jail: Jail::open(tree)?, beside, made: AtomicU32::new(0) })
    }

    /// A new path on the file system of the tree, where something can be made.
    pub fn fresh(&self) -> io::Result<PathBuf> {
        std::fs::create_dir_all(&self.beside)?;
        Ok(self.beside.join(self.made.fetch_add(1, Ordering::Relaxed).to_string()))
    }

    /// Whether something can be put at a path: nothing is there but perhaps an empty folder, and no link or file is in
    /// the way.
    pub fn is_free(&self, path: &WorkPath) -> io::Result<bool> {
        let Some((above, name)) = split(path) else { return Ok(false) };
        let above = match self.jail.enter(above.into_iter(), Missing::Refuse) {
            Ok(above) => above,
            Err(Errno::NOENT) => return Ok(true),
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        match kind_in(&above, name) {
            Err(Errno::NOENT) => Ok(true),
            Err(errno) => Err(errno.into()),
            Ok(FileType::Directory) => match open_folder(&above, name) {
                Ok(folder) => Ok(names_in(&folder)?.is_empty()),
                // It was closed or replaced by whoever has it now.
                Err(Errno::ACCESS | Errno::NOTDIR | Errno::LOOP) => Ok(false),
                Err(errno) => Err(errno.into()),
            },
            Ok(_) => Ok(false),
        }
    }

    /// Moves what was made at a fresh path to its place, with the folders above it. Returns whether the place was free.
    pub fn place(&self, made: &Path, path: &WorkPath) -> io::Result<bool> {
        self.put(CWD, made.as_os_str(), path)
    }

    /// Moves an entry of another tree, in which commands have run, to the same path in this one. It may be closed: a
    /// folder is moved only if its owner may write to it. Returns whether the place was free.
    pub fn take(&self, tree: &Path, path: &WorkPath) -> io::Result<bool> {
        let Some((above, name)) = split(path) else { return Ok(false) };
        let mut from = open_for_owner(CWD, tree.as_os_str())?;
        for name in above {
            from = open_for_owner(&from, name)?;
        }
        if kind_in(&from, name)? != FileType::Directory {
            return self.put(&from, name, path);
        }
        let mode = rustix::fs::statat(&from, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        let folder = open_for_owner(&from, name)?;
        let placed = self.put(&from, name, path);
        rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode) & Mode::from_raw_mode(0o777))?;
        placed
    }

    fn put(&self, from: impl AsFd, old: &OsStr, path: &WorkPath) -> io::Result<bool> {
        if !self.is_free(path)? {
            return Ok(false);
        }
        let Some((above, name)) = split(path) else { return Ok(false) };
        let placed = self
            .jail
            .enter(above.into_iter(), Missing::Make)
            .and_then(|above| rustix::fs::renameat(&from, old, &above, name));
        match placed {
            Ok(()) => Ok(true),
            // Something came in between.
            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOTEMPTY | Errno::EXIST | Errno::ISDIR) => {
                Ok(false)
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Drop for Placing {
    fn drop(&mut self) {
        // What stays is removed by the next one.
        remove(&self.beside).ok();
    }
}

/// The names above the last one of a path, and that.
fn split(path: &WorkPath) -> Option<(Vec<&OsStr>, &OsStr)> {
    let mut names: Vec<&OsStr> = match path.is_root() {
        true => vec![],
        false => path.components().map(OsStr::new).collect(),
    };
    let last = names.pop()?;
    Some((names, last))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(text: &str) -> WorkPath {
        text.parse().expect("a path")
    }

    fn trees() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().expect("a folder");
        let [tree, outside] = ["tree", "outside"].map(|name| dir.path().join(name));
        fs::create_dir(&tree).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("canary"), "alive").expect("a file");
        (dir, tree, outside)
    }

    fn put(placing: &Placing, to: &str) -> bool {
        let made = placing.fresh().expect("a place");
        fs::create_dir(&made).expect("a folder");
        fs::write(made.join("canary"), "overwritten").expect("a file");
        placing.place(&made, &path(to)).expect("an answer")
    }

    #[test]
    fn what_was_made_beside_a_tree_is_moved_into_it() {
        let (dir, tree, _) = trees();
        fs::create_dir_all(tree.join("libs/empty")).expect("folders");
        fs::create_dir_all(tree.join("libs/full/x")).expect("folders");
        let placing = Placing::into(&tree).expect("a tree");
        assert!(put(&placing, "new/deep") && put(&placing, "libs/empty"));
        assert!(!put(&placing, "libs/full") && !put(&placing, "."));
        assert!(tree.join("new/deep/canary").is_file() && tree.join("libs/full/x").is_dir());
        drop(placing);
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2, "nothing is left");
    }

    /// As the cache of Go's modules is closed; an ordinary user cannot move a folder that they may not write to.
    #[test]
    fn closed_folders_are_taken_as_they_are() {
        crate::user::as_ordinary_user();
        use std::os::unix::fs::PermissionsExt as _;
        let (dir, tree, outside) = trees();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("cache/mod/a")).expect("folders");
        fs::write(from.join("cache/mod/a/x.go"), "x").expect("a file");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        for closed in ["cache/mod/a", "cache/mod", "cache", "."] {
            mode(&from.join(closed), 0o555);
        }
        let placing = Placing::into(&tree).expect("a tree");
        assert!(placing.take(&from, &path("cache/mod")).expect("taken"));
        let taken = fs::metadata(tree.join("cache/mod")).expect("a folder");
        assert_eq!(taken.permissions().mode() & 0o777, 0o555);
        assert!(tree.join("cache/mod/a/x.go").is_file());
        mode(&from, 0o755);
        symlink(&outside, from.join("way")).expect("a link");
        assert!(placing.take(&from, &path("way/canary")).is_err());
        assert!(outside.join("canary").is_file());
        remove(&tree).and(remove(&from)).expect("removed");
    }

    #[test]
    fn no_link_of_the_tree_is_followed_or_replaced() {
        let (_dir, tree, outside) = trees();
        symlink(&outside, tree.join("whole")).expect("a link");
        symlink(outside.join("new"), tree.join("dangling")).expect("a link");
        fs::write(tree.join("file"), "x").expect("a file");
        let placing = Placing::into(&tree).expect("a tree");
        for to in ["whole", "whole/below", "dangling", "dangling/below", "file", "file/below"] {
            assert!(!placing.is_free(&path(to)).expect("an answer"), "{to}");
            assert!(!put(&placing, to), "{to}");
        }
        assert_eq!(fs::read_to_string(outside.join("canary")).expect("a file"), "alive");
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 1);
    }
}
