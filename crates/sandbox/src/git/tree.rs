//! Content of a commit, and changes between two. Names come from the repository, so they are handled as bytes, and only
//! valid workspace paths are accepted.

use std::collections::{BTreeMap, BTreeSet};

use types::{Artifact, ChangeKind, Changes, CommitId, FileChange, WorkPath};

use super::call::With;
use super::{GitError, Repo, hash};
use crate::names::escaped;

/// Maximum number of paths passed to one call.
const MOST_PATHS: usize = 500;
/// Mode of a symbolic link.
const LINK: &str = "120000";
/// Maximum length of a link's target; no kernel accepts a longer one.
const LONGEST_TARGET: usize = 4096;
/// Mode of an entry that points to a commit of another repository.
pub(super) const POINTER: &str = "160000";

impl Repo {
    /// The hash of a commit's tree; `None` if the repository does not have the commit.
    pub async fn find_tree(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let wanted = format!("{}^{{tree}}", hash(commit)?);
        let args = ["rev-parse", "--verify", "--quiet", wanted.as_str()];
        let answer = self.git().try_run(self.here(), &args).await?;
        answer.succeeded().then(|| answer.word()).transpose()
    }

    /// Changes between two commits, with lines added and removed; a renamed file counts as removed and added.
    pub async fn changes(&self, from: &CommitId, to: &CommitId) -> Result<Changes, GitError> {
        let (from, to) = (hash(from)?, hash(to)?);
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "--raw",
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            from,
            to,
            "--",
        ];
        let answer = self.git().run(self.here(), &args).await?;
        let mut kinds = BTreeMap::new();
        let mut changes = Vec::new();
        let mut lines = answer.names();
        while let Some(line) = lines.next() {
            if line.starts_with(b":") {
                kinds.insert(lines.next().unwrap_or_default(), kind(line));
            } else {
                changes.push(change(line, &kinds)?);
            }
        }
        Ok(Changes(changes))
    }

    /// The lines that differ between two commits in some files, in git's own format, without context. A renamed file is
    /// one entry; a binary file is only named.
    pub async fn diff(
        &self,
        from: &CommitId,
        to: &CommitId,
        paths: &[WorkPath],
    ) -> Result<String, GitError> {
        self.diff_in_parts(from, to, paths, "--no-color").await
    }

    /// The same, with every file treated as text.
    pub async fn diff_as_text(
        &self,
        from: &CommitId,
        to: &CommitId,
        paths: &[WorkPath],
    ) -> Result<String, GitError> {
        self.diff_in_parts(from, to, paths, "--text").await
    }

    /// The patch from one commit to another with three context lines, byte for byte as git writes it. A renamed file is
    /// one entry; a binary file is only named.
    pub async fn patch(&self, from: &CommitId, to: &CommitId) -> Result<Vec<u8>, GitError> {
        self.diff_by(from, to, &[], ["-U3", "--no-color"]).await
    }

    async fn diff_in_parts(
        &self,
        from: &CommitId,
        to: &CommitId,
        paths: &[WorkPath],
        option: &str,
    ) -> Result<String, GitError> {
        let mut text = String::new();
        for some in paths.chunks(MOST_PATHS) {
            let part = self.diff_by(from, to, some, ["-U0", option]).await?;
            text.push_str(&String::from_utf8_lossy(&part));
        }
        Ok(text)
    }

    async fn diff_by(
        &self,
        from: &CommitId,
        to: &CommitId,
        paths: &[WorkPath],
        options: [&str; 2],
    ) -> Result<Vec<u8>, GitError> {
        let mut args = vec!["diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv"];
        args.extend(["--src-prefix=a/", "--dst-prefix=b/"]);
        args.extend(options);
        args.extend([hash(from)?, hash(to)?, "--"]);
        args.extend(paths.iter().map(WorkPath::as_str));
        Ok(self.git().run(self.here(), &args).await?.stdout)
    }

    /// Every symbolic link of a commit, by path, with its target as text. Whether a target is permitted is decided
    /// elsewhere.
    pub async fn links(&self, commit: &CommitId) -> Result<BTreeMap<String, String>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", hash(commit)?];
        let listed = self.git().run(self.here(), &args).await?;
        let entries = listed.names().filter_map(tree_line);
        let found: Vec<_> = entries.filter(|(mode, ..)| *mode == LINK).collect();
        if found.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked: String = found.iter().map(|(_, object, _)| format!("{object}\n")).collect();
        let with = With { stdin: asked.as_bytes(), ..With::default() };
        let answer = self.git().run_with(self.here(), &["cat-file", "--batch"], with).await?;
        let mut rest = answer.stdout.as_slice();
        let mut links = BTreeMap::new();
        for (_, _, path) in found {
            let Some((target, after)) = next_object(rest) else { break };
            let target = &target[..target.len().min(LONGEST_TARGET)];
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            links.insert(text(path), text(target));
            rest = after;
        }
        Ok(links)
    }

    /// The paths that a commit's `.gitignore` lists by name and that contain nothing tracked: build output that is not
    /// kept, be it a file or a folder. Only plain names at the top level count; a pattern could match anything. The
    /// default is `HEAD`.
    pub async fn builds(&self, commit: Option<&CommitId>) -> Result<Vec<WorkPath>, GitError> {
        let commit = commit.map_or(Ok("HEAD"), hash)?;
        let file = format!("{commit}:.gitignore");
        let ignored = self.git().try_run(self.here(), &["cat-file", "blob", &file]).await?;
        if !ignored.succeeded() {
            return Ok(Vec::new());
        }
        let kept = self.git().run(self.here(), &["ls-tree", "-z", "--name-only", commit]).await?;
        let kept: BTreeSet<&[u8]> = kept.names().collect();
        let ignored = String::from_utf8_lossy(&ignored.stdout).into_owned();
        let names = ignored.lines().map(|line| line.trim().trim_matches('/'));
        let plain = names.filter(|name| {
            let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            !name.is_empty() && name.chars().all(letters) && !kept.contains(name.as_bytes())
        });
        let plain = plain.filter(|name| !name.starts_with(".git"));
        Ok(plain.filter_map(|name| name.parse().ok()).collect())
    }

    /// The artifacts that do not exist in a commit.
    pub async fn missing(
        &self,
        commit: &CommitId,
        artifacts: &[Artifact],
    ) -> Result<Vec<Artifact>, GitError> {
        if artifacts.is_empty() {
            return Ok(Vec::new());
        }
        let commit = hash(commit)?;
        let asked = artifacts.iter().map(|artifact| {
            let path = if artifact.path.is_root() { "" } else { artifact.path.as_str() };
            format!("{commit}:{path}\n")
        });
        let stdin: String = asked.collect();
        let with = With { stdin: stdin.as_bytes(), ..With::default() };
        let args = ["cat-file", "--batch-check=%(objecttype)"];
        let answer = self.git().run_with(self.here(), &args, with).await?;
        let kinds = String::from_utf8_lossy(&answer.stdout).into_owned();
        let kinds = kinds.lines().chain(std::iter::repeat("missing"));
        let absent = artifacts.iter().zip(kinds).filter(|(artifact, kind)| match *kind {
            "tree" => false,
            "blob" => artifact.whole_folder,
            _ => true,
        });
        Ok(absent.map(|(artifact, _)| artifact.clone()).collect())
    }
}

/// Kind of a change, from the last letter of a `--raw` line.
fn kind(line: &[u8]) -> ChangeKind {
    match line.last() {
        Some(b'A') => ChangeKind::Added,
        Some(b'D') => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    }
}

/// Parses one line of `--numstat -z`: added, removed, path.
fn change(line: &[u8], kinds: &BTreeMap<&[u8], ChangeKind>) -> Result<FileChange, GitError> {
    let mut parts = line.splitn(3, |byte| *byte == b'\t');
    let mut number = || {
        let text = parts.next().and_then(|part| std::str::from_utf8(part).ok()).unwrap_or("-");
        // A binary file has a dash here.
        text.parse().unwrap_or(0)
    };
    let (added, removed) = (number(), number());
    let path = parts.next().unwrap_or_default();
    let how = kinds.get(path).copied().unwrap_or_default();
    Ok(FileChange { path: name(path)?, added, removed, how, only_comments: false })
}

/// Parses one line of `ls-tree -z`: mode, type, object, tab, path. Returns the mode, the object and the path.
pub(super) fn tree_line(line: &[u8]) -> Option<(&str, &str, &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut facts = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let (mode, _kind, object) = (facts.next()?, facts.next()?, facts.next()?);
    Some((mode, object, &line[tab + 1..]))
}

/// The next object in the output of `cat-file --batch`, a line with the size, then that many bytes and a line break, and
/// the remaining output.
pub(super) fn next_object(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&answer[..end]).ok()?;
    let size: usize = line.rsplit(' ').next()?.parse().ok()?;
    let content = answer.get(end + 1..)?.get(..size)?;
    Some((content, answer.get(end + 2 + size..).unwrap_or_default()))
}

/// A file name from a repository as a workspace path, if it is a valid one.
pub(super) fn name(bytes: &[u8]) -> Result<WorkPath, GitError> {
    let text = std::str::from_utf8(bytes).ok();
    let path = text.and_then(|text| text.parse::<WorkPath>().ok());
    // A name that is not normalized would become another name.
    path.filter(|path| Some(path.as_str()) == text)
        .ok_or_else(|| GitError::BadName { name: escaped(bytes) })
}
