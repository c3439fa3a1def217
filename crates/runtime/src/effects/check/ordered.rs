//! Tests of before in a trial, with the changes that the goal orders; `evidence` says which those are.

use evidence::files::{FileKind, Ordered, kind_of};
use sandbox::{Edit, EditTo, GitError};
use types::{Against, ChangeKind, CommitId, FileChange, WorkPath};

use super::mix::kind;
use crate::effects::run_executor::RunExecutor;
use crate::effects::signs::text_of;

impl RunExecutor {
    /// Leaves in the tests of before what the goal orders, and removes the edits that are none any more.
    pub(super) async fn carry_along(
        &self,
        against: &Against,
        edits: &mut Vec<Edit>,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<Vec<String>, GitError> {
        let (said, rest): (Vec<Edit>, Vec<Edit>) =
            std::mem::take(edits).into_iter().partition(|edit| against.named.contains(&edit.path));
        *edits = rest;
        let mut ordered: Vec<String> =
            said.iter().map(|edit| format!("{}: as a person said", edit.path)).collect();
        let is_test = |path: &WorkPath| {
            kind(path, &against.test_files) == FileKind::Test || path.as_str().ends_with(".rs")
        };
        let repo = self.worktrees.repo();
        let paths: Vec<WorkPath> =
            edits.iter().map(|edit| edit.path.clone()).filter(is_test).collect();
        if paths.is_empty() {
            return Ok(ordered);
        }
        let orders = self.orders(against, commit, base).await?;
        let (old, new) = (repo.texts(base, &paths).await?, repo.texts(commit, &paths).await?);
        let mut kept = Vec::new();
        for edit in std::mem::take(edits) {
            let now = text_of(&new, &edit.path).unwrap_or_default();
            let before = match &edit.to {
                EditTo::Text(text) => Some(text.as_str()),
                EditTo::AsIn(_) => text_of(&old, &edit.path),
                EditTo::Gone => None,
            };
            let before = before.filter(|_| is_test(&edit.path));
            let carried = before.and_then(|before| orders.carried(edit.path.as_str(), before, now));
            let Some(carried) = carried else {
                kept.push(edit);
                continue;
            };
            ordered.extend(carried.changes.iter().map(|what| format!("{}: {what}", edit.path)));
            if carried.text.trim() != now.trim() {
                kept.push(Edit { to: EditTo::Text(carried.text), ..edit });
            }
        }
        *edits = kept;
        Ok(ordered)
    }

    /// What the goal orders, by what the change did to the code.
    pub(super) async fn orders(
        &self,
        against: &Against,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<Ordered, GitError> {
        let of_code = |change: &&FileChange| {
            matches!(kind_of(change, &against.test_files), FileKind::Code | FileKind::Data)
        };
        let code: Vec<&FileChange> = against.changes.0.iter().filter(of_code).collect();
        let paths: Vec<WorkPath> = code.iter().map(|change| change.path.clone()).collect();
        let repo = self.worktrees.repo();
        let plain = |texts: Vec<(WorkPath, String)>| -> Vec<(String, String)> {
            texts.into_iter().map(|(path, text)| (path.to_string(), text)).collect()
        };
        let before = plain(repo.texts(base, &paths).await?);
        let after = plain(repo.texts(commit, &paths).await?);
        let of = |how: ChangeKind| -> Vec<String> {
            let paths = code.iter().filter(|change| change.how == how);
            paths.map(|change| change.path.to_string()).collect()
        };
        let (gone, new) = (of(ChangeKind::Deleted), of(ChangeKind::Added));
        let goal = against.goal.as_deref().unwrap_or_default();
        Ok(Ordered::new(goal, &before, &after, (&gone, &new)))
    }
}
