//! The folder `runs/` of a repository, which the preset `strict` keeps up to date during a run. The runtime owns its
//! format.

use std::path::PathBuf;

use runtime::{Bosun, RunsError};
use tokio::task::JoinHandle;
use types::{Policy, RunView, Status};

/// Writer of the folder `runs/` in a run's repository, active during the run.
pub(super) type Writing = JoinHandle<Result<(), RunsError>>;

pub(super) fn begin(bosun: &Bosun, view: &RunView, policy: &Policy) -> Option<Writing> {
    if !rules::policy::is_strict(policy) {
        return None;
    }
    let folder = PathBuf::from(&view.repository).join("runs");
    let (bosun, run) = (bosun.clone(), view.run.clone());
    Some(tokio::spawn(async move { bosun.write_runs(&run, &folder).await }))
}

/// Waits for the writer if the run is over. Returns the reason unless the run is done.
pub(super) async fn end(writing: Writing, view: &RunView) -> anyhow::Result<Option<String>> {
    if view.ended.is_none() {
        writing.abort();
    } else {
        writing.await??;
    }
    Ok((view.status != Status::Done).then(|| reason(view)))
}

fn reason(view: &RunView) -> String {
    let fault = view.tasks.iter().find_map(|task| task.fault.as_deref());
    // If a failure ended the run, the first input of the rule is the cause.
    let why = view.why.as_ref().map(|why| why.seen.first().unwrap_or(&why.reason).as_str());
    let reason = fault.or(why).unwrap_or(view.status.as_str());
    reason.split(". It begins: ").next().unwrap_or_default().to_owned()
}
