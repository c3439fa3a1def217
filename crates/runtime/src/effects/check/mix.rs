//! Mixes of two commits: the code of one with the tests of the other. Which mix a trial needs is decided elsewhere;
//! `evidence` classifies the files.

use evidence::files::{self, FileKind, Mix};
use sandbox::{Edit, EditTo, GitError};
use types::{Against, ChangeKind, CommitId, WorkPath};

use crate::effects::run_executor::RunExecutor;
use crate::effects::signs::text_of;

impl RunExecutor {
    /// The new code with the tests, recipes and data of the base; and what was left as it is now, because the goal
    /// orders it.
    pub(super) async fn base_tests(
        &self,
        against: &Against,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<(Vec<Edit>, Vec<String>), GitError> {
        let tests = &against.test_files;
        let mut mix = files::base_tests(&against.changes, tests);
        let is_code = |change: &types::FileChange| {
            files::kind_of(change, &against.test_files) == FileKind::Code
        };
        let code = against.changes.0.iter().any(is_code);
        let goal = against.goal.as_deref().unwrap_or_default();
        let both = format!("{goal}\n{}", against.title);
        mix.restore.retain(|path| !files::is_product(path.as_str(), &both, code, tests));
        let mut edits = self.edits(mix, commit, base).await?;
        edits.extend(self.unit_tests(against, commit, base).await?);
        let ordered = self.carry_along(against, &mut edits, commit, base).await?;
        Ok((edits, ordered))
    }

    /// The code of the base with the new tests, recipes and data.
    pub(super) async fn new_tests(
        &self,
        against: &Against,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<Vec<Edit>, GitError> {
        let tests = &against.test_files;
        let mix = files::new_tests(&against.changes, tests);
        let mut edits = self.edits(mix, base, commit).await?;
        edits.extend(self.unit_tests(against, base, commit).await?);
        // Settings are no tests.
        let settings = |edit: &Edit| kind(&edit.path, tests) == FileKind::Recipe;
        Ok(if edits.iter().all(settings) { vec![] } else { edits })
    }

    /// The edits that turn `onto` into the mix, with files of `from`.
    async fn edits(
        &self,
        mix: Mix,
        onto: &CommitId,
        from: &CommitId,
    ) -> Result<Vec<Edit>, GitError> {
        let restored = mix.restore.into_iter();
        let restored = restored.map(|path| Edit { path, to: EditTo::AsIn(from.clone()) });
        let removed = mix.remove.into_iter().map(|path| Edit { path, to: EditTo::Gone });
        let mut edits: Vec<Edit> = restored.chain(removed).collect();
        let repo = self.worktrees.repo();
        let of_from = repo.texts(from, &mix.merge).await?;
        let of_onto = repo.texts(onto, &mix.merge).await?;
        for (path, own) in of_onto {
            let other = text_of(&of_from, &path).unwrap_or_default();
            let whole = files::restored_manifest(path.as_str(), other, &own);
            if let Some(text) = whole.filter(|text| *text != own) {
                edits.push(Edit { path, to: EditTo::Text(text) });
            }
        }
        Ok(edits)
    }

    /// Inline unit tests of `tests`, moved into the files of `code`.
    async fn unit_tests(
        &self,
        against: &Against,
        code: &CommitId,
        tests: &CommitId,
    ) -> Result<Vec<Edit>, GitError> {
        let paths: Vec<WorkPath> = against
            .changes
            .0
            .iter()
            .filter(|change| {
                change.how == ChangeKind::Modified && change.path.as_str().ends_with(".rs")
            })
            .filter(|change| files::kind_of(change, &against.test_files) == FileKind::Code)
            .map(|change| change.path.clone())
            .collect();
        let repo = self.worktrees.repo();
        let of_tests = repo.texts(tests, &paths).await?;
        let mut edits = Vec::new();
        for (path, text) in repo.texts(code, &paths).await? {
            let Some(other) = text_of(&of_tests, &path) else { continue };
            let swapped =
                files::swapped_unit_tests(&text, other).filter(|swapped| *swapped != text);
            edits.extend(swapped.map(|text| Edit { path, to: EditTo::Text(text) }));
        }
        Ok(edits)
    }

    /// The result with the code of one task reverted.
    pub(super) async fn without(
        &self,
        against: &Against,
        head: &CommitId,
        base: &CommitId,
    ) -> Result<Vec<Edit>, GitError> {
        let code = |change: &&types::FileChange| {
            files::kind_of(change, &against.test_files) == FileKind::Code
        };
        let paths = against.changes.0.iter().filter(code).map(|change| change.path.clone());
        let mut edits: Vec<Edit> =
            paths.map(|path| Edit { path, to: EditTo::AsIn(base.clone()) }).collect();
        edits.extend(self.unit_tests(against, base, head).await?);
        Ok(edits)
    }
}

/// The tests by another author, laid over a tree.
pub(super) fn others(against: &Against) -> Vec<Edit> {
    let laid = |path: &WorkPath, commit: &CommitId| {
        let to = EditTo::AsIn(commit.clone());
        Edit { path: path.clone(), to }
    };
    let all = against.others.iter();
    all.flat_map(|(commit, files)| files.iter().map(move |path| laid(path, commit))).collect()
}

pub(super) fn kind(path: &WorkPath, tests: &[String]) -> FileKind {
    files::kind(path.as_str(), tests)
}
