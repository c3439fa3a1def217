//! The tree of a check: a commit, or for a trial a mix of two commits, or one with altered expectations. Which trial is
//! due and what it means is decided elsewhere; `evidence` classifies and alters files.

use std::cmp::Reverse;
use std::path::Path;

use evidence::alter::{self, Altered};
use evidence::files::FileKind;
use evidence::related;
use sandbox::{Edit, EditTo, GitError};
use types::{
    Against, ChangeKind, Changes, CommitId, Fault, FileChange, Subject, TestReport, Trial, WorkPath,
};

use super::job::Job;
use super::mix::{kind, others};
use super::moved::Moves;
use super::variant::{InFile, Variant, described};
use crate::effects::run_executor::RunExecutor;

/// The tree that a check runs on.
pub(super) enum Tree {
    Plain(CommitId),
    /// A tree on which tests should fail, the same with passing ones, and the test files that it is about.
    ToFail(CommitId, CommitId, Vec<WorkPath>),
    /// The result with the tests of before, or nothing to try, and the changes of tests that the goal orders.
    OldTests(Option<CommitId>, Vec<String>),
    /// Trees with altered expectations, tried one after the other; at least one.
    Altered(Vec<Variant>),
    /// The result with moved tests.
    Moved(Moves),
    /// The parts of the change with the mutants of each, and the names that changed or went as the goal orders it.
    Mutated(Vec<Vec<InFile>>, Vec<String>),
    /// The trial cannot be made, and why.
    Untried(String),
}

/// The most test files read for one trial: those nearest to the change.
const MOST_FILES: usize = 400;
/// The content of a file that is no program in any language, and no data.
const BROKEN: &str = "<<<<<<< ((( [[[ {{{\n";
/// The most alterations tried one by one.
const MOST_VARIANTS: usize = 4;

impl RunExecutor {
    /// Builds the tree for a check.
    pub(super) async fn tree(&self, job: &Job<'_>) -> Result<Tree, Fault> {
        let commit = job.result;
        Ok(match (&job.check.on, &job.against.base) {
            (Subject::Trial { trial, .. }, Some(base)) => {
                self.trial(job, *trial, commit, base).await?
            }
            (Subject::Without(_), Some(base)) => {
                let edits = self.without(job.against, commit, base).await?;
                self.mix(job, commit, edits, "it changed no code").await?
            }
            (Subject::WithTests, _) => {
                let edits = others(job.against);
                self.mix(job, commit, edits, "there are no such tests").await?
            }
            _ => Tree::Plain(commit.clone()),
        })
    }

    async fn trial(
        &self,
        job: &Job<'_>,
        trial: Trial,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<Tree, Fault> {
        match trial {
            Trial::BaseTests => {
                let (edits, ordered) = self.base_tests(job.against, commit, base).await?;
                if edits.is_empty() {
                    return Ok(Tree::OldTests(None, ordered));
                }
                let mixed = self.mixed(job, commit, &edits).await?;
                Ok(Tree::OldTests(Some(mixed), ordered))
            }
            Trial::NewTests => {
                let edits = self.new_tests(job.against, commit, base).await?;
                let tree = self.mix(job, base, edits, "it brings no test").await?;
                Ok(tree.expecting_failure(commit.clone(), changed_tests(job.against)))
            }
            Trial::Altered => {
                let commit = if job.against.base_tests {
                    let (edits, _) = self.base_tests(job.against, commit, base).await?;
                    self.mixed(job, commit, &edits).await?
                } else {
                    commit.clone()
                };
                self.alter(job, &commit).await
            }
            Trial::OthersWithout => {
                let laid = others(job.against);
                let files = laid.iter().map(|edit| edit.path.clone()).collect();
                let tree = self.mix(job, base, laid, "there are no such tests").await?;
                let (edits, _) = self.with_others(job, commit, base).await?;
                Ok(tree.expecting_failure(self.mixed(job, commit, &edits).await?, files))
            }
            Trial::Others | Trial::OthersAltered => {
                let (edits, ordered) = self.with_others(job, commit, base).await?;
                let mixed = self.mixed(job, commit, &edits).await?;
                if trial == Trial::Others {
                    return Ok(Tree::OldTests(Some(mixed), ordered));
                }
                let files = job.against.others.first().map(|(_, files)| files.as_slice());
                let tests = self.worktrees.repo().texts(&mixed, files.unwrap_or_default()).await?;
                let variant = self.all_altered(job, &mixed, &tests, &[]).await?;
                Ok(variant.map_or_else(nothing_to_alter, |one| Tree::Altered(vec![one])))
            }
            Trial::Mutated => {
                let (parts, ordered) = self.mutants(job.against, commit, base).await?;
                Ok(Tree::Mutated(parts, ordered))
            }
            Trial::Moved => {
                let moves = self.moves(job, commit).await?;
                let untried = || Tree::Untried("no test was found that could be moved".to_owned());
                Ok(moves.map_or_else(untried, Tree::Moved))
            }
        }
    }

    /// What turns the result into one with the tests of before and those by another author.
    async fn with_others(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<(Vec<Edit>, Vec<String>), GitError> {
        let (mut edits, ordered) = self.base_tests(job.against, commit, base).await?;
        edits.extend(others(job.against));
        Ok((edits, ordered))
    }

    async fn mix(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        edits: Vec<Edit>,
        why_not: &str,
    ) -> Result<Tree, GitError> {
        if edits.is_empty() {
            return Ok(Tree::Untried(why_not.to_owned()));
        }
        self.mixed(job, commit, &edits).await.map(Tree::Plain)
    }

    /// A commit with other files, which looks like the result in everything else.
    pub(super) async fn mixed(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        edits: &[Edit],
    ) -> Result<CommitId, GitError> {
        if edits.is_empty() {
            return Ok(commit.clone());
        }
        let mut scratch = self.worktrees.of_check(job.check).into_os_string();
        scratch.push(".mix");
        if let Some(above) = Path::new(&scratch).parent() {
            // Git reports what it cannot write to.
            std::fs::create_dir_all(above).ok();
        }
        self.worktrees.repo().mixed(commit, edits, job.result, scratch.as_ref()).await
    }

    /// Trees with altered expectations in the relevant tests.
    async fn alter(&self, job: &Job<'_>, commit: &CommitId) -> Result<Tree, Fault> {
        let tests = self.test_files(job.against, commit).await?;
        let names = &job.against.tests;
        let all = self.all_altered(job, commit, &tests, names).await?;
        // A planted test shows that the runner runs, not that anything is compared.
        let data = match all.as_ref().is_none_or(|all| all.what.is_empty()) {
            true => self.altered_data(job, commit).await?,
            false => None,
        };
        let Some(all) = all else {
            return Ok(data.map_or_else(nothing_to_alter, |one| Tree::Altered(vec![one])));
        };
        let mut variants = Vec::new();
        if names.is_empty() {
            let own = self.own_report(job.against).await?;
            variants = self.one_by_one(job, commit, tests, own.as_ref()).await?;
        }
        if variants.is_empty() {
            variants.push(all);
        }
        variants.extend(data);
        Ok(Tree::Altered(variants))
    }

    /// A tree in which the expectations of all these tests are altered, or of those with these names.
    async fn all_altered(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        tests: &[(WorkPath, String)],
        names: &[String],
    ) -> Result<Option<Variant>, GitError> {
        let mut edits = Vec::new();
        let (mut must_fail, mut planted, mut what) = (Vec::new(), Vec::new(), Vec::new());
        for (path, text) in tests {
            let of_file: Vec<String> = names
                .iter()
                .filter(|name| text.contains(related::short_name(name)))
                .cloned()
                .collect();
            if !names.is_empty() && of_file.is_empty() {
                continue;
            }
            let Some(altered) = alter::altered(path.as_str(), text, &of_file) else { continue };
            what.extend(described(path, &altered));
            // A runner would not pick up a test added to a file without tests.
            planted.extend(altered.planted.filter(|_| !altered.tests.is_empty()));
            must_fail.extend(altered.tests);
            edits.push(Edit { path: path.clone(), to: EditTo::Text(altered.text) });
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let passing = Some(commit.clone());
        let commit = self.mixed(job, commit, &edits).await?;
        let files = edits.into_iter().map(|edit| edit.path).collect();
        let (alone, of_data) = (None, false);
        Ok(Some(Variant { commit, passing, files, must_fail, planted, what, alone, of_data }))
    }

    /// The tree of a variant in which no program can read the altered files.
    pub(super) async fn broken(
        &self,
        job: &Job<'_>,
        variant: &Variant,
    ) -> Result<CommitId, GitError> {
        let broken =
            |path: &WorkPath| Edit { path: path.clone(), to: EditTo::Text(BROKEN.to_owned()) };
        let edits: Vec<Edit> = variant.files.iter().map(broken).collect();
        self.mixed(job, &variant.commit, &edits).await
    }

    /// The check's report on the result, if it names every test.
    pub(super) async fn own_report(&self, against: &Against) -> Result<Option<TestReport>, Fault> {
        let Some(digest) = &against.own else { return Ok(None) };
        let bytes = self.services.journal.blob(digest).await.map_err(|error| error.fault())?;
        let report: TestReport =
            serde_json::from_slice(&bytes).map_err(|error| Fault::bug(error.to_string()))?;
        Ok(Some(report).filter(|report| report.complete && !report.cases.is_empty()))
    }

    /// If no new test is known, each alteration is tried alone: those in changed files first, then the most telling. A
    /// test that already fails would fail anyway, and one that the check does not run cannot fail; if its report has
    /// none of them, all are tried.
    async fn one_by_one(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        mut tests: Vec<(WorkPath, String)>,
        own: Option<&TestReport>,
    ) -> Result<Vec<Variant>, GitError> {
        let changed = |path: &WorkPath| job.against.changes.0.iter().any(|one| one.path == *path);
        tests.sort_by_key(|(path, _)| !changed(path));
        let fails = |name: &String| {
            job.against.failing.iter().any(|failed| related::short_name(failed) == name)
        };
        let each = |(path, text): &(WorkPath, String)| {
            let all = alter::one_by_one(path.as_str(), text).into_iter();
            all.map(|altered| (path.clone(), altered)).collect::<Vec<_>>()
        };
        let mut all: Vec<(WorkPath, Altered)> = tests.iter().flat_map(each).collect();
        all.retain(|(_, altered)| !altered.tests.iter().any(fails));
        if let Some(own) = own {
            let runs = |name: &String| own.cases.iter().any(|case| case.name.contains(name));
            let run = |(_, altered): &(WorkPath, Altered)| altered.tests.iter().any(runs);
            if all.iter().any(run) {
                all.retain(run);
            }
        }
        let mut variants = Vec::new();
        for (path, mut altered) in all.into_iter().take(MOST_VARIANTS) {
            let what = described(&path, &altered);
            let files = vec![path.clone()];
            let edit = Edit { path, to: EditTo::Text(altered.text) };
            let passing = Some(commit.clone());
            let commit = self.mixed(job, commit, &[edit]).await?;
            let (alone, must_fail, planted) = (altered.tests.pop(), vec![], vec![]);
            let of_data = false;
            variants.push(Variant {
                commit,
                passing,
                files,
                must_fail,
                planted,
                what,
                alone,
                of_data,
            });
        }
        Ok(variants)
    }

    /// The files of a commit with tests or their expected data.
    pub(super) async fn test_files(
        &self,
        against: &Against,
        commit: &CommitId,
    ) -> Result<Vec<(WorkPath, String)>, GitError> {
        let repo = self.worktrees.repo();
        let holds_tests = |path: &WorkPath| {
            kind(path, &against.test_files) == FileKind::Test || path.as_str().ends_with(".rs")
        };
        let mut paths: Vec<WorkPath> =
            repo.paths(commit).await?.into_iter().filter(holds_tests).collect();
        paths.sort_by_cached_key(|path| Reverse(nearness(path, &against.changes)));
        paths.truncate(MOST_FILES);
        let texts = repo.texts(commit, &paths).await?;
        let with_tests = |(path, text): &(WorkPath, String)| {
            kind(path, &against.test_files) == FileKind::Test
                || text.contains("#[test]")
                || text.contains("#[cfg(test)]")
        };
        Ok(texts.into_iter().filter(with_tests).collect())
    }

    /// Failing tests unrelated to the change.
    pub(super) async fn unrelated(
        &self,
        failing: &[String],
        commit: &CommitId,
        against: &Against,
    ) -> Result<Vec<String>, Fault> {
        let tests = self.test_files(against, commit).await?;
        let tests: Vec<(String, String)> =
            tests.into_iter().map(|(path, text)| (path.to_string(), text)).collect();
        let changed: Vec<String> =
            against.changes.0.iter().map(|change| change.path.to_string()).collect();
        Ok(related::unrelated(failing, &tests, &changed))
    }

    /// Names in the goal that nothing in the merged result has.
    pub(super) async fn left_out(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
    ) -> Result<Vec<String>, Fault> {
        let merged = job.check.on == Subject::Merged;
        let Some(goal) = job.against.goal.as_deref().filter(|_| merged) else { return Ok(vec![]) };
        if evidence::signs::named_things(goal).is_empty() {
            return Ok(vec![]);
        }
        let tests = &job.against.test_files;
        let repo = self.worktrees.repo();
        let mut paths = repo.paths(commit).await?;
        paths.retain(|path| kind(path, tests) != FileKind::Document);
        let texts = repo.texts(commit, &paths).await?;
        let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        Ok(evidence::signs::left_out(goal, &texts))
    }
}

/// How many folders a path has in common with a changed file.
pub(super) fn nearness(path: &WorkPath, changes: &Changes) -> usize {
    let common = |change: &FileChange| {
        let (one, other) = (path.as_str().split('/'), change.path.as_str().split('/'));
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    changes.0.iter().map(common).max().unwrap_or_default()
}

impl Tree {
    /// The tree of a trial that should fail; without such files it cannot be narrowed.
    fn expecting_failure(self, passing: CommitId, wanted: Vec<WorkPath>) -> Self {
        match self {
            Self::Plain(commit) if !wanted.is_empty() => Self::ToFail(commit, passing, wanted),
            tree => tree,
        }
    }
}

/// The test files that the change brings or changes.
fn changed_tests(against: &Against) -> Vec<WorkPath> {
    let is_there = |change: &&FileChange| {
        change.how != ChangeKind::Deleted
            && kind(&change.path, &against.test_files) == FileKind::Test
    };
    against.changes.0.iter().filter(is_there).map(|change| change.path.clone()).collect()
}

fn nothing_to_alter() -> Tree {
    Tree::Untried("no expectation was found that could be altered".to_owned())
}
