//! What a command left on top of a stack of layers: the tracked files that it changed, and the ignored files that its
//! build made. No process writes there any more; no link is followed.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use types::WorkPath;

use super::call::{GitDir, With};
use super::error::failed;
use super::tree::name;
use super::{GitError, Repo};
use crate::bring::Most;
use crate::removal::open_for_owner;

/// The attribute of a folder that hides everything below it in lower layers.
const OPAQUE: &str = "user.overlay.opaque";
/// Bytes compared at a time.
const BLOCK: usize = 64 * 1024;
/// Folders of what is quicker made anew than kept: compiled Python, and what pytest remembers of its last run.
const TRIFLES: [&str; 2] = ["__pycache__", ".pytest_cache"];

/// What lower layers have at a path.
enum Below {
    Nothing,
    File(PathBuf),
    /// The folders that are merged there.
    Folder(Vec<PathBuf>),
}

/// The entries of a build's output.
#[derive(Debug, Default)]
struct Output {
    /// Everything but folders, and folders without entries, as paths below the top.
    entries: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    /// Pipes, sockets and devices.
    odd: HashSet<PathBuf>,
    bytes: u64,
}

impl Repo {
    /// The files of lower layers that a command has changed or removed. `lower` are checkouts and their differences.
    pub async fn rewritten_above(
        &self,
        upper: &Path,
        lower: &[PathBuf],
    ) -> Result<Vec<WorkPath>, GitError> {
        let (top, lower) = (upper.to_owned(), lower.to_vec());
        let found = tokio::task::spawn_blocking(move || {
            let mut found = Vec::new();
            compare(&top, &lower, Path::new(""), &mut found).map(|()| found)
        });
        let found = found.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let found = found.map_err(failed("reading", upper))?;
        let mut paths: Vec<WorkPath> =
            found.iter().filter_map(|path| name(path.as_os_str().as_bytes()).ok()).collect();
        paths.sort();
        Ok(paths)
    }

    /// Removes everything from an upper folder that git does not ignore, what is in `without`, and trifles. `below` is the
    /// checkout under it. Returns whether something is left, and not too much of it.
    pub async fn keep_ignored(
        &self,
        upper: &Path,
        below: &Path,
        without: &[WorkPath],
        most: Most,
    ) -> Result<bool, GitError> {
        let top = upper.to_owned();
        let found = tokio::task::spawn_blocking(move || Output::find(&top, most)).await;
        let found = found.unwrap_or_else(|error| Err(io::Error::other(error)));
        let found = found.map_err(failed("reading", upper))?;
        let ignored = self.ignored_of(below, &found.entries).await?;
        let trifling = |path: &Path| path.iter().any(|name| TRIFLES.iter().any(|one| name == *one));
        let dropped = |path: &Path| {
            trifling(path) || without.iter().any(|one| path.starts_with(one.as_str()))
        };
        let (top, below) = (upper.to_owned(), below.to_owned());
        let kept: Vec<bool> = found
            .entries
            .iter()
            .map(|path| ignored.contains(path) && !found.odd.contains(path) && !dropped(path))
            .collect();
        let done = tokio::task::spawn_blocking(move || found.reduce(&top, &below, &kept)).await;
        let done = done.unwrap_or_else(|error| Err(io::Error::other(error)));
        done.map_err(failed("clearing", upper))
    }

    /// The paths that git ignores in a checkout, whether they exist there or not.
    async fn ignored_of(
        &self,
        below: &Path,
        paths: &[PathBuf],
    ) -> Result<HashSet<PathBuf>, GitError> {
        let git_dir = below.join(".git");
        let index = git_dir.join("index");
        let place = GitDir::Worktree { dir: below, git_dir: &git_dir, index: &index };
        // A name that begins with a colon would mean something else.
        let whole = |path: &PathBuf| [b"./", path.as_os_str().as_bytes(), b"\0"].concat();
        let asked: Vec<u8> = paths.iter().flat_map(whole).collect();
        let with = With { stdin: &asked, muzzled: true, ..With::default() };
        let args = ["check-ignore", "-z", "--stdin"];
        let answer = self.git().try_run_with(place, &args, with).await?;
        // A path that git cannot judge makes it give up; then none counts.
        let names = answer.names().filter(|_| answer.succeeded());
        let paths = names.map(|path| path.strip_prefix(b"./").unwrap_or(path));
        Ok(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
    }
}

/// The entries of a folder that a command has left, perhaps closed; its owner may do everything with it from now on.
fn entries(folder: &Path) -> io::Result<fs::ReadDir> {
    drop(open_for_owner(CWD, folder.as_os_str())?);
    fs::read_dir(folder)
}

/// Whether an entry marks that something below it is gone.
fn is_whiteout(found: &fs::Metadata) -> bool {
    found.file_type().is_char_device() && found.rdev() == 0
}

fn look(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn below(lower: &[PathBuf], name: &OsStr) -> io::Result<Below> {
    let mut folders = Vec::new();
    for layer in lower {
        let path = layer.join(name);
        match look(&path)? {
            None => continue,
            Some(found) if found.is_dir() => folders.push(path),
            Some(found) if !folders.is_empty() || is_whiteout(&found) => break,
            Some(_) => return Ok(Below::File(path)),
        }
    }
    Ok(if folders.is_empty() { Below::Nothing } else { Below::Folder(folders) })
}

fn compare(upper: &Path, lower: &[PathBuf], at: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in entries(upper)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if at.as_os_str().is_empty() && name == ".git" {
            continue;
        }
        let (at, kind) = (at.join(&name), entry.metadata()?);
        match below(lower, &name)? {
            Below::Nothing => {}
            Below::File(old) => {
                if is_whiteout(&kind) || !same(&path, &kind, &old)? {
                    found.push(at);
                }
            }
            Below::Folder(folders) if kind.is_dir() => {
                if is_opaque(&path) {
                    missing(&folders, Some(&path), &at, found)?;
                }
                compare(&path, &folders, &at, found)?;
            }
            Below::Folder(folders) => missing(&folders, None, &at, found)?,
        }
    }
    Ok(())
}

/// The files of lower layers that are not in the upper folder.
fn missing(
    lower: &[PathBuf],
    upper: Option<&Path>,
    at: &Path,
    found: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let mut names = Vec::new();
    for layer in lower {
        for entry in fs::read_dir(layer)? {
            names.push(entry?.file_name());
        }
    }
    names.sort();
    names.dedup();
    for name in names {
        let above = upper.map(|upper| upper.join(&name));
        let there = above.as_deref().map_or(Ok(None), look)?;
        match below(lower, &name)? {
            Below::File(_) if there.is_none() => found.push(at.join(&name)),
            Below::Folder(folders) => match there {
                // A folder in both is compared by the caller.
                Some(kind) if kind.is_dir() => {
                    missing(&folders, above.as_deref(), &at.join(&name), found)?;
                }
                Some(_) => {}
                None => missing(&folders, None, &at.join(&name), found)?,
            },
            Below::File(_) | Below::Nothing => {}
        }
    }
    Ok(())
}

fn is_opaque(folder: &Path) -> bool {
    let mut value = [0_u8; 1];
    rustix::fs::lgetxattr(folder, OPAQUE, value.as_mut_slice()).is_ok() && value == *b"y"
}

/// Whether two files are the same to git: type, content, and whether they can be executed.
fn same(new: &Path, kind: &fs::Metadata, old: &Path) -> io::Result<bool> {
    let before = fs::symlink_metadata(old)?;
    if kind.file_type() != before.file_type() {
        return Ok(false);
    }
    if kind.is_symlink() {
        return Ok(fs::read_link(new)? == fs::read_link(old)?);
    }
    let mode = |found: &fs::Metadata| found.permissions().mode() & 0o100;
    if !kind.is_file() || kind.len() != before.len() || mode(kind) != mode(&before) {
        return Ok(false);
    }
    // One that its owner may not read was changed at least in that.
    let Ok(mut new) = fs::File::open(new) else { return Ok(false) };
    let mut old = fs::File::open(old)?;
    let (mut left, mut right) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let read = new.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        if old.read_exact(&mut right[..read]).is_err() || left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

impl Output {
    fn find(top: &Path, most: Most) -> io::Result<Self> {
        let mut output = Self::default();
        let mut open = vec![PathBuf::new()];
        while let Some(at) = open.pop() {
            let mut empty = true;
            for entry in entries(&top.join(&at))? {
                let entry = entry?;
                let path = at.join(entry.file_name());
                if path == Path::new(".git") {
                    continue;
                }
                empty = false;
                let found = entry.metadata()?;
                if found.is_dir() {
                    open.push(path);
                    continue;
                }
                let usual = found.is_file() || found.is_symlink() || is_whiteout(&found);
                output.odd.extend((!usual).then(|| path.clone()));
                output.bytes = output.bytes.saturating_add(found.len());
                output.entries.push(path);
                if output.bytes > most.bytes || output.entries.len() as u64 > most.files {
                    return Ok(Self { bytes: u64::MAX, ..output });
                }
            }
            if empty && !at.as_os_str().is_empty() {
                // As if it had an entry, which git judges by the folder.
                output.entries.push(at.join("x"));
            }
            output.folders.push(at);
        }
        Ok(output)
    }

    /// Removes all entries but those to keep; returns whether any is left.
    fn reduce(self, top: &Path, below: &Path, kept: &[bool]) -> io::Result<bool> {
        if self.bytes == u64::MAX {
            return Ok(false);
        }
        let mut ignored = HashSet::new();
        for (path, kept) in self.entries.iter().zip(kept) {
            match look(&top.join(path))? {
                Some(_) if !kept => fs::remove_file(top.join(path))?,
                None if *kept => ignored.extend(path.parent()),
                Some(_) | None => {}
            }
        }
        // Those inside come after those around them.
        for folder in self.folders.iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
            let path = top.join(folder);
            let empty = fs::read_dir(&path)?.next().is_none();
            if empty && !ignored.contains(folder.as_path()) {
                fs::remove_dir(&path)?;
            } else if below.join(folder).is_dir() && is_opaque(&path) {
                rustix::fs::removexattr(&path, OPAQUE)?;
            }
        }
        Ok(kept.contains(&true))
    }
}
