//! The needs of a run's worktrees: the policy's, or else those suggested by the repository's files and the person's
//! checkout. Determined once per run, so later changes to the checkout have no effect. Nothing is copied or run here.

use std::path::{Path, PathBuf};

use evidence::workspace as rules;
use sandbox::{Most, Repo, venv};
use types::{CommitId, Fault, FaultClass, WorkPath, WorkspacePolicy};

use super::place::{most, refused};

/// The needs of a run's worktrees.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) setup: Vec<String>,
    /// Ignored paths of the person's checkout to be copied, and their fingerprints.
    pub(super) bring: Vec<WorkPath>,
    pub(super) fingerprint: String,
    /// Virtual environments in the person's checkout, which stay there.
    pub(super) environments: Vec<WorkPath>,
    pub(super) locks: Vec<WorkPath>,
    pub(super) writable: Vec<WorkPath>,
    pub(super) visible: Vec<PathBuf>,
    pub(super) submodules: bool,
    /// Notes for people.
    pub(super) notes: Vec<String>,
}

/// The note on a submodule that is not initialised.
pub(super) fn uninitialised(path: &WorkPath) -> String {
    format!(
        "the submodule {path} is empty: your checkout does not have it; run `git submodule update --init --recursive`"
    )
}

impl Plan {
    /// Examines the policy and the repository.
    pub(super) async fn find(
        policy: &WorkspacePolicy,
        repo: &Repo,
        base: &CommitId,
        home: &Path,
    ) -> Result<Self, Fault> {
        let mut plan = Self::named(policy, repo, base, home).await?;
        plan.fingerprint = plan.looks(repo, most(policy)).await?;
        if plan.submodules {
            plan.missing_submodules(repo, base).await?;
        }
        Ok(plan)
    }

    /// The same without a look at the files that would be copied.
    pub(super) async fn named(
        policy: &WorkspacePolicy,
        repo: &Repo,
        base: &CommitId,
        home: &Path,
    ) -> Result<Self, Fault> {
        let proposal = proposal(repo, base).await?;
        // A policy with set-up commands does not want the checkout's dependencies as well.
        let found = proposal.bring.clone().filter(|_| policy.setup.is_empty());
        let wanted = policy.bring.clone().or(found).unwrap_or_default();
        let mut plan = Self {
            setup: policy.setup.clone(),
            bring: vec![],
            fingerprint: String::new(),
            environments: vec![],
            locks: policy.locks.clone().or(proposal.locks).unwrap_or_default(),
            writable: vec![],
            visible: visible(policy, home)?,
            submodules: policy.submodules.or(proposal.submodules).unwrap_or(false),
            notes: vec![],
        };
        for path in wanted {
            plan.take(repo, path).await?;
        }
        let mut kept = plan.bring.clone();
        // Set-up results that tools write to.
        kept.extend("node_modules".parse().ok().filter(|_| !plan.setup.is_empty()));
        plan.writable = policy.writable.clone().unwrap_or_else(|| rules::caches(&kept));
        Ok(plan)
    }

    /// Whether a state has to be prepared and kept.
    pub(super) fn needs_state(&self) -> bool {
        !self.bring.is_empty() || !self.setup.is_empty()
    }

    /// Whether a copied or set-up path is read-only.
    pub(super) fn closes(&self, path: &WorkPath) -> bool {
        self.bring.contains(path) || rules::is_dependency(path.as_str())
    }

    /// Adds one path of the person's checkout to the plan.
    async fn take(&mut self, repo: &Repo, path: WorkPath) -> Result<(), Fault> {
        let refuse = |why: &str| {
            let what = format!("[workspace] bring = {path:?} is refused: {why}");
            Err(Fault::new(FaultClass::Person, "workspace.bring_refused", what))
        };
        if path.is_root() || path.components().any(|name| name == ".git") {
            return refuse("it is the repository itself");
        }
        if rules::is_credential(path.as_str()) {
            return refuse("it may hold credentials, which agents are not given");
        }
        let whole = repo.root().join(path.as_str());
        if std::fs::symlink_metadata(&whole).is_err() {
            self.notes.push(format!("{path} is to be brought along and is not in your checkout"));
            return Ok(());
        }
        let real = repo.root().canonicalize().map(|root| root.join(path.as_str()));
        if !matches!((real, whole.canonicalize()), (Ok(real), Ok(found)) if real == found) {
            return refuse("it is a link, or lies behind one");
        }
        if !repo.ignores(&path).await? {
            return refuse("git does not ignore it; name it in .gitignore or .git/info/exclude");
        }
        if venv::is_venv(&whole) {
            self.environments.push(path);
        } else {
            self.bring.push(path);
        }
        Ok(())
    }

    /// The current fingerprint of all copied paths.
    async fn looks(&self, repo: &Repo, most: Most) -> Result<String, Fault> {
        let places: Vec<PathBuf> =
            self.bring.iter().map(|path| repo.root().join(path.as_str())).collect();
        // Files that tools write while running are not part of the installation.
        let own: Vec<PathBuf> =
            self.writable.iter().map(|path| repo.root().join(path.as_str())).collect();
        let looked = tokio::task::spawn_blocking(move || {
            let prints = places.iter().map(|place| sandbox::fingerprint(place, &own, most));
            prints.collect::<Result<Vec<_>, _>>()
        });
        let prints = looked.await.map_err(|error| Fault::bug(error.to_string()))?;
        Ok(prints.map_err(|error| refused(&error))?.join(" "))
    }

    /// Notes the submodules missing in the person's checkout.
    async fn missing_submodules(&mut self, repo: &Repo, base: &CommitId) -> Result<(), Fault> {
        let submodules = repo.submodules(base).await?;
        let absent = submodules.iter().map(|one| &one.path).filter(|path| {
            let kept = repo.common_dir().join("modules").join(path.as_str());
            !repo.root().join(path.as_str()).join(".git").exists() && !kept.exists()
        });
        self.notes.extend(absent.map(uninitialised));
        Ok(())
    }
}

/// The suggested policy for a repository; `None` without a commit to examine.
pub async fn proposed_workspace(folder: &Path) -> Option<WorkspacePolicy> {
    let repo = Repo::discover(folder).await.ok()?;
    let head = repo.head().await.ok()?;
    let attributes = repo.text_at(&head, ".gitattributes").await.ok()?;
    let lfs = attributes.is_some_and(|text| text.contains("filter=lfs"));
    let found = proposal(&repo, &head).await.ok()?;
    Some(WorkspacePolicy { lfs, ..found })
}

/// The repository's suggestion.
async fn proposal(repo: &Repo, base: &CommitId) -> Result<WorkspacePolicy, Fault> {
    let (files, ignored) = tokio::join!(repo.tracked(base), repo.ignored_in(repo.root()));
    let (files, ignored) = (files?, ignored?);
    let mut present: Vec<&str> = ignored.iter().map(WorkPath::as_str).collect();
    let environments: Vec<WorkPath> =
        [".venv", "venv"].into_iter().filter_map(|name| name.parse().ok()).collect();
    // One that ignores itself from inside is listed by its contents.
    for path in environments.iter().filter(|path| venv::is_venv(&repo.root().join(path.as_str()))) {
        if !present.contains(&path.as_str()) && repo.ignores(path).await? {
            present.push(path.as_str());
        }
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut found = rules::proposed(&files, &present, |_| None);
    // One without any package manager's files, perhaps before the first Python file is committed.
    for path in &environments {
        let named = found.bring.iter().flatten().any(|other| other == path);
        let there = present.contains(&path.as_str());
        if there && !named && venv::is_venv(&repo.root().join(path.as_str())) {
            found.bring.get_or_insert_default().push(path.clone());
        }
    }
    Ok(found)
}

/// The paths outside the repository that commands may see.
fn visible(policy: &WorkspacePolicy, home: &Path) -> Result<Vec<PathBuf>, Fault> {
    let refuse = |path: &str, why: &str| {
        let what = format!("[workspace] visible = {path:?} is refused: {why}");
        Fault::new(FaultClass::Person, "workspace.visible_refused", what)
    };
    let each = policy.visible.iter().map(|text| {
        let path = venv::expanded(text)
            .ok_or_else(|| refuse(text, "it is neither absolute nor begins with ~/"))?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if venv::shows_too_much(&real) || venv::shows_too_much(&path) || home.starts_with(&real) {
            return Err(refuse(text, "it shows more than a toolchain"));
        }
        Ok(path)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before the first Python file is committed, the tests may already need it.
    #[tokio::test]
    async fn an_ignored_environment_is_found_in_a_fresh_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let now = types::Timestamp::from_millis(1);
        Repo::create(root, "Start\n", now).await.expect("a repository");
        std::fs::create_dir_all(root.join(".git/info")).expect("a folder");
        std::fs::write(root.join(".git/info/exclude"), ".venv/\n").expect("a file");
        std::fs::create_dir_all(root.join(".venv/bin")).expect("a folder");
        let found = async || proposed_workspace(root).await.expect("a commit").bring;
        assert_eq!(found().await, None, "a folder with that name may be anything");
        std::fs::write(root.join(".venv/pyvenv.cfg"), "").expect("a file");
        assert_eq!(found().await, Some(vec![".venv".parse().expect("a path")]));
    }
}
