//! One branch: results are put onto it one after the other, in the plan's order, whoever finished first.

use types::{Artifact, Event, Fault, FaultClass, TaskId, Timestamp};

use crate::run::{Run, Stage};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Some(task) = run.next_to_merge().and_then(|place| run.task(place)) else { return vec![] };
    let Some(lane) = run.lane(&task.id) else { return vec![] };
    match lane.stage() {
        Stage::Verified { commit } => vec![Event::MergeStarted {
            task: task.id.clone(),
            commit: commit.clone(),
            onto: run.head().clone(),
        }],
        Stage::Landed { commit } => {
            vec![Event::TaskFinished { task: task.id.clone(), commit: commit.clone() }]
        }
        _ => vec![],
    }
}

/// What the commit on the run's branch says.
pub(crate) fn message(run: &Run, id: &TaskId) -> String {
    let title = run.place(id).and_then(|place| run.task(place)).map_or("", |task| &task.title);
    let title: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{}\n\nBosun-Run: {}\nBosun-Task: {id}\n", title.trim(), run.id())
}

/// What the task promised to write.
pub(crate) fn artifacts(run: &Run, id: &TaskId) -> Vec<Artifact> {
    let task = run.place(id).and_then(|place| run.task(place));
    task.map(|task| task.artifacts.clone()).unwrap_or_default()
}

pub(crate) fn conflict(paths: &[String]) -> Fault {
    let what = format!("its changes do not merge with those of other tasks: {}", paths.join(", "));
    Fault::new(FaultClass::Conflict, "merge.conflict", what)
}
