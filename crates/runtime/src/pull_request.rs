//! The pull request for a run's result: composes its text, and opens it with the person's own `gh` or `glab`. Nothing
//! leaves this machine unless a person asks to open it.

use std::path::Path;

use engine::export::PullRequest;
use sandbox::{PersonProgram, Repo};
use types::{RunId, one_line};

use crate::api::Bosun;
use crate::error::Error;

/// The remote that branches are pushed to.
const REMOTE: &str = "origin";

/// Why a pull request was not opened.
#[derive(Debug, thiserror::Error)]
pub enum PullRequestError {
    #[error("run {run} has no changes to open a pull request for")]
    Nothing { run: RunId },
    #[error("neither gh nor glab is on your PATH; install one, or write the text with --out FILE")]
    NoProgram,
    #[error("{program} failed: {said}")]
    Failed { program: String, said: String },
    #[error("running {program}")]
    Io {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Door(#[from] Error),
}

/// A pull request, with its branches and repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedRequest {
    pub text: PullRequest,
    /// The branch with the result.
    pub head: String,
    /// The branch that the run was started on.
    pub base: Option<String>,
    pub repository: String,
}

impl Bosun {
    /// The pull request for a run's current result.
    pub async fn pull_request(&self, run: &RunId) -> Result<ProposedRequest, PullRequestError> {
        let machine = self.load(run).await?;
        let mut view = self.shown(&machine);
        if view.head == view.base {
            return Err(PullRequestError::Nothing { run: run.clone() });
        }
        // The pull request of a follow-up includes everything that it builds on.
        if let Some(base) = self.followed(&machine).await?.pop().map(|first| first.base)
            && let Ok(repo) = Repo::discover(Path::new(&view.repository)).await
            && let Ok(changes) = repo.changes(&base, &view.head).await
        {
            (view.base, view.changes) = (base, changes);
        }
        Ok(ProposedRequest {
            text: engine::export::pull_request(&view),
            head: view.branch,
            base: machine.survey().and_then(|survey| survey.branch.clone()),
            repository: view.repository,
        })
    }

    /// Pushes the branch with the person's own git and opens the pull request with their `gh` or `glab`; returns its
    /// address.
    pub async fn open_pull_request(
        &self,
        proposed: &ProposedRequest,
    ) -> Result<String, PullRequestError> {
        let folder = Path::new(&proposed.repository);
        let git = PersonProgram::find("git", folder).ok_or(PullRequestError::NoProgram)?;
        let remote = run(&git, "git", folder, &["remote", "get-url", REMOTE], "").await?;
        let find = |name| PersonProgram::find(name, folder);
        let (gh, glab) = (find("gh"), find("glab"));
        let gitlab = remote.contains("gitlab");
        let (program, name) = match (gh, glab) {
            (_, Some(glab)) if gitlab => (glab, "glab"),
            (Some(gh), _) => (gh, "gh"),
            (None, Some(glab)) => (glab, "glab"),
            (None, None) => return Err(PullRequestError::NoProgram),
        };
        let branch = format!("refs/heads/{0}:refs/heads/{0}", proposed.head);
        run(&git, "git", folder, &["push", "--quiet", REMOTE, &branch], "").await?;
        let (head, text) = (proposed.head.as_str(), &proposed.text);
        let base = proposed.base.as_deref();
        let said = if name == "gh" {
            let mut args = vec!["pr", "create", "--head", head, "--title", &text.title];
            args.extend(["--body-file", "-"]);
            args.extend(base.into_iter().flat_map(|base| ["--base", base]));
            run(&program, name, folder, &args, &text.body).await?
        } else {
            let mut args = vec!["mr", "create", "--yes", "--source-branch", head, "--title"];
            args.extend([text.title.as_str(), "--description", &text.body]);
            args.extend(base.into_iter().flat_map(|base| ["--target-branch", base]));
            run(&program, name, folder, &args, "").await?
        };
        let address = said.split_whitespace().rev().find(|word| word.starts_with("https://"));
        Ok(one_line(address.unwrap_or_else(|| said.trim()), 300))
    }
}

/// Runs a program that must succeed; returns its output.
async fn run(
    program: &PersonProgram,
    name: &str,
    folder: &Path,
    args: &[&str],
    stdin: &str,
) -> Result<String, PullRequestError> {
    let program_name = || format!("{name} {}", args.first().copied().unwrap_or_default());
    let output = program
        .run(folder, args, stdin)
        .await
        .map_err(|source| PullRequestError::Io { program: program_name(), source })?;
    if output.succeeded {
        return Ok(output.stdout);
    }
    let said = output.stderr.lines().rev().find(|line| !line.trim().is_empty());
    let said = one_line(said.unwrap_or("it said nothing"), 300);
    Err(PullRequestError::Failed { program: program_name(), said })
}
