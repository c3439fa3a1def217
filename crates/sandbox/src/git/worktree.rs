//! Worktrees: one folder per attempt, each with an index of Bosun's beside the one used by git commands in the folder.
//! An agent's changes to its folder's `.git` or to the flags of its index have no effect on what Bosun sees.

#![expect(
    clippy::disallowed_methods,
    reason = "git's own files outside of the tree, and the name of the tree itself"
)]

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use types::CommitId;

use super::call::{GitDir, WORKERS, With};
use super::durable::{on_disk, sync_checkout};
use super::error::{failed, gone};
use super::{GitError, Repo, hash, pipes};
use crate::content::{self, MAX_LINE};
use crate::jail::FOLDER;
use crate::names::escaped;
use crate::removal::remove_in;
use crate::staging::STAGING;

/// Maximum number of lines of a status.
const MAX_STATUS_LINES: usize = 100;
/// Maximum time that git takes to register a worktree.
const MAKING: Duration = Duration::from_secs(1);
/// The beginning of the name of a worktree while its files are removed.
const AWAY: &str = ".removed-";

/// A worktree and the location of its git files according to the repository.
#[derive(Debug)]
pub(super) struct Worktree {
    dir: PathBuf,
    git_dir: PathBuf,
    index: PathBuf,
    exclude: PathBuf,
}

impl Worktree {
    pub(super) fn place(&self) -> GitDir<'_> {
        GitDir::Worktree { dir: &self.dir, git_dir: &self.git_dir, index: &self.index }
    }

    /// Setting that keeps Bosun's staging files out of commits.
    pub(super) fn exclude_setting(&self) -> OsString {
        let mut setting = OsString::from("core.excludesFile=");
        setting.push(&self.exclude);
        setting
    }

    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    fn new(dir: PathBuf, git_dir: PathBuf) -> Self {
        let (index, exclude) = (git_dir.join("bosun-index"), git_dir.join("bosun-exclude"));
        Self { dir, git_dir, index, exclude }
    }

    /// Makes its commit and registration durable.
    pub(super) async fn sync(&self, common: &Path) -> Result<(), GitError> {
        let files = ["HEAD", "gitdir", "commondir"].map(|name| self.git_dir.join(name));
        on_disk(files.to_vec(), common).await
    }

    /// Restores git files that an agent or a crash may have changed.
    fn restore(&self) -> Result<(), GitError> {
        // No other process works in it, so a lock belongs to one that was killed.
        for name in ["bosun-index.lock", "HEAD.lock"] {
            let lock = self.git_dir.join(name);
            gone(std::fs::remove_file(&lock)).map_err(failed("removing", &lock))?;
        }
        let link = self.dir.join(".git");
        let wanted = [b"gitdir: ", self.git_dir.as_os_str().as_encoded_bytes(), b"\n"].concat();
        let folder = rustix::fs::open(&self.dir, FOLDER, Mode::empty());
        let folder = folder.map_err(|errno| failed("opening", &self.dir)(errno.into()))?;
        if content::read(&folder, ".git", MAX_LINE).is_ok_and(|(found, _)| found == wanted) {
            return Ok(());
        }
        remove_in(&folder, OsStr::new(".git")).map_err(failed("removing", &link))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&folder, ".git", flags, Mode::from_raw_mode(0o644));
        let made = made.map_err(std::io::Error::from).map(std::fs::File::from);
        made.and_then(|mut file| file.write_all(&wanted)).map_err(failed("writing", &link))
    }
}

impl Repo {
    /// Creates a worktree of a commit. An incomplete one that already exists is replaced.
    pub async fn add_worktree(&self, dir: &Path, start: &CommitId) -> Result<(), GitError> {
        let start = hash(start)?;
        let _alone = self.alone().await?;
        self.remove(dir)?;
        if let Some(above) = dir.parent() {
            std::fs::create_dir_all(above).map_err(failed("making", above))?;
        }
        let args = ["worktree", "add", "--force", "--detach", "--no-guess-remote"];
        let args: Vec<OsString> = args
            .into_iter()
            .map(OsString::from)
            .chain([OsString::from("--"), dir.as_os_str().to_owned(), start.into()])
            .collect();
        let settings = [WORKERS.into()];
        let with = With { settings: &settings, ..With::default() };
        self.git().run_with(self.here(), &args, with).await?;
        let worktree = self.find_worktree(dir)?;
        let index = worktree.git_dir.join("index");
        std::fs::copy(&index, &worktree.index).map_err(failed("copying", &index))?;
        std::fs::write(&worktree.exclude, format!("{STAGING}*\n"))
            .map_err(failed("writing", &worktree.exclude))?;
        sync_checkout(dir).await?;
        worktree.sync(&self.inner.common).await
    }

    /// Removes a worktree with everything in it. A missing one is fine. Its files may take minutes, so they are moved
    /// away first, and nobody else waits for them.
    pub async fn remove_worktree(&self, dir: &Path) -> Result<(), GitError> {
        let mut name = OsString::from(AWAY);
        name.push(dir.file_name().unwrap_or_default());
        let away = dir.with_file_name(name);
        let alone = self.alone().await?;
        // A folder that cannot be moved is removed where it is.
        let moved = std::fs::rename(dir, &away).is_ok();
        self.remove(dir)?;
        drop(alone);
        if !moved {
            return Ok(());
        }
        let files = away.clone();
        let removed = tokio::task::spawn_blocking(move || crate::removal::remove(&files)).await;
        let removed = removed.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        removed.map_err(failed("removing", &away))
    }

    /// Removes the registrations of worktrees below a folder that no longer exist; returns their number. Worktrees
    /// elsewhere are left alone.
    pub async fn forget_worktrees(&self, below: &Path) -> Result<u64, GitError> {
        let below = below.canonicalize().unwrap_or_else(|_| below.to_owned());
        let list = self.inner.common.join("worktrees");
        let left = |git_dir: &PathBuf| {
            let points_to = match content::followed(&git_dir.join("gitdir"), MAX_LINE) {
                Err(errno) if errno != Errno::NOENT => return false,
                read => read.unwrap_or_default(),
            };
            let link = Path::new(OsStr::from_bytes(points_to.trim_ascii_end()));
            let there = link.parent().is_some_and(Path::exists);
            // A registration interrupted while it was made or removed has no owner, and git refuses to work beside it.
            let read = |name| content::followed(&git_dir.join(name), MAX_LINE).unwrap_or_default();
            let broken = || ["commondir", "HEAD"].iter().any(|name| is_lost(&read(name)));
            // A user can repair their own worktree as long as the rest of it is intact.
            let ours =
                || ["bosun-index", "bosun-exclude"].iter().any(|name| git_dir.join(name).exists());
            points_to.trim_ascii().is_empty()
                || is_lost(&points_to) && (ours() || broken() || is_half_made(git_dir))
                || link.starts_with(&below) && (!there || broken())
        };
        let find = || -> Vec<PathBuf> {
            let entries = std::fs::read_dir(&list).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| left(path)).collect()
        };
        let found = find();
        let is_empty =
            |dir| std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none());
        // A removal interrupted after its last entry leaves the list itself.
        if found.is_empty() && !is_empty(&list) {
            return Ok(0);
        }
        if found.iter().any(|git_dir| may_be_under_way(git_dir)) {
            // There is no event to wait for: git does not report when it is done.
            tokio::time::sleep(MAKING).await;
        }
        // A worktree that Bosun is creating has no folder yet, but its creator holds this lock.
        let _alone = self.alone().await?;
        let found = find();
        for git_dir in &found {
            crate::removal::remove(git_dir).map_err(failed("removing", git_dir))?;
        }
        std::fs::remove_dir(&list).ok();
        Ok(found.len() as u64)
    }

    /// Makes the files of a worktree exactly those of a commit. Ignored files, such as build output, stay. The written
    /// files are durable afterwards.
    pub async fn reset(&self, dir: &Path, commit: &CommitId) -> Result<(), GitError> {
        let worktree = self.worktree(dir).await?;
        let (place, commit) = (worktree.place(), hash(commit)?);
        let differing = ["diff-index", "--name-only", "--no-renames", "-z", commit];
        let written = self.git().run(place, &differing).await?;
        self.git().run(place, &["reset", "--hard", "--quiet", commit]).await?;
        let untracked = ["ls-files", "--others", "--exclude-standard", "--directory", "-z"];
        let removed = self.git().run(place, &untracked).await?;
        self.git().run(place, &["clean", "-ffd", "--quiet"]).await?;
        // Commands in the folder use the ordinary index, which should have the same content.
        let index = worktree.git_dir.join("index");
        std::fs::copy(&worktree.index, &index).map_err(failed("copying", &worktree.index))?;
        let touched = written.names().chain(removed.names());
        let touched = touched.map(|name| worktree.dir.join(OsStr::from_bytes(name))).collect();
        on_disk(touched, &worktree.dir).await?;
        on_disk(vec![worktree.index.clone(), index], &worktree.git_dir).await?;
        worktree.sync(&self.inner.common).await
    }

    /// Notes the current times of a worktree's files, so that they need not be read again.
    pub(super) async fn refresh(&self, dir: &Path) -> Result<(), GitError> {
        let worktree = self.worktree(dir).await?;
        self.git().run(worktree.place(), &["update-index", "-q", "--refresh"]).await?;
        let index = worktree.git_dir.join("index");
        std::fs::copy(&worktree.index, &index).map_err(failed("copying", &worktree.index))?;
        Ok(())
    }

    /// Changes in a worktree since its last commit, one line per file, for users and models.
    pub async fn status(&self, dir: &Path) -> Result<String, GitError> {
        let worktree = self.worktree(dir).await?;
        let settings = [worktree.exclude_setting()];
        let with = With { settings: &settings, ..With::default() };
        let args = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"];
        let answer = self.git().run_with(worktree.place(), &args, with).await?;
        let mut lines: Vec<String> = answer.names().take(MAX_STATUS_LINES).map(shown).collect();
        let more = answer.names().count() - lines.len();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        Ok(lines.join("\n"))
    }

    /// An existing worktree, made safe to use.
    pub(super) async fn worktree(&self, dir: &Path) -> Result<Worktree, GitError> {
        let worktree = self.find_worktree(dir)?;
        worktree.restore()?;
        pipes::clear(&worktree.dir).map_err(failed("reading", &worktree.dir))?;
        if !worktree.index.exists() {
            self.git().run(worktree.place(), &["read-tree", "HEAD"]).await?;
        }
        Ok(worktree)
    }

    /// Looks up a worktree in the repository's own list, never in the worktree itself.
    pub(super) fn find_worktree(&self, dir: &Path) -> Result<Worktree, GitError> {
        let absent = || GitError::NoWorktree { dir: dir.display().to_string() };
        let dir = dir.canonicalize().map_err(|_| absent())?;
        let git_dir = self.registration(&dir).ok_or_else(absent)?;
        Ok(Worktree::new(dir, git_dir))
    }

    /// Folder in which the repository keeps the git files of a worktree.
    fn registration(&self, dir: &Path) -> Option<PathBuf> {
        let link = dir.join(".git");
        let list = self.inner.common.join("worktrees");
        std::fs::read_dir(&list).ok()?.flatten().map(|entry| entry.path()).find(|git_dir| {
            let points_to = content::followed(&git_dir.join("gitdir"), MAX_LINE);
            let points_to = points_to.unwrap_or_default();
            points_to.trim_ascii_end() == link.as_os_str().as_encoded_bytes()
        })
    }

    /// Removes a worktree and its registration. Git's own `prune` would also remove registrations of the user's whose
    /// folders are temporarily unavailable.
    fn remove(&self, dir: &Path) -> Result<(), GitError> {
        let name = dir.file_name().unwrap_or_default();
        let place = dir.parent().and_then(|above| above.canonicalize().ok());
        let known = place.and_then(|above| self.registration(&above.join(name)));
        let files = std::fs::symlink_metadata(dir);
        if files.is_ok_and(|files| files.is_dir()) {
            crate::removal::remove(dir).map_err(failed("removing", dir))?;
        } else {
            gone(std::fs::remove_file(dir)).map_err(failed("removing", dir))?;
        }
        if let Some(git_dir) = known {
            crate::removal::remove(&git_dir).map_err(failed("removing", &git_dir))?;
        }
        // The folder of registrations exists only while there is at least one.
        std::fs::remove_dir(self.inner.common.join("worktrees")).ok();
        Ok(())
    }
}

/// Whether the content of a line is lost: after a power failure, a file may be empty, or consist of zeros.
fn is_lost(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || line.contains(&0)
}

/// Whether git was interrupted while creating a worktree: there is no index yet, or the lock that git itself holds
/// meanwhile still exists, intact or as zeros. A user's lock has another reason, or none.
fn is_half_made(git_dir: &Path) -> bool {
    let locked = content::followed(&git_dir.join("locked"), MAX_LINE);
    let is_being_made =
        |reason: &Vec<u8>| reason.contains(&0) || reason.starts_with(b"initializing");
    !git_dir.join("index").exists() || locked.as_ref().is_ok_and(is_being_made)
}

/// Formats one line of `--porcelain -z`: two letters, a space, the name.
pub(super) fn shown(line: &[u8]) -> String {
    let (state, name) = line.split_at(line.len().min(3));
    let state = String::from_utf8_lossy(state);
    match super::tree::name(name.strip_suffix(b"/").unwrap_or(name)) {
        Ok(path) => format!("{state}{path}"),
        Err(_) => format!("{state}{}", escaped(name)),
    }
}

/// Whether a worktree may be in the middle of its registration: the entry is young and has no location yet.
fn may_be_under_way(git_dir: &Path) -> bool {
    if std::fs::metadata(git_dir.join("gitdir")).is_ok_and(|found| found.len() > 0) {
        return false;
    }
    let changed = std::fs::metadata(git_dir).and_then(|found| found.modified()).ok();
    changed.and_then(|at| at.elapsed().ok()).is_none_or(|age| age < MAKING)
}
