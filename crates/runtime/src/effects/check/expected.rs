//! A tree with another expected value in a data file, for tests that compare with one: an approved document, or a table of
//! cases. Which value that is, is decided by `evidence`.

use std::cmp::Reverse;

use evidence::alter;
use evidence::files::FileKind;
use sandbox::{Edit, EditTo, GitError};
use types::{CommitId, WorkPath};

use super::job::Job;
use super::mix::kind;
use super::trial::nearness;
use super::variant::{Variant, described};
use crate::effects::run_executor::RunExecutor;

/// The most data files that are read: those nearest to the change.
const MOST_FILES: usize = 100;

impl RunExecutor {
    /// The result with one expected value altered, in a changed file if there is one.
    pub(super) async fn altered_data(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
    ) -> Result<Option<Variant>, GitError> {
        let against = job.against;
        let repo = self.worktrees.repo();
        let mut paths = repo.paths(commit).await?;
        paths.retain(|path| kind(path, &against.test_files) == FileKind::Data);
        let changed = |path: &WorkPath| against.changes.0.iter().any(|one| one.path == *path);
        paths.sort_by_cached_key(|path| {
            (!changed(path), Reverse(nearness(path, &against.changes)), path.clone())
        });
        paths.truncate(MOST_FILES);
        let texts = repo.texts(commit, &paths).await?;
        let texts = paths.iter().filter_map(|path| texts.iter().find(|(of, _)| of == path));
        let mut found = texts.filter_map(|(path, text)| {
            let altered = alter::one_by_one(path.as_str(), text).into_iter().next()?;
            Some((path.clone(), altered))
        });
        let Some((path, altered)) = found.next() else { return Ok(None) };
        let what = described(&path, &altered);
        let files = vec![path.clone()];
        let edit = Edit { path, to: EditTo::Text(altered.text) };
        let commit = self.mixed(job, commit, &[edit]).await?;
        let (must_fail, planted, alone, of_data) = (vec![], vec![], None, true);
        let passing = None;
        Ok(Some(Variant { commit, passing, files, must_fail, planted, what, alone, of_data }))
    }
}
