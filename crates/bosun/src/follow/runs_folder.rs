//! The folder `runs/` of a repository, which the preset `strict` keeps up to date during a run. The runtime owns its
//! format.

use std::path::PathBuf;

use runtime::{Bosun, Left, RunsError};
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
pub(super) async fn end(writing: Writing, left: &Left) -> anyhow::Result<Option<String>> {
    let view = &left.view;
    if view.ended.is_none() {
        writing.abort();
    } else {
        writing.await??;
    }
    Ok((view.status != Status::Done).then(|| reason(left)))
}

/// Why a run did not end in `done`: the recorded reason, or why it was left before its end.
fn reason(left: &Left) -> String {
    let view = &left.view;
    let why = view.why.as_ref().map(|why| why.reason.clone());
    let open = view.questions.iter().find(|question| question.answer.is_none());
    match (&left.away, open) {
        _ if view.ended.is_some() => why,
        (Some(fault), _) => Some(format!("the model did not answer: {}", fault.cause())),
        (None, _) if left.suspended => Some("stopped before its end; progress is saved".to_owned()),
        (None, Some(question)) => Some(format!("waiting for an answer: {}", question.text)),
        (None, None) => why,
    }
    .unwrap_or_else(|| view.status.as_str().to_owned())
}
