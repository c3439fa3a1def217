//! What the trials of a check have shown so far, and whether there is time for another. What follows from it is decided
//! by the parent module.

use types::{CheckEnd, Millis, Trial};

use super::doubt::{Next, Tried};
use crate::state::{CheckState, Run, TaskState, TrialState};

/// Checks that take this long have trials on fewer test files, where that is enough. Kept build output would not fit those.
const LONG: Millis = Millis::seconds(5);
/// Trials up to this duration are always made.
const ALWAYS: Millis = Millis::seconds(30);

/// The end of a trial; `None` if it could not be made or there is no time for it.
pub(super) fn trial<'a>(
    run: &Run,
    task_state: &'a TaskState,
    trial: Trial,
    one: &Tried<'_>,
) -> Result<Option<&'a CheckEnd>, Next> {
    let is = |state: &&TrialState| state.trial == trial && state.index as usize == one.index;
    match task_state.trials.iter().find(is).map(|state| &state.state) {
        Some(CheckState { end: Some(end), .. }) => {
            // One that timed out shows nothing.
            Ok(Some(end).filter(|end| end.untried.is_none() && !run.timed_out(end)))
        }
        Some(_) => Err(Next::Wait),
        None if trial.is_of_others() || has_time(run, task_state, one.now) => {
            Err(Next::Try(trial, one.index))
        }
        None => Ok(None),
    }
}

/// The ends of a check's trials of one kind, also of those that show nothing.
pub(super) fn ends<'a>(
    task_state: &'a TaskState,
    one: &Tried<'_>,
    trial: Trial,
) -> impl Iterator<Item = &'a CheckEnd> {
    let ours = move |index: usize| index == one.index;
    let all = task_state.trials.iter().filter(move |tried| tried.trial == trial);
    all.filter(move |tried| ours(tried.index as usize)).filter_map(|tried| tried.state.end.as_ref())
}

/// What of the tests of before was changed for a trial with them, as the goal orders it.
pub(super) fn ordered<'a>(
    task_state: &'a TaskState,
    one: &Tried<'_>,
    trial: Trial,
) -> &'a [String] {
    let mut ends = ends(task_state, one, trial);
    ends.next().map(|end| end.ordered.as_slice()).unwrap_or_default()
}

pub(super) fn goal_changes(ordered: &[String]) -> String {
    format!("the goal changes tests: {}", ordered.join("; "))
}

/// Whether no altered test could be made for a check.
pub(super) fn is_untried(task_state: &TaskState, one: &Tried<'_>) -> bool {
    ends(task_state, one, Trial::Altered).any(|end| end.untried.is_some())
}

/// Whether a check passes whatever is in the tests, as a linter of other files does.
pub(super) fn is_unread(task_state: &TaskState, one: &Tried<'_>) -> bool {
    let mut ends = ends(task_state, one, Trial::Altered);
    ends.any(|end| end.untried.is_some() && !end.unnoticed.is_empty())
}

/// Whether a trial of a check did not end in time. Else a result could pass for proven by hanging in its trials.
pub(super) fn timed_out(run: &Run, task_state: &TaskState, one: &Tried<'_>) -> bool {
    let ours =
        |trial: &&TrialState| trial.index as usize == one.index && !trial.trial.is_of_others();
    let ours = task_state.trials.iter().filter(ours);
    ours.filter_map(|trial| trial.state.end.as_ref()).any(|end| run.timed_out(end))
}

/// Whether a check takes so long that its trials are to leave out tests.
pub(super) fn is_long(now: &CheckEnd) -> bool {
    now.cold && now.elapsed_ms >= LONG
}

fn has_time(run: &Run, task_state: &TaskState, now: &CheckEnd) -> bool {
    // The next one will take about as long as the check itself.
    left(run, task_state, now) >= now.elapsed_ms
}

/// The time that is left for trials, given the check on the result.
pub(super) fn left(run: &Run, task_state: &TaskState, now: &CheckEnd) -> Millis {
    let counted = task_state.trials.iter().filter(|one| !one.trial.is_of_others());
    let ends = counted.filter_map(|one| one.state.end.as_ref());
    let taken: u64 = ends.map(|end| end.elapsed_ms.0).sum();
    let percent = u64::from(run.policy().verify.trial_percent);
    let allowed = now.elapsed_ms.0.saturating_mul(percent) / 100;
    Millis(allowed.max(ALWAYS.0).saturating_sub(taken))
}
