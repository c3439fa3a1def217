//! Runs a check on a fresh checkout, which is removed afterwards. Reads the reports of its test runners and compares
//! them with earlier ones; the result is evaluated elsewhere.

mod expected;
mod job;
mod mix;
mod moved;
mod mutated;
mod narrow;
mod ordered;
mod trial;
mod variant;

use std::path::Path;

use evidence::report;
use sandbox::{Environment as _, GlobRequest, LocalEnvironment, MAX_OUTPUT};
use tokio_util::sync::CancellationToken;
use types::{
    CheckEnd, CommitId, Ended, ExecRequest, ExecResult, Fault, LogId, Millis, Outcome, SessionId,
    Subject, TestReport, Tests, WorkPath,
};

use super::exact::is_whole;
use super::kept_whole;
use super::output_capture::OutputCapture;
use super::run_executor::RunExecutor;
use crate::check_trees::{CheckOf, CheckTree};
use crate::sandbox_factory::{SandboxSpec, Whose};
use job::{MOST_NAMES, Ran, counts, names, untried};
use narrow::ToFail;
use trial::Tree;
use variant::Variant;

pub(super) use job::Job;

/// The folder for test reports: one that pytest creates and ignores by itself.
const REPORTS: &str = ".pytest_cache/reports";
/// The most report files that are read for each pattern, and the most bytes of each and of all.
const MOST_FILES: usize = 200;
const MOST_BYTES: usize = 4 * 1024 * 1024;
const MOST_IN_ALL: usize = 64 * 1024 * 1024;
/// Slower checks get only one alteration.
const LONG: Millis = Millis::seconds(15);

impl RunExecutor {
    pub(super) async fn check(&self, job: Job<'_>) -> Result<Outcome, Fault> {
        is_whole(&job.what.command)?;
        if let Some(known) = self.known(&job).await? {
            return Ok(Outcome::Check(Box::new(known)));
        }
        let end = match self.tree(&job).await? {
            Tree::Untried(why) => untried(why),
            Tree::OldTests(None, ordered) => {
                let why = match ordered.is_empty() {
                    true => "no test of before was changed",
                    false => "no test of before was changed, but as the goal says",
                };
                CheckEnd { ordered, ..untried(why.to_owned()) }
            }
            Tree::OldTests(Some(commit), ordered) => {
                CheckEnd { ordered, ..self.plain(&job, &commit).await? }
            }
            Tree::Plain(commit) => self.plain(&job, &commit).await?,
            Tree::ToFail(commit, passing, wanted) => {
                let (commit, passing, wanted) = (&commit, &passing, &wanted[..]);
                self.to_fail(&job, ToFail { commit, passing, wanted, planted: &[] }).await?
            }
            Tree::Altered(variants) => self.altered(&job, variants).await?,
            Tree::Moved(moves) => self.moved(&job, moves).await?,
            Tree::Mutated(parts, ordered) => {
                CheckEnd { ordered, ..self.mutated(&job, parts).await? }
            }
        };
        Ok(Outcome::Check(Box::new(end)))
    }

    /// How the check ended on the same files, if it did.
    async fn known(&self, job: &Job<'_>) -> Result<Option<CheckEnd>, Fault> {
        let Some(end) = job.against.known.as_deref() else { return Ok(None) };
        let Some(commit) = &end.same_as else { return Ok(None) };
        if !self.worktrees.repo().same_files(commit, job.result).await? {
            return Ok(None);
        }
        let left_out = self.left_out(job, job.result).await?;
        Ok(Some(CheckEnd { left_out, elapsed_ms: Millis(0), ..end.clone() }))
    }

    async fn plain(&self, job: &Job<'_>, commit: &CommitId) -> Result<CheckEnd, Fault> {
        let ran = self.run_at(job, commit).await?;
        self.judged(job, commit, ran).await
    }

    /// Runs the check where tests should fail.
    async fn to_fail(&self, job: &Job<'_>, trial: ToFail<'_>) -> Result<CheckEnd, Fault> {
        let (narrowed, spent) = self.narrowed(job, trial).await?;
        if let Some(ran) = narrowed {
            let tests = ran.report.map(|report| Box::new(counts(&report)));
            return Ok(CheckEnd { narrowed: true, elapsed_ms: spent, tests, ..ran.end });
        }
        let end = self.plain(job, trial.commit).await?;
        Ok(CheckEnd { elapsed_ms: end.elapsed_ms.plus(spent), ..end })
    }

    /// Runs the check on a tree with altered expectations, or a part of it; returns the time that all this took, too.
    async fn on_variant(
        &self,
        job: &Job<'_>,
        variant: &Variant,
    ) -> Result<(Ran, Millis, bool), Fault> {
        let Variant { commit, passing, files, planted, .. } = variant;
        let (mut narrowed, mut spent) = (None, Millis(0));
        if let Some(passing) = passing {
            let trial = ToFail { commit, passing, wanted: files, planted };
            (narrowed, spent) = self.narrowed(job, trial).await?;
        }
        if let Some(ran) = narrowed.filter(|ran| variant.is_noticed(ran, &job.against.failing)) {
            return Ok((ran, spent, true));
        }
        let ran = self.run_at(job, commit).await?;
        let spent = spent.plus(ran.end.elapsed_ms);
        Ok((ran, spent, false))
    }

    /// Runs the check on each altered tree until one goes unnoticed.
    async fn altered(&self, job: &Job<'_>, variants: Vec<Variant>) -> Result<CheckEnd, Fault> {
        let mut last: Option<CheckEnd> = None;
        for variant in variants {
            let (ran, spent, narrowed) = self.on_variant(job, &variant).await?;
            let mut end = CheckEnd { elapsed_ms: spent, narrowed, ..ran.end };
            end.unnoticed = variant.unnoticed(&end, ran.report.as_ref(), &job.against.failing);
            if variant.says_nothing(&end, ran.report.as_ref()) {
                end.untried = Some("the altered tests cannot be run".to_owned());
            }
            if variant.of_data && !end.unnoticed.is_empty() {
                // Nobody knows whether a test compares this value.
                end.unnoticed.clear();
                end.untried = Some("no expectation was found that tests compare".to_owned());
            }
            let missed = !end.unnoticed.is_empty();
            if missed && ran.report.is_none() {
                let broken = self.broken(job, &variant).await?;
                let without = self.run_at(job, &broken).await?.end;
                end.elapsed_ms = end.elapsed_ms.plus(without.elapsed_ms);
                if without.passed() {
                    end.untried = Some("it does not read the tests that were altered".to_owned());
                }
            }
            let elapsed = last.as_ref().map_or(Millis(0), |last| last.elapsed_ms);
            end.elapsed_ms = end.elapsed_ms.plus(elapsed);
            end.tests = ran.report.map(|report| Box::new(counts(&report)));
            let long = end.elapsed_ms > LONG;
            last = Some(end);
            // For slow checks one alteration suffices.
            if missed || long {
                break;
            }
        }
        last.ok_or_else(|| Fault::bug("an altered tree without a variant"))
    }

    /// Runs the command on a fresh checkout of a commit, and removes the checkout.
    async fn run_at(&self, job: &Job<'_>, commit: &CommitId) -> Result<Ran, Fault> {
        let place = self.worktrees.of_check(job.check);
        let ran = self.run_ready(job, commit, &place).await;
        let removed = self.worktrees.repo().remove_checkout(&place);
        let ran = ran?;
        removed?;
        Ok(ran)
    }

    async fn run_ready(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        place: &Path,
    ) -> Result<Ran, Fault> {
        let prepared = self.preparations.prepare(commit, &job.against.setup).await?;
        let mut what = CheckOf {
            on: &job.check.on,
            command: &job.what.command,
            result: job.result,
            again: false,
        };
        let sandboxes = &self.services.sandboxes;
        let tree = self.trees.lay_out(sandboxes, place, &what, commit, &prepared).await?;
        let mut ran = self.run_in(job, &tree, commit).await?;
        if ran.kept {
            // Some checks work only in a fresh checkout. Those must not fail later because of what is kept.
            what.again = true;
            let tree = self.trees.lay_out(sandboxes, place, &what, commit, &prepared).await?;
            if !ran.is_like(&self.run_in(job, &tree, commit).await?) {
                tracing::info!(check = job.what.name, "does not work on its own build output");
                self.trees.give_up(&job.what.command).await?;
            }
        }
        // Incomplete preparation may be the cause.
        let notes = prepared.notes();
        if !notes.is_empty()
            && !ran.end.passed()
            && ran.report.is_none()
            && job.check.on == Subject::Base
        {
            let notes = notes.join("; ");
            let why = ran.end.cannot_run.take();
            ran.end.cannot_run = Some(why.map_or(notes.clone(), |why| format!("{why}; {notes}")));
        }
        Ok(ran)
    }

    async fn run_in(
        &self,
        job: &Job<'_>,
        tree: &CheckTree,
        commit: &CommitId,
    ) -> Result<Ran, Fault> {
        let spec = SandboxSpec {
            folder: &tree.folder,
            whose: Whose::Ours,
            repo: Some(self.worktrees.repo()),
            start: Some(commit),
            // A check may write anywhere in its own checkout, as builds do.
            scope: None,
            isolation: job.isolation,
            policy: &self.policy.sandbox,
            checks: &self.policy.checks,
            own_check: Some(job.what),
            ready: Some(&tree.ready),
            layers: tree.layers.as_ref(),
        };
        let log = LogId::run(self.run.clone());
        let output_capture = OutputCapture::new(
            log,
            (SessionId::ROOT, None),
            self.services.hub.clone(),
            self.services.redactor.clone(),
        )
        .of_check(job.check.clone());
        let reports = tree.seen_at.join(REPORTS);
        let wanted = report::variables(&reports.to_string_lossy());
        let env = self.services.sandboxes.open(spec).await?.heard_by(output_capture.listener());
        let env = wanted.iter().fold(env, |env, (name, value)| env.telling(name, value));
        let timeout = job.what.timeout_ms.unwrap_or(self.policy.limits.check_timeout_ms);
        let command = job.what.command.clone();
        let request = ExecRequest::new(command, WorkPath::root(), timeout);
        // Uses the injected clock, so that reproducible runs record the same times.
        let began = self.services.clock.now();
        let result = env.exec(request, job.stop).await?;
        let elapsed_ms = self.services.clock.now().since(began);
        let files = report_files(&env).await;
        let report = report::read(&result.output, &files);
        let cannot_run = self.cannot_run(job, &result, report.as_ref()).await?;
        let rewrote = self.trees.rewritten(tree).await?;
        let mut kept = false;
        if job.check.on == Subject::Base && elapsed_ms >= self.policy.verify.warm_from_ms {
            let reports = files.iter().filter_map(|(path, _)| path.parse().ok()).collect();
            kept = self.trees.keep(tree, &job.what.command, &result.ended, reports).await?;
        }
        let shown = self.policy.limits.report_chars;
        let whole = output_capture.whole_above(MAX_OUTPUT);
        let (text, blob) =
            kept_whole(&self.services, result.output, whole, |text| text.len() > shown).await?;
        let output = rules::truncate::report(&text, shown, blob);
        let cold = !tree.is_warm && is_of_result(&job.check.on);
        let end = CheckEnd::new(result.ended, output, elapsed_ms);
        let end = CheckEnd { cannot_run, rewrote, cold, ..end };
        Ok(Ran { end, report, kept })
    }

    /// Why the check cannot run here at all. Only on the untouched tree is it certain that no attempt is the cause.
    async fn cannot_run(
        &self,
        job: &Job<'_>,
        result: &ExecResult,
        report: Option<&TestReport>,
    ) -> Result<Option<String>, Fault> {
        if job.check.on != Subject::Base {
            return Ok(None);
        }
        if result.passed() {
            let empty = report.filter(|report| report::ran_nothing(report));
            let says = |runner: &str| format!("{runner} found no tests, so its pass says nothing");
            return Ok(empty.map(|report| says(&report.runner)));
        }
        let exit = match result.ended {
            Ended::Exited(code) => Some(code),
            _ => None,
        };
        let repo = self.worktrees.repo();
        let paths = repo.paths(&self.base).await?;
        let manifests: Vec<WorkPath> =
            paths.iter().filter(|path| report::is_manifest(path.as_str())).cloned().collect();
        let manifests = repo.texts(&self.base, &manifests).await?;
        // A module that no manifest names belongs to the repository, existing or not.
        let own = |name: &str| {
            let module = name.split('.').next().unwrap_or(name);
            let is_file = |path: &WorkPath| {
                let mut parts = path.as_str().split('/');
                parts.any(|part| part == module || part.starts_with(&format!("{module}.")))
            };
            let declared = manifests.iter().any(|(_, text)| report::declares(text, name));
            // Python prints exactly this only for the module it was started with.
            let missing = format!(": No module named {name}");
            let called = result.output.lines().any(|line| {
                line.trim_end().ends_with(&missing) && !line.starts_with("ModuleNotFoundError")
            });
            paths.iter().any(is_file) || !(declared || called || report::is_runner(module))
        };
        let why = report::cannot_run(exit, &result.output, &own);
        Ok(why.or_else(|| exit.and_then(|exit| not_found(exit, &result.output))))
    }

    /// The end of a check with its report, compared with the earlier report.
    async fn judged(&self, job: &Job<'_>, commit: &CommitId, ran: Ran) -> Result<CheckEnd, Fault> {
        let mut end = ran.end;
        if let Some(report) = ran.report {
            end.tests = Some(Box::new(self.tests(job, commit, &report).await?));
        }
        end.left_out = self.left_out(job, commit).await?;
        Ok(end)
    }

    async fn tests(
        &self,
        job: &Job<'_>,
        commit: &CommitId,
        report: &TestReport,
    ) -> Result<Tests, Fault> {
        let mut tests = counts(report);
        let json = serde_json::to_string(report).map_err(|error| Fault::bug(error.to_string()))?;
        let json = self.services.redactor.scrub(&json);
        let blob = self.services.journal.put_blob(json.as_bytes()).await;
        tests.all = Some(blob.map_err(|error| error.fault())?);
        let Some(digest) = &job.against.report else { return Ok(tests) };
        let bytes = self.services.journal.blob(digest).await.map_err(|error| error.fault())?;
        let before: TestReport =
            serde_json::from_slice(&bytes).map_err(|error| Fault::bug(error.to_string()))?;
        let compared = report::compare(&before, report);
        let failed_before: Vec<&str> = names(&before, types::TestOutcome::Failed).collect();
        let mended = compared.won.iter().filter(|name| failed_before.contains(&name.as_str()));
        tests.mended = u32::try_from(mended.count()).unwrap_or(u32::MAX);
        let old: Vec<String> = tests
            .failing
            .iter()
            .filter(|name| failed_before.contains(&name.as_str()))
            .cloned()
            .collect();
        if !old.is_empty() && job.against.base.is_some() {
            tests.excused = self.unrelated(&old, commit, job.against).await?;
        }
        // A file that could not be loaded before is not a missing test.
        let silenced = compared.silenced.into_iter().filter(|name| !report::is_whole_file(name));
        let gone = compared.lost.into_iter().chain(silenced);
        tests.lost = gone.take(MOST_NAMES).collect();
        tests.won = compared.won.into_iter().take(MOST_NAMES).collect();
        Ok(tests)
    }
}

/// Whether a check runs on a result as it is.
const fn is_of_result(on: &Subject) -> bool {
    matches!(on, Subject::Attempt(_) | Subject::Landed(_) | Subject::Merged)
}

/// A missing or non-executable command, recognised by the shell's exit code alone.
fn not_found(exit: i32, output: &str) -> Option<String> {
    let what = match exit {
        127 => "a command that it needs is not found",
        126 => "a command that it needs cannot be run",
        _ => return None,
    };
    let last = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Some(format!("{what} (exit {exit}): {}", types::one_line(last, 200)))
}

/// The existing report files of test runners.
async fn report_files(env: &LocalEnvironment) -> Vec<(String, String)> {
    let (mut found, mut left) = (Vec::new(), MOST_IN_ALL);
    let everywhere = report::report_files().iter().map(|pattern| (*pattern, WorkPath::root()));
    // Named by its path, our own folder is read even if the repository ignores it.
    let own = REPORTS.parse().ok().map(|folder| ("*", folder));
    for (pattern, path) in everywhere.chain(own) {
        let request = GlobRequest { pattern: pattern.to_owned(), path, max: MOST_FILES };
        let Ok(paths) = env.glob(request, &CancellationToken::new()).await else { continue };
        for path in paths.items {
            let Ok(bytes) = env.read(&path).await else { continue };
            let fits = bytes.len() <= MOST_BYTES && bytes.len() <= left;
            if let (true, Ok(text)) = (fits, String::from_utf8(bytes)) {
                left -= text.len();
                found.push((path.to_string(), text));
            }
        }
    }
    found
}
