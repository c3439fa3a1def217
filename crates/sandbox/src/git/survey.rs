//! State of a repository before work begins: its commit, its files, the documents for agents, and the checks that its
//! own files suggest. Read from the commit, never from the folder, so it is one consistent state.

mod checks;

use std::collections::BTreeMap;

use types::{Check, CommitId, Document, Survey, WorkPath};

use super::tree::{name, tree_line};
use super::{GitError, Repo, hash};

const MAX_FILES: usize = 200;
const MAX_DOCUMENT_BYTES: usize = 32 * 1024;
/// Maximum size read of a file that may suggest checks.
const MAX_MANIFEST_BYTES: usize = 1024 * 1024;
/// Maximum number of files with uncommitted changes that are listed.
const MAX_UNCOMMITTED: usize = 200;

impl Repo {
    /// Surveys the repository. Uncommitted changes are listed; they are no part of what is worked on.
    pub async fn survey(&self) -> Result<Survey, GitError> {
        self.survey_at(None).await
    }

    /// The same for a run that starts from another commit than the one checked out.
    pub async fn survey_at(&self, base: Option<&CommitId>) -> Result<Survey, GitError> {
        let base = match base {
            Some(base) => base.clone(),
            None => self.head().await?,
        };
        let mut uncommitted = self.uncommitted().await?;
        uncommitted.truncate(MAX_UNCOMMITTED);
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
            uncommitted,
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
