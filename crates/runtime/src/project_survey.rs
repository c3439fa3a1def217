//! What a repository is like, for commands that advise a person: its checks, its set-up, and what stands in the way of a
//! run. Nothing is run, and nothing is changed.

use std::path::{Path, PathBuf};

use sandbox::{GitError, Repo};
use types::{Check, WorkspacePolicy};

use crate::prepare::proposed_workspace;

/// What was found.
#[derive(Debug, Clone)]
pub struct ProjectSurvey {
    /// The top of the repository.
    pub root: PathBuf,
    /// What git says of uncommitted work, if there is any.
    pub dirty: Option<String>,
    /// The checks that the files of the last commit suggest.
    pub checks: Vec<Check>,
    /// How a fresh checkout could be made ready.
    pub workspace: WorkspacePolicy,
    /// The commands of the set-up that would install something that is not here. Caches that a package manager shares
    /// between repositories are not looked into.
    pub missing: Vec<String>,
}

/// Looks at the repository that a folder lies in.
pub async fn project_survey(folder: &Path) -> Result<ProjectSurvey, GitError> {
    let repo = Repo::discover(folder).await?;
    let checks = repo.checks_at_head().await?;
    let dirty = repo.refuse_dirty().await.err().map(|error| error.to_string());
    let workspace = proposed_workspace(folder).await.unwrap_or_default();
    let installs = |command: &&String| !evidence::workspace::fills_a_cache(command);
    let missing = workspace.setup.iter().filter(installs).cloned().collect();
    Ok(ProjectSurvey { root: repo.root().to_owned(), dirty, checks, workspace, missing })
}
