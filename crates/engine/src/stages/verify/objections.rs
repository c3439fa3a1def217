//! The checks that count against a result, and the fault that they make.

use types::{Check, Fault, FaultClass, TaskId};

use crate::stages::trials::{self, DID_NOT_PASS};
use crate::state::{CheckState, Run, TaskState};

/// Checks failed on a result alone, or merged with others.
pub(crate) const CHECK_FAILED: &str = "verify.check_failed";
pub(crate) const MERGED_CHECK_FAILED: &str = "merge.check_failed";

/// The checks that a result must pass: the task's own, which run first, or else the project's.
pub(super) fn held<'a>(run: &Run, task: &TaskId, checks: &'a [CheckState]) -> &'a [CheckState] {
    let own = run.planned(task).map(|task| task.checks.as_slice()).unwrap_or_default();
    if own.is_empty() {
        return checks;
    }
    let is_own = |check: &&CheckState| own.iter().any(|own| own.command == check.what.command);
    &checks[..checks.iter().take_while(is_own).count()]
}

/// A check that counts against a result.
pub(crate) struct Objection<'a> {
    pub(crate) check: &'a Check,
    why: String,
    /// The failing tests, where the check simply failed and names them.
    failing: &'a [String],
}

/// The checks that count against a result. A task with its own checks must pass those; the
/// project's count only if the task breaks something that worked. One that timed out never counts.
pub(crate) fn failed<'a>(
    run: &Run,
    task: &TaskId,
    task_state: &'a TaskState,
) -> Vec<Objection<'a>> {
    let held = held(run, task, &task_state.checks).len();
    let mut failed = Vec::new();
    for (index, check) in task_state.checks.iter().enumerate() {
        let Some(end) = check.end.as_ref().filter(|end| !run.timed_out(end)) else { continue };
        let why = trials::stands(run, task_state.base.as_ref(), check);
        let breaks =
            end.tests.as_ref().is_some_and(|tests| !end.passed() && !tests.lost.is_empty());
        if let Some(why) = why.filter(|_| index < held || breaks) {
            let failing = end.tests.as_ref().map(|tests| tests.failing.as_slice());
            let failing = failing.filter(|_| why == DID_NOT_PASS).unwrap_or_default();
            failed.push(Objection { check: &check.what, why, failing });
        }
    }
    failed
}

/// The checks that count against a result merged with those of other tasks. The checks on the final tree decide about
/// those that time out here.
pub(crate) fn failed_when_merged<'a>(
    run: &Run,
    task_state: &'a TaskState,
) -> impl Iterator<Item = &'a CheckState> {
    let base = task_state.base.as_ref();
    let ended = |check: &&CheckState| !check.end.as_ref().is_some_and(|end| run.timed_out(end));
    let proofs = task_state.proofs.iter().filter(ended);
    proofs.filter(move |check| trials::stands_merged(run, base, check).is_some())
}

/// The fault of a result whose checks failed.
pub(super) fn fault(failed: &[Objection<'_>]) -> Fault {
    let is_plain = |one: &&Objection<'_>| one.why == DID_NOT_PASS && one.failing.is_empty();
    let (plain, odd): (Vec<_>, Vec<_>) = failed.iter().partition(is_plain);
    let says = |one: &&Objection<'_>| match one.failing {
        [] => format!("{}: {}", one.check.name, one.why),
        names => format!("{} did not pass: {}", one.check.name, trials::listed(names)),
    };
    let mut what: Vec<String> = odd.iter().map(says).collect();
    if !plain.is_empty() {
        let names: Vec<&str> = plain.iter().map(|one| one.check.name.as_str()).collect();
        what.insert(0, format!("{} did not pass", names.join(", ")));
    }
    Fault::new(FaultClass::CheckFailed, CHECK_FAILED, what.join("; "))
}
