//! Trials that should fail, on trees without the test files that they do not need, where a check takes long. Such a trial
//! counts only if in a tree like it the same tests pass with the result, and if they fail, each by its name. Everything
//! else is left to a trial on the whole tree: a narrowed one never shows what that would not.

use evidence::files::{self, FileKind};
use evidence::{related, report};
use sandbox::{Edit, EditTo};
use types::{CommitId, Fault, Millis, TestOutcome, TestReport, WorkPath};

use super::job::{Job, Ran, counts, names};
use super::mix::kind;
use crate::effects::run_executor::RunExecutor;

/// More test files than this are not read.
const MOST_FILES: usize = 2000;

/// A tree for a trial, the same tree with tests that pass, and the test files that the trial is about.
#[derive(Clone, Copy)]
pub(super) struct ToFail<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) passing: &'a CommitId,
    pub(super) wanted: &'a [WorkPath],
    /// Planted tests, which fail and are in no other tree.
    pub(super) planted: &'a [String],
}

impl RunExecutor {
    /// Runs a trial on a narrowed tree, if that tells enough; and the time that this took.
    pub(super) async fn narrowed(
        &self,
        job: &Job<'_>,
        trial: ToFail<'_>,
    ) -> Result<(Option<Ran>, Millis), Fault> {
        if !job.against.narrow {
            return Ok((None, Millis(0)));
        }
        let gone = self.needless(job, trial).await?;
        if gone.is_empty() {
            return Ok((None, Millis(0)));
        }
        let passing = self.mixed(job, trial.passing, &gone).await?;
        let (control, spent) = self.control(job, passing).await?;
        let Some(control) = control else { return Ok((None, spent)) };
        let commit = self.mixed(job, trial.commit, &gone).await?;
        let ran = self.run_at(job, &commit).await?;
        let spent = spent.plus(ran.end.elapsed_ms);
        Ok((Some(ran).filter(|ran| tells(ran, &control, trial)), spent))
    }

    /// The removal of the test files that are not needed.
    async fn needless(&self, job: &Job<'_>, trial: ToFail<'_>) -> Result<Vec<Edit>, Fault> {
        let repo = self.worktrees.repo();
        let mut paths = repo.paths(trial.passing).await?;
        paths.retain(|path| {
            let kind = kind(path, &job.against.test_files);
            matches!(kind, FileKind::Test | FileKind::Recipe) || report::is_manifest(path.as_str())
        });
        if paths.len() > MOST_FILES {
            return Ok(vec![]);
        }
        let texts = repo.texts(trial.passing, &paths).await?;
        let gone = files::needless(texts, trial.wanted, &job.what.command);
        Ok(gone.into_iter().map(|path| Edit { path, to: EditTo::Gone }).collect())
    }

    /// The report on a narrowed tree whose tests have to pass; `None` if they do not, or if that is not much quicker.
    async fn control(
        &self,
        job: &Job<'_>,
        commit: CommitId,
    ) -> Result<(Option<TestReport>, Millis), Fault> {
        let mut known = self.control.lock().await;
        if let Some((_, report)) = known.as_ref().filter(|(of, _)| *of == commit) {
            return Ok((report.clone(), Millis(0)));
        }
        let ran = self.run_at(job, &commit).await?;
        let spent = ran.end.elapsed_ms;
        let quick = spent.0.saturating_mul(3) <= job.against.took_ms.0;
        let passes = |report: &TestReport| {
            report.complete && report.failed == 0 && names(report, TestOutcome::Passed).count() > 0
        };
        let report = ran.report.filter(|report| ran.end.passed() && quick && passes(report));
        *known = Some((commit, report.clone()));
        Ok((report, spent))
    }
}

/// Whether a narrowed trial shows what a whole one would: tests fail that pass in the control, or files cannot be loaded
/// that it is about, and nothing else.
fn tells(ran: &Ran, control: &TestReport, trial: ToFail<'_>) -> bool {
    let Some(report) = ran.report.as_ref().filter(|_| !ran.end.passed()) else { return false };
    let passes = |name: &str| names(control, TestOutcome::Passed).any(|one| one == name);
    let is_file = |name: &str| {
        let short = related::short_name(name);
        let stem = |path: &WorkPath| {
            let name = path.as_str().rsplit('/').next().unwrap_or_default();
            name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
        };
        trial.wanted.iter().any(|path| path.as_str() == name || stem(path) == short)
    };
    let is_planted = |name: &str| trial.planted.iter().any(|one| related::short_name(name) == one);
    counts(report).names_all_failing()
        && names(report, TestOutcome::Failed)
            .all(|name| passes(name) || is_planted(name) || is_file(name))
}

#[cfg(test)]
mod tests {
    use types::{CheckEnd, Ended, Shown, TestCase};

    use super::*;

    fn reported(cases: &[(&str, TestOutcome)]) -> TestReport {
        let count = |outcome| {
            u32::try_from(cases.iter().filter(|(_, one)| *one == outcome).count()).expect("few")
        };
        let case = |(name, outcome): &(&str, TestOutcome)| TestCase {
            name: (*name).to_owned(),
            outcome: *outcome,
        };
        TestReport {
            runner: "pytest".to_owned(),
            complete: true,
            passed: count(TestOutcome::Passed),
            failed: count(TestOutcome::Failed),
            cases: cases.iter().map(case).collect(),
            ..TestReport::default()
        }
    }

    #[test]
    fn a_narrowed_trial_counts_only_if_tests_fail_that_pass_without_the_others_too() {
        use TestOutcome::{Failed, Passed};
        let control = reported(&[("tests.test_a::new", Passed), ("tests.test_a::odd", Failed)]);
        let (commit, wanted) = (CommitId::default(), ["tests/test_a.py".parse().expect("a path")]);
        let (passing, planted) = (&commit, &["planted".to_owned()][..]);
        let trial = ToFail { commit: &commit, passing, wanted: &wanted, planted };
        for (cases, told) in [
            (vec![("tests.test_a::new", Failed)], true),
            (vec![("tests.test_a::planted", Failed)], true),
            (vec![("tests.test_a::new", Failed), ("tests.test_a::same", Passed)], true),
            // It could not be loaded.
            (vec![("tests.test_a", Failed)], true),
            (vec![("tests/test_a.py", Failed)], true),
            (vec![("tests.test_b", Failed)], false),
            // Something that it needs was left out.
            (vec![("tests.test_a::odd", Failed)], false),
            (vec![("tests.test_a::unknown", Failed)], false),
            (vec![("tests.test_a::new", Passed)], false),
            (vec![], false),
        ] {
            let report = reported(&cases);
            let exit = Ended::Exited(i32::from(report.failed > 0));
            let end = CheckEnd::new(exit, Shown::default(), Millis(1));
            let ran = Ran { end, report: Some(report), kept: false };
            assert_eq!(tells(&ran, &control, trial), told, "{cases:?}");
        }
    }
}
