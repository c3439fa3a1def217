//! The user's branch is fast-forwarded by one git command, which changes files, index and branch one after another. The
//! move is recorded first, so that the next call can finish one that a crash interrupted. Merges that are not
//! fast-forwards are not recorded: an interrupted one is left to the user.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use types::CommitId;

use super::call::With;
use super::error::{failed, gone};
use super::lock::unlocked;
use super::{GitError, Repo, hash};
use crate::content::{self, MAX_LINE};
use crate::durable::sync;

/// File in the repository's own folder with the old and the new commit.
const NOTE: &str = "bosun-accept";

/// A lock that is younger than the record of a move by this much is not of that move: the user may be at work.
const LONGEST_MOVE: Duration = Duration::from_secs(60);

/// Lock files of a fast-forward besides the branch's.
const LOCKS: [&str; 5] =
    ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "AUTO_MERGE.lock", "packed-refs.lock"];

impl Repo {
    /// Records that the checked-out branch is about to be moved forward.
    pub(super) fn note_move(&self, from: &CommitId, to: &CommitId) -> Result<(), GitError> {
        let path = self.common_dir().join(NOTE);
        let written = File::create(&path).and_then(|mut file| {
            writeln!(file, "{} {}", from.0, to.0)?;
            file.sync_all()?;
            sync(self.common_dir())
        });
        written.map_err(failed("writing", &path))
    }

    /// Removes the record: the move is done, or did not begin.
    pub(super) fn forget_move(&self) -> Result<(), GitError> {
        let path = self.common_dir().join(NOTE);
        gone(std::fs::remove_file(&path)).map_err(failed("removing", &path))
    }

    /// Finishes an interrupted move, if its leftovers are the only difference from the commit before it.
    pub(super) async fn finish_move(&self) -> Result<(), GitError> {
        let Some((from, to)) = self.noted_move() else { return self.forget_move() };
        let head = self.head().await?;
        if head == from || head == to {
            self.await_locks().await?;
            if self.is_half_way(&from, &to).await? {
                self.complete(&from, &to).await?;
            }
        }
        self.forget_move()
    }

    /// Brings the files of a move, and nothing else, to their state after it, and the branch with them.
    async fn complete(&self, from: &CommitId, to: &CommitId) -> Result<(), GitError> {
        // Git rewrites every file whose times differ from the index. A crash in the middle of that would lose files
        // unrelated to the move. The exit code only tells that files differ, which is known.
        self.git().try_run(self.here(), &["update-index", "-q", "--refresh"]).await?;
        let source = format!("--source={}", hash(to)?);
        let listed = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        let restore = ["restore", "--quiet", &source, "--staged", "--worktree"];
        let remove = ["rm", "--quiet", "--force", "--ignore-unmatch"];
        for (ways, command) in [("d", &restore[..]), ("D", &remove[..])] {
            let paths = self.moved(from, to, ways).await?.stdout;
            if !paths.is_empty() {
                let with = With { stdin: &paths, ..With::default() };
                self.git().run_with(self.here(), &[command, &listed].concat(), with).await?;
            }
        }
        self.git().run(self.here(), &["reset", "--soft", "--quiet", hash(to)?]).await?;
        Ok(())
    }

    fn noted_move(&self) -> Option<(CommitId, CommitId)> {
        let text = content::followed(&self.common_dir().join(NOTE), MAX_LINE).ok()?;
        let text = String::from_utf8(text).ok()?;
        let (from, to) = text.strip_suffix('\n')?.split_once(' ')?;
        let (from, to) = (CommitId(from.to_owned()), CommitId(to.to_owned()));
        (hash(&from).is_ok() && hash(&to).is_ok()).then_some((from, to))
    }

    /// Waits for git commands that are still running, and removes the locks of those that were killed with the move.
    async fn await_locks(&self) -> Result<(), GitError> {
        let noted = changed(&self.common_dir().join(NOTE));
        let branch = self.checked_out().await?.unwrap_or_default();
        let branch = format!("refs/heads/{branch}.lock");
        for name in LOCKS.into_iter().chain([branch.as_str()]) {
            let args = ["rev-parse", "--path-format=absolute", "--git-path", name];
            let path = PathBuf::from(self.git().run(self.here(), &args).await?.line()?);
            let age =
                noted.zip(changed(&path)).and_then(|(noted, lock)| lock.duration_since(noted).ok());
            if age.is_none_or(|age| age < LONGEST_MOVE) {
                unlocked(&path).await?;
            }
        }
        Ok(())
    }

    /// Whether any file of the move differs, and each that does is as before, as after, or partially written. All other
    /// differences were there before the move.
    pub(super) async fn is_half_way(
        &self,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<bool, GitError> {
        let answer = self.moved(from, to, "ACDMRTUXB").await?;
        let moved: BTreeSet<&[u8]> = answer.names().collect();
        let status = self.differences("--untracked-files=all").await?;
        let mut any = false;
        let paths = status.names().map(|line| line.get(3..).unwrap_or_default());
        for path in paths.filter(|path| moved.contains(path)) {
            any = true;
            if !self.is_from_move(from, to, path).await? {
                return Ok(false);
            }
        }
        Ok(any)
    }

    async fn is_from_move(
        &self,
        from: &CommitId,
        to: &CommitId,
        path: &[u8],
    ) -> Result<bool, GitError> {
        let file = self.root().join(OsStr::from_bytes(path));
        let now = match file.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Ok(what) if what.is_file() => std::fs::read(&file),
            Ok(what) if what.is_symlink() => {
                std::fs::read_link(&file).map(|to| to.into_os_string().into_vec())
            }
            Ok(_) => return Ok(false),
            Err(error) => Err(error),
        };
        let now = now.map_err(failed("reading", &file))?;
        Ok(self.blob_at(to, path).await?.is_some_and(|after| is_cut_off(&now, &after))
            || self.blob_at(from, path).await?.is_some_and(|before| before == now))
    }

    /// The bytes of a file in a commit, if it exists.
    pub(super) async fn blob_at(
        &self,
        commit: &CommitId,
        path: &[u8],
    ) -> Result<Option<Vec<u8>>, GitError> {
        let mut name = format!("{}:", hash(commit)?).into_bytes();
        name.extend_from_slice(path);
        let args = [OsStr::new("cat-file"), OsStr::new("blob"), OsStr::from_bytes(&name)];
        let answer = self.git().try_run(self.here(), &args).await?;
        Ok(answer.succeeded().then_some(answer.stdout))
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.symlink_metadata().and_then(|found| found.modified()).ok()
}

/// Whether a file is a prefix of its new content, with zeros where a power failure lost written data.
fn is_cut_off(now: &[u8], after: &[u8]) -> bool {
    now.len() <= after.len() && now.iter().zip(after).all(|(now, after)| now == after || *now == 0)
}
