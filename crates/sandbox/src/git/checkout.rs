//! Checkouts for checks: an ordinary clone of one commit, without any leftovers, and commits that mix the files of two
//! commits for a trial. The clone borrows its objects; its own git files are never trusted.

#![expect(
    clippy::disallowed_methods,
    reason = "a folder that no agent has seen yet, and git's own files"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use types::{CommitId, Timestamp, WorkPath};

use super::call::{GitDir, WORKERS, With};
use super::durable::UNSYNCED;
use super::error::{failed, gone};
use super::tree::{name, next_object, tree_line};
use super::{GitError, Repo, hash, pipes};

/// Maximum size of a file that is returned as text.
const MAX_TEXT: usize = 512 * 1024;
/// Maximum size of all files read by one call.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Change of one file in a mixed commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: WorkPath,
    pub to: EditTo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditTo {
    /// As in another commit; removed if it does not exist there.
    AsIn(CommitId),
    Text(String),
    Gone,
}

/// Entry of a tree for one path.
struct Entry {
    mode: String,
    object: String,
}

impl Repo {
    /// Makes a fresh clone of one commit. Previous content of the folder is removed.
    pub async fn checkout(&self, dir: &Path, commit: &CommitId) -> Result<(), GitError> {
        let commit = hash(commit)?;
        self.remove_checkout(dir)?;
        let git_dir = dir.join(".git");
        lay_out(&git_dir, &self.common_dir().join("objects"), commit)?;
        let index = git_dir.join("index");
        let place = GitDir::Worktree { dir, git_dir: &git_dir, index: &index };
        // The clone has default settings only, so no overrides are needed.
        let settings = [UNSYNCED.into(), WORKERS.into()];
        let with = With { muzzled: true, settings: &settings, ..With::default() };
        self.git().run_with(place, &["reset", "--hard", "--quiet"], with).await?;
        let ours = index_of(dir);
        std::fs::copy(&index, &ours).map_err(failed("copying", &index))?;
        Ok(())
    }

    /// Tracked files of a checkout that have changed since it was made.
    pub async fn rewritten(&self, dir: &Path) -> Result<Vec<WorkPath>, GitError> {
        pipes::clear(dir).map_err(failed("reading", dir))?;
        let index = index_of(dir);
        let place = GitDir::Worktree { dir, git_dir: self.common_dir(), index: &index };
        let differing = ["diff-files", "--name-only", "-z"];
        let mut answer = self.git().run(place, &differing).await?;
        if answer.names().next().is_some() {
            // After a refresh by content, files that were only touched do not differ any more.
            self.git().try_run(place, &["update-index", "-q", "--refresh"]).await?;
            answer = self.git().run(place, &differing).await?;
        }
        Ok(answer.names().filter_map(|path| name(path).ok()).collect())
    }

    /// Removes a checkout with everything in it.
    pub fn remove_checkout(&self, dir: &Path) -> Result<(), GitError> {
        // A command may have left folders that its owner cannot write to.
        crate::removal::remove(dir).map_err(failed("removing", dir))?;
        let index = index_of(dir);
        gone(std::fs::remove_file(&index)).map_err(failed("removing", &index))
    }

    /// Files of a commit, as far as they exist and are texts of ordinary size.
    pub async fn texts(
        &self,
        commit: &CommitId,
        paths: &[WorkPath],
    ) -> Result<Vec<(WorkPath, String)>, GitError> {
        let commit = hash(commit)?;
        // A name with a line break would be read as two.
        let paths: Vec<&WorkPath> =
            paths.iter().filter(|path| !path.as_str().contains('\n')).collect();
        let asked: String = paths.iter().map(|path| format!("{commit}:{path}\n")).collect();
        let with = With { stdin: asked.as_bytes(), ..With::default() };
        let sizes = ["cat-file", "--batch-check=%(objecttype) %(objectsize)"];
        let answer = self.git().run_with(self.here(), &sizes, with).await?;
        let sizes = String::from_utf8_lossy(&answer.stdout).into_owned();
        let size =
            |line: &str| line.strip_prefix("blob ").and_then(|size| size.parse::<usize>().ok());
        let (mut found, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
        for (path, size) in paths.into_iter().zip(sizes.lines().map(size)) {
            let Some(size) = size.filter(|size| *size <= MAX_TEXT) else { continue };
            if bytes + size > MOST_BYTES {
                found.extend(self.contents(commit, &std::mem::take(&mut batch)).await?);
                bytes = 0;
            }
            bytes += size;
            batch.push(path);
        }
        found.extend(self.contents(commit, &batch).await?);
        Ok(found)
    }

    /// The texts among these files of a commit, which exist.
    async fn contents(
        &self,
        commit: &str,
        paths: &[&WorkPath],
    ) -> Result<Vec<(WorkPath, String)>, GitError> {
        if paths.is_empty() {
            return Ok(vec![]);
        }
        let asked: String = paths.iter().map(|path| format!("{commit}:{path}\n")).collect();
        let with = With { stdin: asked.as_bytes(), ..With::default() };
        let answer = self.git().run_with(self.here(), &["cat-file", "--batch"], with).await?;
        Ok(contents(&answer.stdout, paths))
    }

    /// The paths of a commit that are valid workspace paths.
    pub async fn paths(&self, commit: &CommitId) -> Result<Vec<WorkPath>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", hash(commit)?];
        let answer = self.git().run(self.here(), &args).await?;
        Ok(answer.names().filter_map(|path| name(path).ok()).collect())
    }

    /// A commit with the files of one commit, some of them from another one or with other texts. Author, date, message
    /// and parents are those of `like`, so that nothing in its history says that it is none of a person or an agent. No
    /// branch refers to it. `scratch` is the path of a temporary index.
    pub async fn mixed(
        &self,
        commit: &CommitId,
        edits: &[Edit],
        like: &CommitId,
        scratch: &Path,
    ) -> Result<CommitId, GitError> {
        let tree = self.edited(commit, edits, scratch).await?;
        self.with_tree(like, &tree).await
    }

    /// A commit on top of another, with some files from elsewhere. No branch refers to it. `scratch` is the path of a
    /// temporary index.
    pub async fn on_top(
        &self,
        commit: &CommitId,
        edits: &[Edit],
        (message, at): (&str, Timestamp),
        scratch: &Path,
    ) -> Result<CommitId, GitError> {
        let tree = self.edited(commit, edits, scratch).await?;
        self.commit_of(&tree, &[commit], message, at).await
    }

    /// The tree of a commit with edits.
    async fn edited(
        &self,
        commit: &CommitId,
        edits: &[Edit],
        scratch: &Path,
    ) -> Result<String, GitError> {
        let place =
            GitDir::Worktree { dir: self.root(), git_dir: self.common_dir(), index: scratch };
        gone(std::fs::remove_file(scratch)).map_err(failed("removing", scratch))?;
        self.git().run(place, &["read-tree", hash(commit)?]).await?;
        let mut orders = Vec::new();
        for edit in edits {
            let entry = match &edit.to {
                EditTo::Gone => None,
                EditTo::AsIn(other) => self.entry(other, &edit.path).await?,
                EditTo::Text(text) => {
                    let object = self.write_text(text).await?;
                    let old = self.entry(commit, &edit.path).await?;
                    let mode = old.map_or_else(|| "100644".to_owned(), |old| old.mode);
                    Some(Entry { mode, object })
                }
            };
            let nothing = Entry { mode: "0".to_owned(), object: "0".repeat(commit.0.len()) };
            let Entry { mode, object } = entry.unwrap_or(nothing);
            orders.extend_from_slice(format!("{mode} {object}\t{}\0", edit.path).as_bytes());
        }
        let with = With { stdin: &orders, ..With::default() };
        self.git().run_with(place, &["update-index", "-z", "--index-info"], with).await?;
        let tree = self.git().run(place, &["write-tree"]).await?.word()?;
        gone(std::fs::remove_file(scratch)).map_err(failed("removing", scratch))?;
        Ok(tree)
    }

    /// The same commit with another tree.
    async fn with_tree(&self, commit: &CommitId, tree: &str) -> Result<CommitId, GitError> {
        let own = self.git().run(self.here(), &["cat-file", "commit", hash(commit)?]).await?.stdout;
        let rest = own.iter().position(|byte| *byte == b'\n').unwrap_or(own.len());
        let text = [b"tree ", tree.as_bytes(), &own[rest..]].concat();
        let with = With { stdin: &text, ..With::default() };
        let args = ["hash-object", "-t", "commit", "-w", "--stdin"];
        Ok(CommitId(self.git().run_with(self.here(), &args, with).await?.word()?))
    }

    async fn entry(&self, commit: &CommitId, path: &WorkPath) -> Result<Option<Entry>, GitError> {
        let args = ["ls-tree", "-z", "--full-tree", hash(commit)?, "--", path.as_str()];
        let answer = self.git().run(self.here(), &args).await?;
        let Some((mode, object, _)) = answer.names().next().and_then(tree_line) else {
            return Ok(None);
        };
        Ok(Some(Entry { mode: mode.to_owned(), object: object.to_owned() }))
    }

    async fn write_text(&self, text: &str) -> Result<String, GitError> {
        let with = With { stdin: text.as_bytes(), ..With::default() };
        self.git().run_with(self.here(), &["hash-object", "-w", "--stdin"], with).await?.word()
    }
}

/// Writes the few files of a repository, as `git init` would: a branch at the commit, borrowed objects. Done here
/// because a check waits for it, and starting a process takes longer than all of it.
fn lay_out(git_dir: &Path, objects: &Path, commit: &str) -> Result<(), GitError> {
    let info = git_dir.join("objects").join("info");
    let heads = git_dir.join("refs").join("heads");
    for folder in [&info, &heads] {
        std::fs::create_dir_all(folder).map_err(failed("making", folder))?;
    }
    let format = match commit.len() {
        64 => "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n[core]\n",
        _ => "\trepositoryformatversion = 0\n",
    };
    let config = format!("[core]\n{format}\tfilemode = true\n\tbare = false\n");
    let borrowed = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
    for (path, text) in [
        (git_dir.join("HEAD"), b"ref: refs/heads/main\n".to_vec()),
        (git_dir.join("config"), config.into_bytes()),
        (info.join("alternates"), borrowed),
        (heads.join("main"), format!("{commit}\n").into_bytes()),
    ] {
        std::fs::write(&path, text).map_err(failed("writing", &path))?;
    }
    Ok(())
}

/// The texts in the output of `cat-file --batch` for these paths.
fn contents(mut answer: &[u8], paths: &[&WorkPath]) -> Vec<(WorkPath, String)> {
    let mut found = Vec::new();
    for path in paths {
        let Some((bytes, rest)) = next_object(answer) else { break };
        answer = rest;
        if let (false, Ok(text)) = (bytes.contains(&0), std::str::from_utf8(bytes)) {
            found.push(((*path).clone(), text.to_owned()));
        }
    }
    found
}

/// Path of the index that records the initial state of a checkout, out of reach of commands that run in it.
pub(super) fn index_of(dir: &Path) -> PathBuf {
    let mut name: OsString = dir.as_os_str().to_owned();
    name.push(".index");
    PathBuf::from(name)
}
