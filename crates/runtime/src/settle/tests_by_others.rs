//! Tests by another author are held back until a result is accepted. After that the person can have them, as a commit of
//! its own on their branch. The log does not record it: git does.

use sandbox::{Edit, EditTo, Taken};
use types::{ChangeKind, CommitId, RunId, Settling, WorkPath};

use super::{SettleError, same_branch};
use crate::api::Bosun;

/// The tests that were added to a person's branch; none if the result passed none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedTests {
    pub files: Vec<WorkPath>,
    pub commit: CommitId,
}

impl Bosun {
    /// Commits the tests by another author that an accepted result passed to the branch that is checked out. Tests that
    /// are there already are fine.
    pub async fn add_tests(&self, run: &RunId) -> Result<AddedTests, SettleError> {
        let machine = self.load(run).await?;
        let view = self.shown(&machine);
        if view.settled.is_none_or(|settled| settled.how != Settling::Accepted) {
            return Err(SettleError::NotAccepted { run: run.clone() });
        }
        let tests = machine.passed_tests();
        let repo = self.repository_of(&machine).await?;
        same_branch(&machine, &repo).await?;
        let head = repo.head().await?;
        let mut edits = Vec::new();
        for (commit, files) in &tests {
            let links = repo.links(commit).await?;
            // What a link leads to was not there when it was tested.
            if let Some(link) = files.iter().find(|path| links.contains_key(path.as_str())) {
                return Err(SettleError::Link { run: run.clone(), path: link.to_string() });
            }
            let to = || EditTo::AsIn(commit.clone());
            edits.extend(files.iter().map(|path| Edit { path: path.clone(), to: to() }));
        }
        if edits.is_empty() {
            return Ok(AddedTests { files: vec![], commit: head });
        }
        let files: Vec<WorkPath> = edits.iter().map(|edit| edit.path.clone()).collect();
        let goal = types::headline(&view.goal, 60);
        let message = format!(
            "Tests by another author: {goal}\n\nTheir author had not seen the result, which passes them.\n\n\
             Bosun-Run: {run}\n"
        );
        let scratch = self.services.home.join(format!("tests-{run}.index"));
        let message = (message.as_str(), self.services.clock.now());
        let commit = repo.on_top(&head, &edits, message, &scratch).await?;
        let changes = repo.changes(&head, &commit).await?.0;
        if changes.is_empty() {
            return Ok(AddedTests { files, commit: head });
        }
        if let Some(other) = changes.iter().find(|change| change.how != ChangeKind::Added) {
            let path = other.path.to_string();
            return Err(SettleError::Exists { run: run.clone(), path });
        }
        match repo.take(&commit, None).await? {
            Taken::Already(commit) | Taken::Forwarded(commit) | Taken::Merged(commit) => {
                Ok(AddedTests { files, commit })
            }
            // Somebody committed meanwhile.
            Taken::Diverged | Taken::Conflict(_) => {
                let branch = repo.checked_out().await?.unwrap_or_else(|| "HEAD".to_owned());
                Err(SettleError::Diverged { run: run.clone(), branch })
            }
        }
    }
}
