//! State of a repository before work begins: its commit, its files, the documents for agents, and the checks that its
//! own files suggest. Read from the commit, never from the folder, so it is one consistent state.

mod checks;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::atomic::{AtomicU32, Ordering};

use types::{Check, CommitId, Document, Survey, WorkPath};

use super::call::{Answer, With};
use super::tree::{name, tree_line};
use super::{GitError, Repo, hash};
use crate::names::escaped;

const MAX_FILES: usize = 200;
const MAX_DOCUMENT_BYTES: usize = 32 * 1024;
/// Maximum size read of a file that may suggest checks.
const MAX_MANIFEST_BYTES: usize = 1024 * 1024;
const MAX_DIRTY: usize = 5;

/// Number of status lines that are inspected; all further ones count as the user's work.
const MOST_LOOKS: u32 = 2_000;

/// Whether a line of git's status is an untracked log or plan that a run left in `runs/`, which is no user's work.
fn is_record(line: &[u8]) -> bool {
    let Some(name) = line.strip_prefix(b"?? runs/") else { return false };
    let plan = name.starts_with(b"plan_") && name.ends_with(b".json");
    !name.contains(&b'/') && (plan || name.ends_with(b".log.jsonl"))
}

impl Repo {
    /// Surveys the repository. Uncommitted work is refused: it could not be told from an agent's.
    pub async fn survey(&self) -> Result<Survey, GitError> {
        self.survey_at(None).await
    }

    /// The same for a run that starts from another commit than the one checked out.
    pub async fn survey_at(&self, base: Option<&CommitId>) -> Result<Survey, GitError> {
        let base = match base {
            Some(base) => base.clone(),
            None => self.head().await?,
        };
        self.refuse_dirty().await?;
        let branch = self.checked_out().await?;
        let (blobs, file_count) = self.listed(&base).await?;
        let files = blobs.iter().take(MAX_FILES).map(|blob| blob.path.clone()).collect();
        Ok(Survey {
            repository: crate::names::folder_name(self.root()),
            base,
            branch,
            files,
            file_count,
            documents: self.documents(&blobs).await?,
            checks: self.checks(&blobs).await?,
            usual: None,
            has_tester: false,
        })
    }

    /// The documents for agents in the last commit, regardless of the working tree.
    pub async fn documents_at_head(&self) -> Result<Vec<Document>, GitError> {
        let (blobs, _) = self.listed(&self.head().await?).await?;
        self.documents(&blobs).await
    }

    /// The checks that the files of the last commit suggest, regardless of the working tree.
    pub async fn checks_at_head(&self) -> Result<Vec<Check>, GitError> {
        let (blobs, _) = self.listed(&self.head().await?).await?;
        self.checks(&blobs).await
    }

    /// The regular files of a commit, and the number of all of its entries.
    async fn listed(&self, commit: &CommitId) -> Result<(Vec<Blob>, u64), GitError> {
        let answer = self.git().run(self.here(), &["ls-tree", "-r", "-z", hash(commit)?]).await?;
        let blobs = answer.names().filter_map(Blob::parse).collect();
        Ok((blobs, answer.names().count() as u64))
    }

    /// The commit that is checked out.
    pub async fn head(&self) -> Result<CommitId, GitError> {
        let args = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let answer = self.git().try_run(self.here(), &args).await?;
        if !answer.succeeded() {
            return Err(GitError::NoCommit);
        }
        Ok(CommitId(answer.word()?))
    }

    /// Refuses uncommitted work.
    pub async fn refuse_dirty(&self) -> Result<(), GitError> {
        // Only a limited number of files is inspected; all others count as the user's work.
        let looks = AtomicU32::new(1);
        let is_work = |line: &&[u8]| {
            looks.fetch_add(1, Ordering::Relaxed) >= MOST_LOOKS || !self.is_beside_the_work(line)
        };
        let mut answer = self.differences("--untracked-files=normal").await?;
        let is_folder = |line: &[u8]| line.starts_with(b"?? ") && line.ends_with(b"/");
        let only_folders = answer.names().filter(is_work).all(is_folder);
        let folders = answer.names().any(|line| is_folder(line) && only_folders);
        if folders || answer.names().any(|line| line == b"?? runs/") {
            // Nothing in these folders is tracked yet, so they have to be listed file by file.
            answer = self.differences("--untracked-files=all").await?;
        }
        let work: Vec<&[u8]> = answer.names().filter(is_work).collect();
        let count = work.len() as u64;
        if count == 0 {
            return Ok(());
        }
        let paths = work.into_iter().take(MAX_DIRTY).map(|line| {
            let path = line.get(3..).unwrap_or_default();
            let path = path.strip_suffix(b"/").unwrap_or(path);
            name(path).map_or_else(|_| escaped(path), |path| path.to_string())
        });
        Err(GitError::Dirty { paths: paths.collect(), count })
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
            .is_ok_and(|found| found.is_file() && found.len() <= MAX_MANIFEST_BYTES as u64);
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

    async fn documents(&self, blobs: &[Blob]) -> Result<Vec<Document>, GitError> {
        let mut documents = Vec::new();
        let mut room = MAX_DOCUMENT_BYTES;
        for blob in blobs.iter().filter(|blob| is_document(&blob.path)) {
            if room == 0 {
                break;
            }
            let mut text = self.text(blob, room).await?;
            room -= text.len().min(room);
            if room == 0 {
                text.push_str("\n[the rest of this document is left out]\n");
            }
            documents.push(Document { path: blob.path.clone(), text });
        }
        Ok(documents)
    }

    async fn checks(&self, blobs: &[Blob]) -> Result<Vec<Check>, GitError> {
        let paths = blobs.iter().map(|blob| blob.path.as_str()).collect();
        let mut texts = BTreeMap::new();
        let wanted = |blob: &&Blob| checks::READ.contains(&blob.path.as_str());
        for blob in blobs.iter().filter(wanted) {
            texts.insert(blob.path.as_str(), self.text(blob, MAX_MANIFEST_BYTES).await?);
        }
        Ok(checks::found(&checks::Files { paths, texts }))
    }

    async fn text(&self, blob: &Blob, limit: usize) -> Result<String, GitError> {
        let answer = self.git().run(self.here(), &["cat-file", "blob", &blob.object]).await?;
        let bytes = &answer.stdout[..answer.stdout.len().min(limit)];
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// A regular file of a commit.
struct Blob {
    object: String,
    path: WorkPath,
}

impl Blob {
    /// Parses one line of `ls-tree -z`. Links and submodules are not files, and a path that is not a valid workspace
    /// path is left out.
    fn parse(line: &[u8]) -> Option<Self> {
        let (mode, object, path) = tree_line(line)?;
        let path = name(path).ok().filter(|_| matches!(mode, "100644" | "100755"))?;
        Some(Self { object: object.to_owned(), path })
    }
}

fn is_document(path: &WorkPath) -> bool {
    let path = path.as_str();
    path == "AGENTS.md" || (path.starts_with("context/") && path.ends_with(".md"))
}
