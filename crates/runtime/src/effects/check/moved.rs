//! The trial with moved tests: the test files that matter, with their tests in another order, on other lines and under
//! another name; and without the other test files, where the runner names its tests. What fails there is tried on the base
//! as well, because some tests build on each other. `evidence` moves the tests, and the engine says what follows.

use std::collections::BTreeMap;

use evidence::files::FileKind;
use evidence::{moved, related, report};
use sandbox::{Edit, EditTo};
use types::{CheckEnd, CommitId, Fault, TestOutcome, TestReport, WorkPath, count};

use super::job::{Job, counts};
use super::mix::kind;
use crate::effects::run_executor::RunExecutor;

/// The most files whose tests are moved.
const MOST_FILES: usize = 40;
/// The most bytes of texts that are searched for names of test files. In a larger tree the files keep their names.
const MOST_BYTES: usize = 20_000_000;

/// The moves of a trial.
pub(super) struct Moves {
    files: Vec<MovedFile>,
    /// Test files that are left out.
    without: Vec<WorkPath>,
}

struct MovedFile {
    from: WorkPath,
    to: WorkPath,
    moved: moved::Moved,
}

impl Moves {
    fn edits(&self) -> Vec<Edit> {
        let gone = self.files.iter().filter(|file| file.from != file.to).map(|file| &file.from);
        let gone = gone.chain(&self.without).cloned();
        let gone = gone.map(|path| Edit { path, to: EditTo::Gone });
        let new = self.files.iter().map(|file| {
            let to = EditTo::Text(file.moved.text.clone());
            Edit { path: file.to.clone(), to }
        });
        gone.chain(new).collect()
    }

    /// The names of the moved tests: before, by what they are called now.
    fn names(&self) -> BTreeMap<&str, &str> {
        let tests = self.files.iter().flat_map(|file| &file.moved.tests);
        tests.map(|(before, now)| (now.as_str(), before.as_str())).collect()
    }

    fn says(&self) -> Vec<String> {
        let turned = |file: &MovedFile| if file.moved.reordered { ", turned round" } else { "" };
        let files = self.files.iter().map(|file| match file.from == file.to {
            true => format!("{}{}", file.from, turned(file)),
            false => format!("{} as {}{}", file.from, file.to, turned(file)),
        });
        let left = u64::try_from(self.without.len()).unwrap_or(u64::MAX);
        let left = (left > 0).then(|| format!("without {}", count(left, "other test file")));
        files.chain(left).collect()
    }
}

impl RunExecutor {
    /// How the tests that matter are moved: those that pass now and did not before, or that the change brings; else those
    /// of the changed code.
    pub(super) async fn moves(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
    ) -> Result<Option<Moves>, Fault> {
        let against = job.against;
        let tests = self.test_files(against, commit).await?;
        let changed = |path: &WorkPath| against.changes.0.iter().any(|one| one.path == *path);
        let won = |text: &str| {
            let short = |name: &String| text.contains(related::short_name(name));
            against.tests.iter().any(short)
        };
        let is_own = |(path, text): &&(WorkPath, String)| changed(path) || won(text);
        let mut matter: Vec<&(WorkPath, String)> = tests.iter().filter(is_own).collect();
        if matter.is_empty() {
            let paths: Vec<String> =
                against.changes.0.iter().map(|change| change.path.to_string()).collect();
            matter.extend(tests.iter().filter(|(_, text)| related::mentions(text, &paths)));
        }
        matter.truncate(MOST_FILES);
        let repo = self.worktrees.repo();
        let mut paths = repo.paths(commit).await?;
        paths.retain(|path| kind(path, &against.test_files) != FileKind::Document);
        let texts = repo.texts(commit, &paths).await?;
        let small = texts.iter().map(|(_, text)| text.len()).sum::<usize>() <= MOST_BYTES;
        let all = || texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let command = &job.what.command;
        let mut files = Vec::new();
        for (path, text) in matter {
            let Some(moved) = moved::moved(path.as_str(), text) else { continue };
            let to = Some(path).filter(|_| small);
            let to = to.and_then(|path| moved::other_path(path.as_str(), text, command, all()));
            let to = to.and_then(|to| to.parse().ok()).unwrap_or_else(|| path.clone());
            files.push(MovedFile { from: path.clone(), to, moved });
        }
        if files.is_empty() {
            return Ok(None);
        }
        let mut moves = Moves { files, without: vec![] };
        if small && tests.len() <= MOST_FILES && self.own_report(against).await?.is_some() {
            let stays = |path: &WorkPath| moves.files.iter().any(|file| file.from == *path);
            let alone = tests.iter().filter(|(path, text)| {
                !stays(path)
                    && moved::can_stand_apart(path.as_str(), text)
                    && !moved::is_named(path.as_str(), command)
                    && !all().any(|(of, text)| {
                        of != path.as_str() && moved::is_named(path.as_str(), text)
                    })
            });
            moves.without = alone.map(|(path, _)| path.clone()).collect();
        }
        Ok(Some(moves))
    }

    /// Runs the check with moved tests, and once more on the base if old ones fail.
    pub(super) async fn moved(&self, job: &Job<'_>, moves: Moves) -> Result<CheckEnd, Fault> {
        let commit = self.mixed(job, job.result, &moves.edits()).await?;
        let ran = self.run_at(job, &commit).await?;
        let own = self.own_report(job.against).await?;
        let mut end = CheckEnd { moved: moves.says(), ..ran.end };
        let Some(now) = ran.report else {
            end.untried = Some("the moved tests cannot be run".to_owned());
            return Ok(end);
        };
        let names = moves.names();
        let mut lost = failing(&now, own.as_ref(), &job.against.failing, &names);
        if !runs_any(&now, &names) || report::lacks_names(&end.output.text) {
            end.untried = Some("the moved tests cannot be run".to_owned());
        }
        if end.untried.is_none() && !lost.is_empty() {
            let before = self.moved_on_base(job, &moves).await?;
            if let Some((elapsed, before)) = before {
                end.elapsed_ms = end.elapsed_ms.plus(elapsed);
                lost.retain(|name| !before.contains(name));
            }
        }
        let mut tests = counts(&now);
        tests.lost = lost;
        end.tests = Some(Box::new(tests));
        Ok(end)
    }

    /// The tests of before that fail when they are moved on the base, and how long that took. Those that fail there anyway
    /// depend on the change, not on their order.
    async fn moved_on_base(
        &self,
        job: &Job<'_>,
        moves: &Moves,
    ) -> Result<Option<(types::Millis, Vec<String>)>, Fault> {
        let Some(base) = &job.against.base else { return Ok(None) };
        let paths: Vec<WorkPath> = moves.files.iter().map(|file| file.from.clone()).collect();
        let texts = self.worktrees.repo().texts(base, &paths).await?;
        let mut files = Vec::new();
        for file in &moves.files {
            let text = texts.iter().find(|(path, _)| *path == file.from);
            let moved = text.and_then(|(path, text)| moved::moved(path.as_str(), text));
            let Some(moved) = moved else { continue };
            files.push(MovedFile { from: file.from.clone(), to: file.to.clone(), moved });
        }
        if files.is_empty() {
            return Ok(None);
        }
        let there = self.worktrees.repo().paths(base).await?;
        let without = moves.without.iter().filter(|path| there.contains(path)).cloned().collect();
        let moves = Moves { files, without };
        let commit = self.mixed(job, base, &moves.edits()).await?;
        let ran = self.run_at(job, &commit).await?;
        let Some(now) = ran.report else { return Ok(None) };
        let before = self.base_report(job).await?;
        let known: Vec<String> = before.as_ref().map(failed_names).unwrap_or_default();
        let lost = failing(&now, before.as_ref(), &known, &moves.names());
        Ok(Some((ran.end.elapsed_ms, lost)))
    }

    async fn base_report(&self, job: &Job<'_>) -> Result<Option<TestReport>, Fault> {
        let Some(digest) = &job.against.report else { return Ok(None) };
        let bytes = self.services.journal.blob(digest).await.map_err(|error| error.fault())?;
        let report = serde_json::from_slice(&bytes);
        report.map(Some).map_err(|error| Fault::bug(error.to_string()))
    }
}

/// The moved tests that fail more often than where they stood.
fn failing(
    now: &TestReport,
    before: Option<&TestReport>,
    failing_before: &[String],
    names: &BTreeMap<&str, &str>,
) -> Vec<String> {
    let failed = failed_names(now);
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &failed {
        if let Some(name) = names.get(related::short_name(name)) {
            *by_name.entry(name).or_default() += 1;
        }
    }
    let known = |name: &str| match before {
        Some(before) => {
            failed_names(before).iter().filter(|one| related::short_name(one) == name).count()
        }
        None => failing_before.iter().filter(|one| related::short_name(one) == name).count(),
    };
    let more = by_name.into_iter().filter(|(name, many)| *many > known(name));
    more.map(|(name, _)| name.to_owned()).collect()
}

fn failed_names(report: &TestReport) -> Vec<String> {
    let failed = report.cases.iter().filter(|case| case.outcome == TestOutcome::Failed);
    failed.map(|case| case.name.clone()).collect()
}

/// Whether any moved test ran, as far as the report names its tests.
fn runs_any(now: &TestReport, names: &BTreeMap<&str, &str>) -> bool {
    let named = now.cases.iter().any(|case| names.contains_key(related::short_name(&case.name)));
    named || now.passed > 0 && !now.cases.iter().any(|case| case.outcome == TestOutcome::Passed)
}
