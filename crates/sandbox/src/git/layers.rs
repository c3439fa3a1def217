//! A commit as a stack of folders: a checkout of one commit that no command ever writes to, and the difference of
//! another commit to it. `upper.rs` reads what a command left on top.

#![expect(
    clippy::disallowed_methods,
    reason = "a folder that no agent has seen yet, and git's own files"
)]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps};
use rustix::io::Errno;
use types::CommitId;

use super::call::{GitDir, With};
use super::durable::UNSYNCED;
use super::error::failed;
use super::tree::POINTER;
use super::{GitError, Repo, hash};
use crate::jail::{Jail, Missing};

/// The modification time of every file of a checkout: the beginning of the year 2000. What a build makes is newer, and
/// so are the files in which another commit differs.
const OLD: Timespec = Timespec { tv_sec: 946_684_800, tv_nsec: 0 };

/// How a commit was laid out beside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaidOut {
    /// As a layer above the checkout of the other commit; whether it hides a file of that one, so that what a build made
    /// of the file may be newer than what is there now.
    Above { hides: bool },
    /// As a whole checkout: the difference is in files that change how others are checked out.
    Whole,
}

/// A path in which two commits differ.
struct Changed {
    path: Vec<u8>,
    /// The mode in the first commit.
    before: String,
    mode: String,
    object: String,
}

impl Repo {
    /// Makes a fresh clone of a commit, like `checkout`, in which all files have the same old modification time.
    pub async fn checkout_layer(&self, dir: &Path, commit: &CommitId) -> Result<(), GitError> {
        self.checkout(dir, commit).await?;
        let top = dir.to_owned();
        let aged = tokio::task::spawn_blocking(move || age(&top, &BTreeSet::new())).await;
        let aged = aged.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        aged.map_err(failed("setting the times of", dir))
    }

    /// Gives the files of a new worktree the same old time, except for those in which its commit differs from `base`.
    pub async fn make_older(
        &self,
        dir: &Path,
        base: &CommitId,
        start: &CommitId,
    ) -> Result<(), GitError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
        let args = [&args[..], &[hash(base)?, hash(start)?]].concat();
        let answer = self.git().run(self.here(), &args).await?;
        let newer = answer.names().map(|name| dir.join(OsStr::from_bytes(name))).collect();
        let top = dir.to_owned();
        let aged = tokio::task::spawn_blocking(move || age(&top, &newer)).await;
        let aged = aged.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        aged.map_err(failed("setting the times of", dir))?;
        self.refresh(dir).await
    }

    /// Gives the files of a difference the same old time as all others. For checks that build from nothing: then no file
    /// tells by its time that it was changed.
    pub async fn make_layer_older(&self, dir: &Path) -> Result<(), GitError> {
        let top = dir.to_owned();
        let aged = tokio::task::spawn_blocking(move || age(&top, &BTreeSet::new())).await;
        let aged = aged.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        aged.map_err(failed("setting the times of", dir))
    }

    /// Whether a commit has every path of another one as a file with a time of its own, and checks it out alike.
    pub async fn only_adds(&self, base: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        let changed = self.changed(base, commit).await?;
        Ok(changed.is_some_and(|changed| !changed.iter().any(Changed::is_hidden)))
    }

    /// Whether two commits have the same files.
    pub async fn same_files(&self, one: &CommitId, other: &CommitId) -> Result<bool, GitError> {
        Ok(self.changed(one, other).await?.is_some_and(|changed| changed.is_empty()))
    }

    async fn changed(
        &self,
        base: &CommitId,
        commit: &CommitId,
    ) -> Result<Option<Vec<Changed>>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"];
        let args = [&args[..], &[hash(base)?, hash(commit)?]].concat();
        let answer = self.git().run(self.here(), &args).await?;
        Ok(changed(answer.names()))
    }

    /// Lays out the difference of a commit to another one, of which `below` is a checkout, in a new folder.
    pub async fn difference_layer(
        &self,
        dir: &Path,
        (below, base): (&Path, &CommitId),
        commit: &CommitId,
    ) -> Result<LaidOut, GitError> {
        let Some(changed) = self.changed(base, commit).await? else {
            self.checkout_layer(dir, commit).await?;
            return Ok(LaidOut::Whole);
        };
        let name = hash(commit)?;
        let (git_dir, heads) = (below.join(".git"), dir.join(".git/refs/heads"));
        std::fs::create_dir_all(&heads).map_err(failed("making", &heads))?;
        let (index, head) = (dir.join(".git/index"), heads.join("main"));
        std::fs::copy(git_dir.join("index"), &index).map_err(failed("copying", &index))?;
        std::fs::write(&head, format!("{name}\n")).map_err(failed("writing", &head))?;
        let place = GitDir::Worktree { dir, git_dir: &git_dir, index: &index };
        self.write_changed(place, &changed).await?;
        let gone: Vec<&[u8]> =
            changed.iter().filter(|one| one.is_gone()).map(|one| one.path.as_slice()).collect();
        if !gone.is_empty() {
            let args = ["ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", name];
            let folders = self.git().run(self.here(), &args).await?;
            let folders: BTreeSet<&[u8]> = folders.names().collect();
            hide(dir, &gone, &folders).map_err(failed("hiding files in", dir))?;
        }
        Ok(LaidOut::Above { hides: changed.iter().any(Changed::is_hidden) })
    }

    /// Writes the changed files, and all changes to the index.
    async fn write_changed(&self, at: GitDir<'_>, changed: &[Changed]) -> Result<(), GitError> {
        let settings = [UNSYNCED.into()];
        let (mut entries, mut files) = (Vec::new(), Vec::new());
        for one in changed {
            entries.extend_from_slice(format!("{} {}\t", one.mode, one.object).as_bytes());
            entries.extend_from_slice(&one.path);
            entries.push(0);
            if !one.is_gone() {
                files.extend_from_slice(&one.path);
                files.push(0);
            }
        }
        // The clone has default settings only, so no overrides are needed.
        let with = |stdin| With { stdin, muzzled: true, settings: &settings, ..With::default() };
        let args = ["update-index", "-z", "--index-info"];
        self.git().run_with(at, &args, with(&entries)).await?;
        let args = ["checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"];
        self.git().run_with(at, &args, with(&files)).await.map(|_| ())
    }
}

impl Changed {
    fn is_gone(&self) -> bool {
        self.mode == "000000"
    }

    /// Whether a file is gone, or was replaced by a link: the file behind a link may be older than what a build made of
    /// the one before.
    fn is_hidden(&self) -> bool {
        let is_link = |mode: &str| mode.starts_with("12");
        self.is_gone() || is_link(&self.mode) || is_link(&self.before)
    }
}

/// The changes in the output of `diff-tree --raw -z`; `None` if one of them is to a submodule or to attributes, which
/// change how other paths are checked out.
fn changed<'a>(mut pieces: impl Iterator<Item = &'a [u8]>) -> Option<Vec<Changed>> {
    let mut all = Vec::new();
    while let (Some(facts), Some(path)) = (pieces.next(), pieces.next()) {
        let facts = String::from_utf8_lossy(facts);
        let mut facts = facts.trim_start_matches(':').split(' ');
        let (before, mode, _, object) =
            (facts.next()?, facts.next()?, facts.next()?, facts.next()?);
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        if [before, mode].contains(&POINTER) || name.eq_ignore_ascii_case(b".gitattributes") {
            return None;
        }
        let (before, mode, object) = (before.to_owned(), mode.to_owned(), object.to_owned());
        all.push(Changed { path: path.to_vec(), before, mode, object });
    }
    Some(all)
}

/// Hides paths of lower layers; a folder that is empty without them is hidden itself. `folders` are those of the commit.
fn hide(dir: &Path, gone: &[&[u8]], folders: &BTreeSet<&[u8]>) -> std::io::Result<()> {
    let jail = Jail::open(dir)?;
    for path in gone {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        let outermost = ends.map(|end| &path[..end]).find(|above| !folders.contains(above));
        let whole = outermost.unwrap_or(path);
        let mut names: Vec<&OsStr> =
            whole.split(|byte| *byte == b'/').map(OsStr::from_bytes).collect();
        let Some(last) = names.pop() else { continue };
        let folder = jail.enter(names.into_iter(), Missing::Make)?;
        match rustix::fs::mknodat(&folder, last, FileType::CharacterDevice, Mode::empty(), 0) {
            // Hidden already, or replaced by a file.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Sets the modification time of the files in a checkout, except for git's own and these. Nobody else writes to it.
fn age(top: &Path, except: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    let times = Timestamps { last_access: OLD, last_modification: OLD };
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if except.contains(&path) {
                continue;
            }
            if !entry.file_type()?.is_dir() {
                rustix::fs::utimensat(CWD, &path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            } else if folder != top || entry.file_name() != ".git" {
                open.push(path);
            }
        }
    }
    Ok(())
}
