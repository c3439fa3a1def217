//! Confines paths to one folder. Every path is resolved by the kernel from a descriptor of that folder (`openat2` with
//! `RESOLVE_BENEATH`), so no link can be planted between check and use; on kernels without `openat2`, each name is
//! opened from its parent and no link is followed. Reads may follow links that stay inside; writes follow none, because
//! scopes are defined by paths.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use types::WorkPath;

use crate::EnvError;

/// How links along a path are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Followed, as long as they stay inside.
    Follow,
    Refuse,
}

/// How missing folders along a path are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

/// A folder that no path can leave.
#[derive(Debug)]
pub(crate) struct Jail {
    root: OwnedFd,
}

/// Maximum number of lookups: the kernel aborts one when something elsewhere in the tree is renamed.
#[cfg(target_os = "linux")]
const LOOKUPS: u32 = 64;

/// Flags to inspect an entry without reading it, as far as the system supports that.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = FILE;

pub(crate) const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Flags to read a file. `NONBLOCK` keeps a pipe in its place from blocking the call before its type is known.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Jail {
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: rustix::fs::open(root, FOLDER, Mode::empty())? })
    }

    /// Another handle on the same folder.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self { root: self.root.try_clone()? })
    }

    /// Opens a regular file for reading.
    pub(crate) fn file(&self, path: &WorkPath, links: Links) -> Result<File, EnvError> {
        let failed = |errno| refused(errno, "opening", path);
        let fd = self.resolve(path, FILE, links).map_err(failed)?;
        let stat = rustix::fs::fstat(&fd).map_err(failed)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(File::from(fd)),
            FileType::Directory => Err(EnvError::IsFolder { path: path.clone() }),
            _ => Err(EnvError::NotRegular { path: path.clone() }),
        }
    }

    pub(crate) fn folder(&self, path: &WorkPath, links: Links) -> Result<OwnedFd, EnvError> {
        self.resolve(path, FOLDER, links).map_err(|errno| refused(errno, "opening", path))
    }

    /// Opens the parent folder of a path without following any link; returns it with the last name of the path.
    pub(crate) fn parent<'a>(&self, path: &'a WorkPath) -> Result<(OwnedFd, &'a str), EnvError> {
        let (above, name) = split(path)?;
        Ok((self.folder(&above, Links::Refuse).map_err(|error| error.about(path))?, name))
    }

    /// Like [`Self::parent`], but creates missing folders.
    pub(crate) fn make_parent<'a>(
        &self,
        path: &'a WorkPath,
    ) -> Result<(OwnedFd, &'a str), EnvError> {
        let (above, name) = split(path)?;
        let failed = |errno| refused(errno, "making the folders of", path);
        let above = above.components().map(OsStr::new);
        Ok((self.enter(above, Missing::Make).map_err(failed)?, name))
    }

    /// Opens a folder name by name, each from the one before it, without following any link.
    pub(crate) fn enter<'n>(
        &self,
        names: impl Iterator<Item = &'n OsStr>,
        missing: Missing,
    ) -> Result<OwnedFd, Errno> {
        let mut folder = rustix::fs::openat(&self.root, ".", FOLDER, Mode::empty())?;
        for name in names {
            if missing == Missing::Make {
                match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
            }
            folder = open_folder(&folder, name).map_err(|errno| link_in(&folder, name, errno))?;
        }
        Ok(folder)
    }

    /// Descriptor of the folder itself.
    pub(crate) fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// Type of the file at a path, following links that stay inside; `None` if nothing is there.
    pub(crate) fn kind(&self, path: &WorkPath) -> Result<Option<FileType>, EnvError> {
        match self.resolve(path, LOOK, Links::Follow) {
            Ok(fd) => {
                let stat =
                    rustix::fs::fstat(&fd).map_err(|errno| refused(errno, "looking at", path))?;
                Ok(Some(FileType::from_raw_mode(stat.st_mode)))
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(refused(errno, "looking at", path)),
        }
    }

    /// Resolves the links of a path. Returns a path in the workspace whose folder is `root`.
    pub(crate) fn real(&self, path: &WorkPath, root: &Path) -> Result<WorkPath, EnvError> {
        let failed = |errno| refused(errno, "looking at", path);
        let fd = self.resolve(path, LOOK, Links::Follow).map_err(failed)?;
        Self::place(&fd, path, root)
    }

    /// Location of an open file, as a path in the workspace whose folder is `root`.
    pub(crate) fn place(
        fd: &impl AsRawFd,
        path: &WorkPath,
        root: &Path,
    ) -> Result<WorkPath, EnvError> {
        if cfg!(not(target_os = "linux")) {
            // No link was followed, so it is at the requested path.
            return Ok(path.clone());
        }
        let place = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))
            .map_err(|source| EnvError::Io { doing: "looking at", path: path.clone(), source })?;
        let inside = place.strip_prefix(root).ok().and_then(|place| place.to_str());
        match inside {
            Some("") => Ok(WorkPath::root()),
            Some(inside) => inside.parse().map_err(|_| EnvError::Escapes { path: path.clone() }),
            None => Err(EnvError::Escapes { path: path.clone() }),
        }
    }

    /// The text of a file, if it exists and has at most `limit` bytes.
    pub(crate) fn small_text(&self, path: &WorkPath, limit: u64) -> Option<String> {
        let mut text = String::new();
        self.file(path, Links::Refuse).ok()?.take(limit + 1).read_to_string(&mut text).ok()?;
        (text.len() as u64 <= limit).then_some(text)
    }

    #[cfg(target_os = "linux")]
    fn resolve(&self, path: &WorkPath, flags: OFlags, links: Links) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let how = match links {
            Links::Follow => how,
            Links::Refuse => how | ResolveFlags::NO_SYMLINKS,
        };
        let mut last = Errno::AGAIN;
        for _ in 0..LOOKUPS {
            match rustix::fs::openat2(&self.root, path.as_str(), flags, Mode::empty(), how) {
                Err(errno @ (Errno::AGAIN | Errno::INTR)) => last = errno,
                Err(Errno::NOSYS | Errno::PERM) => return self.walk(path, flags),
                answer => return answer,
            }
        }
        Err(last)
    }

    #[cfg(not(target_os = "linux"))]
    fn resolve(&self, path: &WorkPath, flags: OFlags, _links: Links) -> Result<OwnedFd, Errno> {
        self.walk(path, flags)
    }

    /// Fallback for kernels without `openat2`: resolves name by name, following no link at all.
    fn walk(&self, path: &WorkPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let Ok((above, name)) = split(path) else {
            return rustix::fs::openat(&self.root, ".", flags, Mode::empty());
        };
        let folder = self.enter(above.components().map(OsStr::new), Missing::Refuse)?;
        rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
    }
}

/// Opens a folder from its parent. A link is not followed.
pub(crate) fn open_folder(above: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

/// Opens a file for reading from its folder. A link is not followed; the type is not checked.
pub(crate) fn open_file(folder: impl AsFd, name: impl Arg) -> Result<File, Errno> {
    rustix::fs::openat(folder, name, FILE | OFlags::NOFOLLOW, Mode::empty()).map(File::from)
}

/// Names of the entries of a folder.
pub(crate) fn names_in(folder: impl AsFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Type of an entry of a folder. A link is not followed.
pub(crate) fn kind_in(folder: impl AsFd, name: impl Arg) -> Result<FileType, Errno> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

/// Reads an open file whole, if it has at most `max` bytes.
pub(crate) fn whole(file: File, path: &WorkPath, max: u64) -> Result<Vec<u8>, EnvError> {
    let failed = |source| EnvError::Io { doing: "reading", path: path.clone(), source };
    let bytes = file.metadata().map_err(failed)?.len();
    let too_large = |bytes| Err(EnvError::TooLarge { path: path.clone(), bytes, max });
    if bytes > max {
        return too_large(bytes);
    }
    let mut content = Vec::new();
    // The file may grow while it is read; the limit applies nevertheless.
    let read = file.take(max + 1).read_to_end(&mut content).map_err(failed)? as u64;
    if read > max { too_large(read) } else { Ok(content) }
}

/// Whether a path names git's own files: `.git` at any depth, in any spelling that some file system equates with it.
pub(crate) fn is_protected(path: &WorkPath) -> bool {
    path.components().any(is_git)
}

/// The same for one name, which need not be UTF-8.
pub(crate) fn is_protected_name(name: &[u8]) -> bool {
    // Fast path for most names: no file system equates a plain name with one of git's.
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let first = name.first();
    if first != Some(&b'.') && name.iter().all(plain) {
        return false;
    }
    is_git(&String::from_utf8_lossy(name))
}

fn is_git(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|c| !is_ignorable(*c))
        .flat_map(char::to_lowercase)
        .take_while(|c| *c != ':')
        .collect();
    matches!(plain.trim_end_matches(['.', ' ']), ".git" | "git~1")
}

/// Code points that some file systems ignore when they compare names.
const fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

/// Splits a path into its parent and its last name.
fn split(path: &WorkPath) -> Result<(WorkPath, &str), EnvError> {
    if path.is_root() {
        return Err(EnvError::IsFolder { path: path.clone() });
    }
    match path.as_str().rsplit_once('/') {
        None => Ok((WorkPath::root(), path.as_str())),
        Some((above, name)) => {
            let above = above.parse().map_err(|_| EnvError::Escapes { path: path.clone() })?;
            Ok((above, name))
        }
    }
}

/// Opening a link as a folder fails with "not a folder" or "loop"; returns "loop" if it was a link.
fn link_in(folder: impl AsFd, name: &OsStr, errno: Errno) -> Errno {
    if kind_in(folder, name) == Ok(FileType::Symlink) { Errno::LOOP } else { errno }
}

/// Converts an error of the kernel into one for a path.
pub(crate) fn refused(errno: Errno, doing: &'static str, path: &WorkPath) -> EnvError {
    let path = path.clone();
    match errno {
        Errno::NOENT => EnvError::NotFound { path },
        Errno::XDEV => EnvError::Escapes { path },
        Errno::LOOP => EnvError::ThroughLink { path },
        Errno::NOTDIR => EnvError::NotAFolder { path },
        Errno::ISDIR => EnvError::IsFolder { path },
        Errno::NXIO => EnvError::NotRegular { path },
        errno => EnvError::Io { doing, path, source: errno.into() },
    }
}

impl EnvError {
    /// The same error, for the requested path instead of a folder along it.
    fn about(self, asked: &WorkPath) -> Self {
        match self {
            Self::ThroughLink { .. } => Self::ThroughLink { path: asked.clone() },
            Self::Escapes { .. } => Self::Escapes { path: asked.clone() },
            Self::NotFound { .. } => Self::NotFound { path: asked.clone() },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(text: &str) -> WorkPath {
        text.parse().expect("a path")
    }

    #[test]
    fn git_is_recognised_in_every_spelling() {
        for name in [
            ".git",
            ".git/config",
            "sub/.git/hooks/x",
            ".GIT",
            ".Git/config",
            ".g\u{200c}it/config",
            ".git./config",
            ".git /config",
            "git~1/config",
            ".git::$INDEX_ALLOCATION/config",
        ] {
            assert!(is_protected(&path(name)), "{name:?} was not recognised");
        }
        for name in [".gitignore", ".github/workflows/x.yml", "git", "a.git", "src/git.rs"] {
            assert!(!is_protected(&path(name)), "{name:?} was taken for git's own");
        }
    }

    #[test]
    fn the_walk_without_openat2_follows_no_link_and_finds_what_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        std::fs::write(dir.path().join("a/b/c"), "x").expect("a file");
        symlink("b", dir.path().join("a/link")).expect("a link");
        symlink("/etc/passwd", dir.path().join("out")).expect("a link");
        let jail = Jail::open(dir.path()).expect("a jail");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        assert!(jail.walk(&path("a/b/c"), flags).is_ok());
        assert!(jail.walk(&WorkPath::root(), FOLDER).is_ok());
        assert_eq!(jail.walk(&path("a/link/c"), flags).err(), Some(Errno::LOOP));
        assert_eq!(jail.walk(&path("out"), flags).err(), Some(Errno::LOOP));
    }
}
