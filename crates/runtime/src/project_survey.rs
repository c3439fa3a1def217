//! A survey of a repository, for commands that advise a person: its checks, its set-up, and what a run would not see. Runs
//! nothing and changes nothing.

use std::path::{Path, PathBuf};

use sandbox::{GitError, Repo};
use types::{Check, WorkspacePolicy};

use crate::prepare::proposed_workspace;

/// The survey of a repository.
#[derive(Debug, Clone)]
pub struct ProjectSurvey {
    /// The top of the repository.
    pub root: PathBuf,
    /// The files with uncommitted changes.
    pub uncommitted: Vec<String>,
    /// The checks suggested by the files of the last commit.
    pub checks: Vec<Check>,
    /// The suggested preparation of a fresh checkout.
    pub workspace: WorkspacePolicy,
    /// The set-up commands that would install something missing here. Caches that a package manager shares between
    /// repositories are not inspected.
    pub missing: Vec<String>,
}

/// Surveys the repository that contains a folder.
pub async fn project_survey(folder: &Path) -> Result<ProjectSurvey, GitError> {
    let repo = Repo::discover(folder).await?;
    let checks = repo.checks_at_head().await?;
    let uncommitted = repo.uncommitted().await?;
    let workspace = proposed_workspace(folder).await.unwrap_or_default();
    let installs = |command: &&String| !evidence::workspace::fills_a_cache(command);
    let missing = workspace.setup.iter().filter(installs).cloned().collect();
    let root = repo.root().to_owned();
    Ok(ProjectSurvey { root, uncommitted, checks, workspace, missing })
}
