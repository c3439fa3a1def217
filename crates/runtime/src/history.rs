//! What commands see of the history of a repository: a copy of what led to their commit, or nothing if files in it are
//! hidden from them. The person's own checkout is not copied: there, git's files are part of the workspace.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sandbox::Repo;
use tokio::sync::Mutex;
use types::CommitId;

/// The folder of all copies.
pub(crate) const HISTORY: &str = "history";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum History {
    Nothing,
    /// All that the repository has.
    All,
    /// The objects in a folder.
    Of(PathBuf),
}

/// A repository's git files, a commit with what led to it, or all of them, and globs.
type Asked = (PathBuf, Option<CommitId>, Vec<String>);

#[derive(Debug)]
pub(crate) struct Histories {
    /// The product's home, if there are copies.
    home: Option<PathBuf>,
    /// Whether there are files that globs match.
    known: Mutex<BTreeMap<Asked, bool>>,
}

impl Histories {
    pub(crate) fn new(home: Option<PathBuf>) -> Self {
        Self { home, known: Mutex::default() }
    }

    /// What is seen of the history of a commit, or of all branches; `hidden` are the globs of what must not be.
    pub(crate) async fn seen(
        &self,
        repo: &Repo,
        commit: Option<CommitId>,
        hidden: Vec<String>,
    ) -> History {
        if !hidden.is_empty() && self.had(repo, commit.clone(), hidden).await {
            return History::Nothing;
        }
        let (Some(home), Some(commit)) = (&self.home, commit) else { return History::All };
        match repo.history(&home.join(HISTORY), &commit).await {
            Ok(copy) => History::Of(copy),
            Err(error) => {
                tracing::warn!(%error, "commands see no history: it cannot be copied");
                History::Nothing
            }
        }
    }

    /// Whether the history has files that globs match.
    async fn had(&self, repo: &Repo, commit: Option<CommitId>, globs: Vec<String>) -> bool {
        let asked = (repo.common_dir().to_owned(), commit, globs);
        let mut known = self.known.lock().await;
        if let Some(found) = known.get(&asked) {
            return *found;
        }
        let of_same = known
            .iter()
            .filter(|((repo, _, globs), had)| !**had && (repo, globs) == (&asked.0, &asked.2));
        let without: Vec<_> = of_same.filter_map(|((_, commit, _), _)| commit.clone()).collect();
        // If it cannot be read, it may have anything.
        let found = repo.has_had(asked.1.as_ref(), &without, &asked.2).await.unwrap_or(true);
        known.insert(asked, found);
        found
    }
}
