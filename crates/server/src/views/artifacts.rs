//! The files that a run promised and made, and the blobs that its lines name. A blob that no line of a run names does
//! not belong to the run, and is not served for it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use types::{AttemptId, AttemptResult, BlobRef, ChangeKind, Changes, Digest, Event, TaskId};

use super::graph::is_settled;
use super::source::Recorded;

/// A file that a run changed, or a path that it promised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArtifactItem {
    pub path: String,
    /// The task that promised it or changed it last.
    pub task: Option<TaskId>,
    pub status: ArtifactStatus,
    /// Whether a task of the plan promised it, or a folder that it is in.
    pub promised: bool,
    /// Lines added and removed; both 0 for a file that is not text, or is not there yet.
    pub added: u64,
    pub removed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactStatus {
    Added,
    Modified,
    Deleted,
    /// Promised by a task that is not merged yet.
    Pending,
    /// Promised by a task that is merged or given up, and not there.
    Missing,
}

/// The files of the run's result, then the promised ones that are missing.
#[must_use]
pub fn artifacts(recorded: &Recorded) -> Vec<ArtifactItem> {
    let view = recorded.run.view(recorded.now);
    let tasks = recorded.run.plan().map(|plan| plan.tasks.as_slice()).unwrap_or_default();
    let covers = |artifact: &types::Artifact, path: &str| {
        let own = artifact.path.as_str();
        let below = artifact.whole_folder
            && (own == "." || path.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')));
        own == path || below
    };
    let merged = merged(recorded);
    let mut items: Vec<ArtifactItem> = Vec::new();
    for file in &view.changes.0 {
        let path = file.path.as_str();
        let promised = tasks.iter().find(|task| task.artifacts.iter().any(|one| covers(one, path)));
        items.push(ArtifactItem {
            path: path.to_owned(),
            task: merged.get(path).cloned().or_else(|| Some(promised?.id.clone())),
            status: match file.how {
                ChangeKind::Added => ArtifactStatus::Added,
                ChangeKind::Modified => ArtifactStatus::Modified,
                ChangeKind::Deleted => ArtifactStatus::Deleted,
            },
            promised: promised.is_some(),
            added: file.added,
            removed: file.removed,
        });
    }
    for task in tasks {
        let stage = recorded.run.task_shown(&task.id).map(|view| view.stage);
        let over = stage.is_some_and(is_settled);
        for artifact in &task.artifacts {
            let made = items.iter().any(|item| covers(artifact, &item.path));
            let missing = view.missing.contains(artifact);
            // A promised path that existed before and was not changed is not listed.
            if made || (over && !missing && stage == Some(types::TaskStage::Finished)) {
                continue;
            }
            items.push(ArtifactItem {
                path: artifact.to_string(),
                task: Some(task.id.clone()),
                status: if over { ArtifactStatus::Missing } else { ArtifactStatus::Pending },
                promised: true,
                added: 0,
                removed: 0,
            });
        }
    }
    items
}

/// The merged task that last changed each file, by the changes of its verified attempt. The event of a merge itself has
/// the changes of the whole branch.
fn merged(recorded: &Recorded) -> BTreeMap<&str, TaskId> {
    let mut submitted: BTreeMap<&AttemptId, &Changes> = BTreeMap::new();
    let mut verified: BTreeMap<&TaskId, &AttemptId> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for line in recorded.own() {
        match &line.event {
            Event::AttemptFinished {
                attempt,
                result: AttemptResult::Submitted { changes, .. },
                ..
            } => {
                submitted.insert(attempt, changes);
            }
            Event::TaskVerified { attempt, .. } => {
                verified.insert(&attempt.task, attempt);
            }
            Event::TaskFinished { task, .. } => {
                let changes = verified.get(task).and_then(|attempt| submitted.get(attempt));
                let files = changes.into_iter().flat_map(|changes| &changes.0);
                found.extend(files.map(|file| (file.path.as_str(), task.clone())));
            }
            _ => {}
        }
    }
    found
}

/// The digests of the blobs that the lines of a run name: its policy, full outputs, test reports, images.
#[must_use]
pub fn blobs(recorded: &Recorded) -> BTreeSet<Digest> {
    let mut found = BTreeSet::new();
    for line in &recorded.lines {
        if let Event::RunRequested { policy, .. } = &line.event {
            found.insert(*policy);
        }
        if may_name_a_blob(&line.event) {
            let value = serde_json::to_value(&line.event).unwrap_or_default();
            collect(&value, &mut found);
        }
    }
    found
}

const fn may_name_a_blob(event: &Event) -> bool {
    matches!(
        event,
        Event::ToolFinished { .. }
            | Event::CheckFinished { .. }
            | Event::SessionStarted { .. }
            | Event::SessionTold { .. }
    )
}

/// Collects every object with a digest and a byte count, at any depth.
fn collect(value: &Value, found: &mut BTreeSet<Digest>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            if fields.contains_key("digest")
                && let Ok(blob) = serde_json::from_value::<BlobRef>(value.clone())
            {
                found.insert(blob.digest);
            }
            fields.values().for_each(|field| collect(field, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
