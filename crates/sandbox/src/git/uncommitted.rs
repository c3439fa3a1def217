//! Uncommitted changes in the user's working tree: which files have some, whether a result would overwrite any of them,
//! and a commit that contains them. The tree itself, its index and its branches stay as they are.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use types::{CommitId, Sensitive, Timestamp};

use super::call::{Answer, GitDir, With};
use super::error::{failed, gone};
use super::tree::name;
use super::{GitError, Repo, hash};
use crate::names::escaped;

/// Number of status lines that are inspected; all further ones count as the user's work.
const MOST_LOOKS: u32 = 2_000;
/// Maximum size read of a file that this program may have written.
const MAX_OWN_BYTES: u64 = 1024 * 1024;
/// Maximum number of files named in an error.
const MOST_NAMED: usize = 5;

/// Whether a line of git's status is an untracked log or plan that a run left in `runs/`, which is no user's work.
fn is_record(line: &[u8]) -> bool {
    let Some(name) = line.strip_prefix(b"?? runs/") else { return false };
    let plan = name.starts_with(b"plan_") && name.ends_with(b".json");
    !name.contains(&b'/') && (plan || name.ends_with(b".log.jsonl"))
}

impl Repo {
    /// The files with uncommitted changes; of folders in which nothing is tracked, only the folder.
    pub async fn uncommitted(&self) -> Result<Vec<String>, GitError> {
        let work = self.work("--untracked-files=normal").await?;
        Ok(work.iter().map(|path| shown(path)).collect())
    }

    /// Refuses to replace a commit by another where files that differ between them have uncommitted changes.
    pub(super) async fn refuse_overlap(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<(), GitError> {
        let answer = self.moved(from, to, "ACDMRTUXB").await?;
        let moved: BTreeSet<&[u8]> = answer.names().collect();
        let work = self.work("--untracked-files=all").await?;
        let overlaps = |path: &&Vec<u8>| moved.iter().any(|moved| is_in_the_way(moved, path));
        let both: Vec<&Vec<u8>> = work.iter().filter(overlaps).collect();
        if both.is_empty() {
            return Ok(());
        }
        let paths = both.iter().take(MOST_NAMED).map(|path| shown(path)).collect();
        Err(GitError::Dirty { paths, count: both.len() as u64 })
    }

    /// A commit on top of the one that is checked out, with the user's uncommitted changes and under the user's name,
    /// without files that hold keys or passwords; `None` if there are none. No branch refers to it. `scratch` is the path of a temporary index.
    pub async fn commit_uncommitted(
        &self,
        (message, at): (&str, Timestamp),
        scratch: &Path,
    ) -> Result<Option<CommitId>, GitError> {
        let head = self.head().await?;
        let mut work = self.work("--untracked-files=all").await?;
        // Repositories of their own are not part of this one.
        work.retain(|path| !path.ends_with(b"/") && !holds_secrets(path));
        if work.is_empty() {
            return Ok(None);
        }
        let place =
            GitDir::Worktree { dir: self.root(), git_dir: self.common_dir(), index: scratch };
        gone(std::fs::remove_file(scratch)).map_err(failed("removing", scratch))?;
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
        let index = PathBuf::from(self.git().run(self.here(), &args).await?.line()?);
        // The user's own index knows which files are left out of a sparse checkout.
        match std::fs::read(&index) {
            Ok(bytes) => {
                let written = File::create(scratch).and_then(|mut file| file.write_all(&bytes));
                written.map_err(failed("writing", scratch))?;
            }
            Err(_) => {
                self.git().run(place, &["read-tree", hash(&head)?]).await?;
            }
        }
        let orders = work.join(&0);
        let with = With { stdin: &orders, ..With::default() };
        let args = ["update-index", "--add", "--remove", "-z", "--stdin"];
        self.git().run_with(place, &args, with).await?;
        let tree = self.git().run(place, &["write-tree"]).await?.word()?;
        gone(std::fs::remove_file(scratch)).map_err(failed("removing", scratch))?;
        let person = self.person().await?;
        let with = With {
            stdin: message.as_bytes(),
            date: Some(at),
            person: person.as_ref(),
            ..With::default()
        };
        let args = ["commit-tree", &tree, "-p", hash(&head)?, "-F", "-"];
        let commit = CommitId(self.git().run_with(self.here(), &args, with).await?.word()?);
        self.sync_commit(&commit, &[&head]).await?;
        Ok(Some(commit))
    }

    /// The paths that differ between two commits, in the ways of git's `--diff-filter`.
    pub(super) async fn moved(
        &self,
        from: &CommitId,
        to: &CommitId,
        ways: &str,
    ) -> Result<Answer, GitError> {
        let filter = format!("--diff-filter={ways}");
        let args = ["diff", "--name-only", "-z", "--no-renames", &filter, hash(from)?, hash(to)?];
        self.git().run(self.here(), &args).await
    }

    /// The paths of git's status that are the user's work.
    async fn work(&self, untracked: &str) -> Result<Vec<Vec<u8>>, GitError> {
        // Only a limited number of files is inspected; all others count as the user's work.
        let looks = AtomicU32::new(1);
        let is_work = |line: &&[u8]| {
            looks.fetch_add(1, Ordering::Relaxed) >= MOST_LOOKS || !self.is_beside_the_work(line)
        };
        let mut answer = self.differences(untracked).await?;
        let is_folder = |line: &[u8]| line.starts_with(b"?? ") && line.ends_with(b"/");
        let only_folders = answer.names().filter(is_work).all(is_folder);
        let folders = answer.names().any(|line| is_folder(line) && only_folders);
        if folders || answer.names().any(|line| line == b"?? runs/") {
            // Nothing in these folders is tracked yet, so they have to be listed file by file.
            answer = self.differences("--untracked-files=all").await?;
        }
        let path = |line: &[u8]| line.get(3..).unwrap_or_default().to_vec();
        Ok(answer.names().filter(is_work).map(path).collect())
    }

    /// Whether a line of git's status is about a file that Bosun wrote, which is not the user's work.
    pub(super) fn is_beside_the_work(&self, line: &[u8]) -> bool {
        is_record(line) || self.is_own(line)
    }

    /// Whether a line of git's status is a file written by this program. Staged files are the user's.
    fn is_own(&self, line: &[u8]) -> bool {
        let path = line.strip_prefix(b"?? ").or_else(|| line.strip_prefix(b" M "));
        let Some(Ok(path)) = path.map(name) else { return false };
        let file = self.root().join(path.as_str());
        let small = file
            .symlink_metadata()
            .is_ok_and(|found| found.is_file() && found.len() <= MAX_OWN_BYTES);
        small && std::fs::read_to_string(file).is_ok_and(|text| (self.own)(&text))
    }

    /// Changes in the user's working tree, without files that the user ignores globally.
    pub(super) async fn differences(&self, untracked: &str) -> Result<Answer, GitError> {
        let excludes = self.git().user_excludes().await.map(|file| {
            let mut setting = OsString::from("core.excludesFile=");
            setting.push(file);
            setting
        });
        let with = With { settings: excludes.as_slice(), ..With::default() };
        let args = ["status", "--porcelain=v1", "-z", "--no-renames", untracked];
        self.git().run_with(self.here(), &args, with).await
    }
}

/// Whether a changed path and one with uncommitted changes cannot both be kept: the same file, or a file where the other
/// needs a folder.
fn is_in_the_way(moved: &[u8], work: &[u8]) -> bool {
    let work = work.strip_suffix(b"/").unwrap_or(work);
    let below = |outer: &[u8], inner: &[u8]| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    below(moved, work) || below(work, moved)
}

fn holds_secrets(path: &[u8]) -> bool {
    Sensitive::of_text(&String::from_utf8_lossy(path)).is_some_and(Sensitive::holds_secrets)
}

fn shown(path: &[u8]) -> String {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    name(path).map_or_else(|_| escaped(path), |path| path.to_string())
}
