//! Copies files and folders: by reflink where the file system supports it, by hard link where no process can write to
//! the copy, by a plain copy otherwise. Copies regular files, folders, and links that stay inside; skips repositories,
//! sockets and devices. The total size is limited.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

/// How copied files share content with their source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Each copy has its own content. Where the file system supports it, blocks are shared until the first write.
    Own,
    /// Hard links to the source. Only for targets that no process can write to.
    Linked,
}

/// Size limit of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    pub bytes: u64,
    pub files: u64,
}

/// Result of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brought {
    pub bytes: u64,
    pub files: u64,
    /// The first few of the skipped paths.
    pub left: Vec<PathBuf>,
}

/// Error of a copy or a fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    #[error("{doing} {path}")]
    Io {
        doing: &'static str,
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("{path} is larger than {} MB or {} files", most.bytes / (1024 * 1024), most.files)]
    TooLarge { path: String, most: Most },
}

/// Maximum number of paths listed as skipped.
const MOST_NAMED: usize = 20;

/// State of one copy operation.
struct Bringing<'a> {
    /// Depth of the copied path below the folder that links must not leave.
    depth: usize,
    sharing: Sharing,
    /// Paths, relative to the start of the copy, that are never hard-linked.
    own: &'a [PathBuf],
    refused: &'a dyn Fn(&Path) -> bool,
    most: Most,
    /// Whether to try reflinks; cleared by the first failure.
    clones: bool,
    brought: Brought,
}

/// Copies the file or folder `root/path` to `to`, which must not exist yet. Skips links that lead out of `root`, and
/// paths for which `refused` returns true.
pub fn bring(
    root: &Path,
    path: &Path,
    to: &Path,
    (sharing, own): (Sharing, &[PathBuf]),
    most: Most,
    refused: &dyn Fn(&Path) -> bool,
) -> Result<Brought, BringError> {
    let depth = path.components().count();
    let mut bringing =
        Bringing { depth, sharing, own, refused, most, clones: true, brought: Brought::default() };
    bringing.one(&root.join(path), to, Path::new(""))?;
    Ok(bringing.brought)
}

impl Bringing<'_> {
    /// Copies one file or folder; `at` is its path relative to the start of the copy.
    fn one(&mut self, from: &Path, to: &Path, at: &Path) -> Result<(), BringError> {
        let found = fs::symlink_metadata(from).map_err(failed("looking at", from))?;
        let name = at.file_name().unwrap_or_default();
        if name == ".git" || (self.refused)(at) {
            self.leave(at);
        } else if found.is_dir() {
            fs::create_dir(to).map_err(failed("making", to))?;
            let mut entries: Vec<_> =
                fs::read_dir(from).and_then(Iterator::collect).map_err(failed("reading", from))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let name = entry.file_name();
                self.one(&entry.path(), &to.join(&name), &at.join(&name))?;
            }
        } else if found.is_file() {
            self.count(from, found.len())?;
            self.file(from, to, at, found.permissions().mode())?;
        } else if found.is_symlink() {
            let target = fs::read_link(from).map_err(failed("reading", from))?;
            if self.stays(&target, at) {
                symlink(target, to).map_err(failed("making", to))?;
            } else {
                self.leave(at);
            }
        } else {
            self.leave(at);
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path, at: &Path, mode: u32) -> Result<(), BringError> {
        if self.clones {
            self.clones = cloned(from, to, mode).is_ok();
        }
        if self.clones {
            return Ok(());
        }
        let linked =
            self.sharing == Sharing::Linked && !self.own.iter().any(|own| at.starts_with(own));
        // The number of hard links to a file is limited; beyond it, the file is copied.
        if linked && fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        fs::copy(from, to).map_err(failed("copying", from))?;
        fs::set_permissions(to, fs::Permissions::from_mode(plain(mode)))
            .map_err(failed("copying", to))
    }

    fn count(&mut self, path: &Path, bytes: u64) -> Result<(), BringError> {
        self.brought.files += 1;
        self.brought.bytes = self.brought.bytes.saturating_add(bytes);
        if self.brought.files > self.most.files || self.brought.bytes > self.most.bytes {
            let path = path.display().to_string();
            return Err(BringError::TooLarge { path, most: self.most });
        }
        Ok(())
    }

    fn leave(&mut self, at: &Path) {
        if self.brought.left.len() < MOST_NAMED {
            self.brought.left.push(at.to_owned());
        }
    }

    /// Whether a link at `at` does not lead out of the root folder.
    fn stays(&self, target: &Path, at: &Path) -> bool {
        let mut depth = self.depth + at.components().count() - 1;
        for part in target.components() {
            match part {
                Component::Normal(_) => depth += 1,
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => depth -= 1,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
            }
        }
        true
    }
}

/// Creates a file that shares its blocks with the source until one of them is written to.
#[cfg(target_os = "linux")]
fn cloned(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    let source = File::open(from)?;
    let made = File::options().write(true).create_new(true).open(to)?;
    let done = rustix::fs::ioctl_ficlone(&made, &source).map_err(io::Error::from);
    match done.and_then(|()| made.set_permissions(fs::Permissions::from_mode(plain(mode)))) {
        Ok(()) => Ok(()),
        Err(error) => {
            fs::remove_file(to)?;
            Err(error)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn cloned(_from: &Path, _to: &Path, _mode: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Clears the setuid, setgid and sticky bits, and makes the file readable and writable for its owner.
const fn plain(mode: u32) -> u32 {
    mode & 0o777 | 0o600
}

/// A short digest that changes when something at a path changes: names, sizes and times, or the content of a single
/// small file. Paths in `skip`, and everything below them, are ignored.
pub fn fingerprint(path: &Path, skip: &[PathBuf], most: Most) -> Result<String, BringError> {
    let found = fs::symlink_metadata(path).map_err(failed("looking at", path))?;
    if found.is_file() && found.len() < 1024 * 1024 {
        let bytes = fs::read(path).map_err(failed("reading", path))?;
        return Ok(types::Digest::of(&bytes).short());
    }
    let (mut digest, mut files) = (types::Digest::ZERO, 0);
    let mut open = vec![path.to_owned()];
    while let Some(next) = open.pop() {
        files += 1;
        if files > most.files {
            return Err(BringError::TooLarge { path: path.display().to_string(), most });
        }
        let found = fs::symlink_metadata(&next).map_err(failed("looking at", &next))?;
        let (name, time) = (next.as_os_str().as_encoded_bytes(), found.modified().ok());
        let facts = format!("{}:{time:?}:", if found.is_dir() { 0 } else { found.len() });
        digest = digest.extended(&[facts.as_bytes(), name].concat());
        if found.is_dir() {
            let entries = fs::read_dir(&next).map_err(failed("reading", &next))?;
            let mut below: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            below.retain(|path| !skip.contains(path));
            below.sort();
            open.extend(below);
        }
    }
    Ok(digest.short())
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BringError {
    let path = path.display().to_string();
    move |source| BringError::Io { doing, path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;
    use crate::removal::remove;

    const MOST: Most = Most { bytes: 1 << 20, files: 100 };

    fn made() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        let dep = dir.path().join("repo/node_modules/dep");
        fs::create_dir_all(dep.join(".git")).expect("folders");
        fs::create_dir_all(dir.path().join("repo/node_modules/.cache")).expect("folders");
        fs::create_dir_all(dir.path().join("repo/packages/own")).expect("folders");
        fs::write(dep.join("index.js"), "x").expect("a file");
        fs::write(dep.join(".npmrc"), "x").expect("a file");
        fs::write(dir.path().join("repo/node_modules/.cache/c"), "x").expect("a file");
        let link = |to: &str, name: &str| {
            symlink(to, dir.path().join("repo/node_modules").join(name)).expect("a link");
        };
        link("../packages/own", "own");
        link("../../outside", "out");
        link("/etc/passwd", "absolute");
        dir
    }

    fn brought(dir: &Path, to: &str, sharing: Sharing) -> Brought {
        let (root, own) = (dir.join("repo"), [PathBuf::from(".cache")]);
        let refused = |path: &Path| path.ends_with(".npmrc");
        let path = Path::new("node_modules");
        bring(&root, path, &dir.join(to), (sharing, &own), MOST, &refused).expect("brought")
    }

    #[test]
    fn plain_files_and_links_that_stay_inside_come_along() {
        let dir = made();
        let found = brought(dir.path(), "to", Sharing::Own);
        assert_eq!(found.files, 2);
        let left: Vec<_> = found.left.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(left, ["absolute", "dep/.git", "dep/.npmrc", "out"]);
        let to = dir.path().join("to");
        assert_eq!(fs::read_link(to.join("own")).expect("a link"), Path::new("../packages/own"));
        assert!(!to.join("dep/.git").exists() && !to.join("out").exists());
    }

    #[test]
    fn content_is_shared_only_where_nobody_writes() {
        let dir = made();
        brought(dir.path(), "own", Sharing::Own);
        brought(dir.path(), "linked", Sharing::Linked);
        let inode = |path: &str| fs::metadata(dir.path().join(path)).expect("a file").ino();
        assert_ne!(inode("own/dep/index.js"), inode("repo/node_modules/dep/index.js"));
        assert_ne!(inode("linked/.cache/c"), inode("repo/node_modules/.cache/c"));
        fs::write(dir.path().join("own/dep/index.js"), "y").expect("a file");
        let first = fs::read_to_string(dir.path().join("repo/node_modules/dep/index.js"));
        assert_eq!(first.expect("a file"), "x");
    }

    #[test]
    fn too_much_is_refused_and_what_is_closed_can_be_removed() {
        let dir = made();
        let most = Most { bytes: 1 << 20, files: 1 };
        let (root, path) = (dir.path().join("repo"), Path::new("node_modules"));
        let to = dir.path().join("to");
        let refused = bring(&root, path, &to, (Sharing::Own, &[]), most, &|_| false);
        assert!(matches!(refused, Err(BringError::TooLarge { .. })), "{refused:?}");
        let closed = to.join("closed");
        fs::create_dir(&closed).expect("a folder");
        fs::write(closed.join("f"), "x").expect("a file");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).expect("closed");
        remove(&to).expect("removed");
        assert!(!to.exists());
    }

    #[test]
    fn a_fingerprint_changes_with_what_it_is_of() {
        let dir = made();
        let modules = dir.path().join("repo/node_modules");
        let skip = [modules.join(".cache")];
        let before = fingerprint(&modules, &skip, MOST).expect("a fingerprint");
        fs::write(modules.join(".cache/new"), "x").expect("a file");
        assert_eq!(fingerprint(&modules, &skip, MOST).expect("the same"), before);
        fs::write(modules.join("dep/index.js"), "longer").expect("a file");
        assert_ne!(fingerprint(&modules, &skip, MOST).expect("another"), before);
    }
}
