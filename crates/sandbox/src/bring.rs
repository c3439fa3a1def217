//! Copies files and folders: by reflink where the file system supports it, by a plain copy otherwise, so that no copy
//! shares anything writable with its source. Copies regular files, folders, and links that stay inside; skips
//! repositories, sockets and devices. The total size is limited. Both sides are handles of folders, and no link is
//! followed: the source may be changed meanwhile.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::jail::{Jail, Missing, names_in, open_file, open_folder};

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

/// Maximum depth of a copied folder: each level takes two open files.
const DEEPEST: usize = 200;

/// State of one copy operation.
struct Bringing<'a> {
    /// Depth of the copied path below the folder that links must not leave.
    depth: usize,
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
    most: Most,
    refused: &dyn Fn(&Path) -> bool,
) -> Result<Brought, BringError> {
    let depth = path.components().count();
    let mut bringing = Bringing { depth, refused, most, clones: true, brought: Brought::default() };
    let above = path.parent().unwrap_or(Path::new(""));
    let from = Jail::open(root).map_err(failed("opening", root))?;
    let from = from.enter(above.iter(), Missing::Refuse).map_err(broken("opening", path))?;
    let beside = to.parent().unwrap_or(Path::new("/"));
    let into = open_folder(CWD, beside).map_err(broken("opening", beside))?;
    let name = |path: &'_ Path| path.file_name().map(OsStr::to_owned).unwrap_or_default();
    bringing.one((&from, &name(path)), (&into, &name(to)), Path::new(""))?;
    Ok(bringing.brought)
}

impl Bringing<'_> {
    /// Copies one file or folder; `at` is its path relative to the start of the copy.
    fn one(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (into, new): (&OwnedFd, &OsStr),
        at: &Path,
    ) -> Result<(), BringError> {
        let found = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(broken("looking at", at))?;
        if at.file_name().is_some_and(|name| name == ".git") || (self.refused)(at) {
            self.leave(at);
            return Ok(());
        }
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory if at.components().count() < DEEPEST => {
                self.folder((from, name), (into, new), at)?;
            }
            FileType::RegularFile => {
                self.count(at, u64::try_from(found.st_size).unwrap_or(u64::MAX))?;
                self.file((from, name), (into, new)).map_err(failed("copying", at))?;
            }
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(from, name, Vec::new())
                    .map_err(broken("reading", at))?;
                if self.stays(Path::new(OsStr::from_bytes(target.to_bytes())), at) {
                    rustix::fs::symlinkat(&target, into, new).map_err(broken("making", at))?;
                } else {
                    self.leave(at);
                }
            }
            _ => self.leave(at),
        }
        Ok(())
    }

    fn folder(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (into, new): (&OwnedFd, &OsStr),
        at: &Path,
    ) -> Result<(), BringError> {
        let from = match open_folder(from, name) {
            Err(Errno::ACCESS) => {
                self.leave(at);
                return Ok(());
            }
            opened => opened.map_err(broken("opening", at))?,
        };
        rustix::fs::mkdirat(into, new, Mode::from_raw_mode(0o777)).map_err(broken("making", at))?;
        let into = open_folder(into, new).map_err(broken("opening", at))?;
        let mut names = names_in(&from).map_err(broken("reading", at))?;
        names.sort();
        for name in names {
            self.one((&from, &name), (&into, &name), &at.join(&name))?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (into, new): (&OwnedFd, &OsStr),
    ) -> io::Result<()> {
        let mut source = open_file(from, name)?;
        let found = source.metadata()?;
        if !found.is_file() {
            return Err(io::Error::other("it was replaced while it was copied"));
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(into, new, flags, Mode::from_raw_mode(0o600))?;
        let mut made = File::from(made);
        self.clones = self.clones && cloned(&source, &made).is_ok();
        if !self.clones {
            // It may have grown since it was counted.
            io::copy(&mut (&mut source).take(found.len()), &mut made)?;
        }
        rustix::fs::fchmod(&made, Mode::from_raw_mode(plain(found.mode())))?;
        Ok(())
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

/// Lets a new file share its blocks with the source until one of them is written to.
#[cfg(target_os = "linux")]
fn cloned(source: &File, made: &File) -> io::Result<()> {
    rustix::fs::ioctl_ficlone(made, source).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn cloned(_source: &File, _made: &File) -> io::Result<()> {
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

fn broken(doing: &'static str, path: &Path) -> impl FnOnce(Errno) -> BringError {
    let failed = failed(doing, path);
    move |errno| failed(errno.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

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

    fn brought(dir: &Path, to: &str) -> Brought {
        let refused = |path: &Path| path.ends_with(".npmrc");
        let path = Path::new("node_modules");
        bring(&dir.join("repo"), path, &dir.join(to), MOST, &refused).expect("brought")
    }

    #[test]
    fn plain_files_and_links_that_stay_inside_come_along() {
        let dir = made();
        let found = brought(dir.path(), "to");
        assert_eq!(found.files, 2);
        let left: Vec<_> = found.left.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(left, ["absolute", "dep/.git", "dep/.npmrc", "out"]);
        let to = dir.path().join("to");
        assert_eq!(fs::read_link(to.join("own")).expect("a link"), Path::new("../packages/own"));
        assert!(!to.join("dep/.git").exists() && !to.join("out").exists());
    }

    /// A copy may be moved to where its owner can write to it, so it must be a copy.
    #[test]
    fn no_content_is_shared_with_the_source() {
        let dir = made();
        brought(dir.path(), "to");
        for name in ["dep/index.js", ".cache/c"] {
            let facts = |top: &str| fs::metadata(dir.path().join(top).join(name)).expect("a file");
            assert_ne!(facts("to").ino(), facts("repo/node_modules").ino(), "{name}");
            assert_eq!(facts("repo/node_modules").nlink(), 1, "{name}");
            fs::write(dir.path().join("to").join(name), "y").expect("a file");
            let first = fs::read_to_string(dir.path().join("repo/node_modules").join(name));
            assert_eq!(first.expect("a file"), "x", "{name}");
        }
    }

    #[test]
    fn a_link_on_the_way_to_the_source_is_not_followed() {
        let dir = made();
        symlink("node_modules", dir.path().join("repo/way")).expect("a link");
        let to = dir.path().join("to");
        for path in ["way/dep", "way"] {
            let found = bring(&dir.path().join("repo"), Path::new(path), &to, MOST, &|_| false);
            assert!(found.is_err() || to.is_symlink(), "{path}: {found:?}");
        }
    }

    #[test]
    fn too_much_is_refused_and_what_is_closed_can_be_removed() {
        let dir = made();
        let most = Most { bytes: 1 << 20, files: 1 };
        let (root, path) = (dir.path().join("repo"), Path::new("node_modules"));
        let to = dir.path().join("to");
        let refused = bring(&root, path, &to, most, &|_| false);
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
