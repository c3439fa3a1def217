//! The trial with mutants: the result with one fault in a changed line, part by part, until a fault in each part is
//! noticed. Which faults there are is decided by `evidence`, and what follows by the engine.

use evidence::files::{self, FileKind};
use evidence::mutate;
use sandbox::{Edit, EditTo};
use types::{
    Against, ChangeKind, Check, CheckEnd, CommitId, Ended, Fault, FileChange, Millis, TestReport,
    WorkPath,
};

use super::job::{Job, Ran, counts, untried};
use super::variant::InFile;
use crate::effects::run_executor::RunExecutor;
use crate::effects::signs::text_of;

/// The most parts of a change that are tried, taken evenly from all of them.
const MOST_PARTS: usize = 6;
/// A mutant gets so many times what the check took, and at least this.
const LONGER: u64 = 3;
const AT_LEAST: Millis = Millis::seconds(5);

/// What a check makes of a mutant.
enum Seen {
    Noticed,
    Missed,
    /// It could not be built or loaded, so no test had to notice.
    Nothing,
}

impl RunExecutor {
    /// The mutants of the changed code, part by part.
    pub(super) async fn mutants(
        &self,
        against: &Against,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<(Vec<Vec<InFile>>, Vec<String>), Fault> {
        let of_code = |change: &&FileChange| {
            change.how != ChangeKind::Deleted
                && !change.only_comments
                && files::kind_of(change, &against.test_files) == FileKind::Code
        };
        let paths: Vec<WorkPath> =
            against.changes.0.iter().filter(of_code).map(|change| change.path.clone()).collect();
        let gone = |change: &&FileChange| change.how == ChangeKind::Deleted;
        let gone = against.changes.0.iter().filter(gone).count();
        let repo = self.worktrees.repo();
        let (old, new) = (repo.texts(base, &paths).await?, repo.texts(commit, &paths).await?);
        let orders = self.orders(against, commit, base).await?;
        let (mut parts, mut ordered, mut exported) = (Vec::new(), Vec::new(), Some(Vec::new()));
        for (path, text) in &new {
            let before = text_of(&old, path).unwrap_or_default();
            let (before, renamed) = orders.renamed_file(before, text);
            ordered.extend(renamed);
            let names = orders.exported(path.as_str(), &before, text);
            exported = exported.zip(names).map(|(all, names)| [all, names].concat());
            for part in mutate::mutants(path.as_str(), &before, text) {
                let in_file = |mutant| InFile { path: path.clone(), mutant };
                parts.push(part.into_iter().map(in_file).collect());
            }
        }
        if ordered.is_empty() {
            ordered = orders.removed();
        }
        if ordered.is_empty() && parts.is_empty() && gone == 0 {
            ordered = exported.unwrap_or_default();
        }
        let known = |(path, text): &(WorkPath, String)| mutate::is_known(path.as_str(), text);
        if !new.iter().all(known) {
            ordered.clear();
        }
        ordered.sort();
        ordered.dedup();
        Ok((evenly(parts), ordered))
    }

    /// Runs the check on one mutant after the other.
    pub(super) async fn mutated(
        &self,
        job: &Job<'_>,
        parts: Vec<Vec<InFile>>,
    ) -> Result<CheckEnd, Fault> {
        let took = job.against.took_ms.0;
        let limit = Millis(took.saturating_mul(LONGER).saturating_add(AT_LEAST.0));
        let limit = job.what.timeout_ms.map_or(limit, |own| own.min(limit));
        let quick = Check { timeout_ms: Some(limit), ..job.what.clone() };
        let job = &Job { what: &quick, ..*job };
        let mut last: Option<CheckEnd> = None;
        let (mut noticed, mut unnoticed, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let mut missed = None;
            let of_words = part.iter().all(|one| one.mutant.of_words);
            for one in part {
                let spent = last.as_ref().map_or(Millis(0), |last| last.elapsed_ms);
                if last.is_some() && spent > job.against.most_ms {
                    break;
                }
                let to = EditTo::Text(one.mutant.text.clone());
                let edit = Edit { path: one.path.clone(), to };
                let commit = self.mixed(job, job.result, &[edit]).await?;
                let mut ran = self.run_at(job, &commit).await?;
                let mut seen = seen(&ran, job.against);
                if ran.end.ended == Ended::TimedOut {
                    // A fault that makes a loop endless is noticed by whoever waits.
                    (ran.end.ended, seen) = (Ended::Stopped, Seen::Noticed);
                }
                let tests = ran.report.as_ref().map(|report| Box::new(counts(report)));
                let elapsed_ms = spent.plus(ran.end.elapsed_ms);
                last = Some(CheckEnd { elapsed_ms, tests, ..ran.end });
                match seen {
                    Seen::Noticed => {
                        noticed.push(one.says());
                        missed = None;
                        break;
                    }
                    Seen::Missed => missed = missed.or_else(|| Some(one.says())),
                    Seen::Nothing => {}
                }
            }
            if of_words { &mut words } else { &mut unnoticed }.extend(missed);
        }
        // Few tests compare words for people. They count where the change is nothing else.
        if noticed.is_empty() {
            unnoticed.append(&mut words);
        }
        let Some(mut end) = last else {
            return Ok(untried("the changed lines hold nothing that could be wrong".to_owned()));
        };
        if noticed.is_empty() && unnoticed.is_empty() {
            end.untried = Some("no fault in the changed lines can be built".to_owned());
        }
        Ok(CheckEnd { noticed, unnoticed, ..end })
    }
}

/// Whether tests noticed a mutant. A program that reported tests and now reports none was not built.
fn seen(ran: &Ran, against: &Against) -> Seen {
    let Some(report) = &ran.report else {
        return match () {
            () if ran.end.passed() => Seen::Missed,
            () if against.own.is_some() => Seen::Nothing,
            () => Seen::Noticed,
        };
    };
    match () {
        () if fails_more(report, &against.failing) => Seen::Noticed,
        () if ran.end.passed() || report.failed > 0 => Seen::Missed,
        () => Seen::Nothing,
    }
}

/// Whether tests fail that did not fail on the result.
fn fails_more(report: &TestReport, failing: &[String]) -> bool {
    let now = counts(report);
    let known = now.failing.iter().all(|name| failing.contains(name));
    report.failed > 0 && !(now.names_all_failing() && known)
}

/// At most so many parts, from the whole of a change.
fn evenly(parts: Vec<Vec<InFile>>) -> Vec<Vec<InFile>> {
    let every = parts.len().div_ceil(MOST_PARTS).max(1);
    parts.into_iter().step_by(every).collect()
}
