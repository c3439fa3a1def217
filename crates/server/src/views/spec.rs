//! A run's spec as a matrix: each requirement and criterion with the tasks that name it, the checks that show it, and
//! their results. A requirement that no task names and no check shows has an empty row: nothing is guessed.

use engine::export::spec_outcome;
use schemars::JsonSchema;
use serde::Serialize;
use types::{Check, Event, IntentSpec, Level, Spec, Task, TaskId, TaskStage, one_line};

use super::source::Recorded;

/// The matrix of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecMatrix {
    /// Not there, if the run has no spec.
    pub spec: Option<SpecHead>,
    pub rows: Vec<SpecRow>,
    pub constraints: Vec<String>,
    pub out_of_scope: Vec<String>,
}

/// The spec itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecHead {
    pub id: String,
    pub title: String,
    /// `approved`, `in_progress`, `verifying`, `done` or `failed`; `written` for one that an agent wrote.
    pub status: String,
    pub version: Option<u64>,
    pub intent: String,
}

/// One requirement or criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecRow {
    pub kind: SpecRowKind,
    /// Its id; empty for a criterion.
    pub id: String,
    pub requirement: String,
    /// How it is to be verified, in the spec's words.
    pub verification: Option<String>,
    /// The tasks of the plan that name it.
    pub tasks: Vec<SpecTaskCell>,
    /// The checks that show it.
    pub checks: Vec<SpecCheckCell>,
    /// What is on record for it, a sentence each.
    pub evidence: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpecRowKind {
    Requirement,
    Criterion,
}

/// A task that names a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecTaskCell {
    pub id: TaskId,
    pub stage: TaskStage,
    /// How far its result is proven, once that is known.
    pub level: Option<Level>,
}

/// A check that shows a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecCheckCell {
    pub name: String,
    pub command: String,
    /// On the merged tree; not there before it ended.
    pub passed: Option<bool>,
}

/// The matrix of a run, from the spec in its request or the one that its product agent wrote.
#[must_use]
pub fn spec(recorded: &Recorded) -> SpecMatrix {
    let given = recorded.run.request().and_then(|request| request.spec.as_deref());
    if let Some(given) = given {
        return of_given(recorded, given);
    }
    let written = recorded.own().rev().find_map(|line| match &line.event {
        Event::SpecWritten { spec, .. } => serde_json::from_value::<IntentSpec>(spec.clone()).ok(),
        _ => None,
    });
    match written {
        Some(written) => of_written(recorded, &written),
        None => SpecMatrix { spec: None, rows: vec![], constraints: vec![], out_of_scope: vec![] },
    }
}

fn of_given(recorded: &Recorded, given: &Spec) -> SpecMatrix {
    let versions = spec_outcome::versions(&recorded.run, recorded.now);
    let newest = versions.last().unwrap_or(given);
    let results = &newest.verification.results;
    let mut rows: Vec<SpecRow> = Vec::new();
    for one in &given.requirements {
        let verification = one.verification.as_deref();
        rows.push(row(recorded, SpecRowKind::Requirement, &one.id, &one.description, verification));
    }
    for criterion in &given.verification.criteria {
        let mut row = row(recorded, SpecRowKind::Criterion, "", criterion, Some(criterion));
        let name = one_line(criterion, 120);
        let said = results.iter().find(|result| result.check == name);
        row.evidence.extend(said.map(|result| result.ended.clone()));
        rows.push(row);
    }
    SpecMatrix {
        spec: Some(SpecHead {
            id: newest.id.to_string(),
            title: newest.title.clone(),
            status: newest.status.as_str().to_owned(),
            version: Some(newest.meta.version),
            intent: newest.intent.clone(),
        }),
        rows,
        constraints: given.constraints.iter().map(|one| one.description.clone()).collect(),
        out_of_scope: given.out_of_scope.clone(),
    }
}

fn of_written(recorded: &Recorded, written: &IntentSpec) -> SpecMatrix {
    let row = |one: &types::IntentRequirement| {
        row(recorded, SpecRowKind::Requirement, &one.id, &one.description, Some(&one.verification))
    };
    SpecMatrix {
        spec: Some(SpecHead {
            id: written.spec_id.clone(),
            title: one_line(&written.objective, 120),
            status: "written".to_owned(),
            version: None,
            intent: written.objective.clone(),
        }),
        rows: written.requirements.iter().map(row).collect(),
        constraints: written.constraints.iter().map(|one| one.description.clone()).collect(),
        out_of_scope: written.out_of_scope.clone(),
    }
}

fn row(
    recorded: &Recorded,
    kind: SpecRowKind,
    id: &str,
    text: &str,
    verification: Option<&str>,
) -> SpecRow {
    let tasks = recorded.run.plan().map(|plan| plan.tasks.as_slice()).unwrap_or_default();
    let (mut cells, mut evidence) = (Vec::new(), Vec::new());
    for task in tasks.iter().filter(|task| names(task, id, text, verification)) {
        let Some(view) = recorded.run.task_shown(&task.id) else { continue };
        if let Some(weighed) = &view.evidence {
            let because = weighed.because.join("; ");
            evidence.push(format!("{} is {}: {because}", task.id, weighed.level.says()));
        }
        evidence.extend(view.accepted_doubt().map(|words| format!("{}: {words}", task.id)));
        let level = view.evidence.map(|weighed| weighed.level);
        cells.push(SpecTaskCell { id: task.id.clone(), stage: view.stage, level });
    }
    let checks = checks(recorded, verification.unwrap_or(text));
    for check in checks.iter().filter(|check| check.passed.is_some()) {
        let how = if check.passed == Some(true) { "passed" } else { "failed" };
        evidence.push(format!("{} {how} on the merged tree", one_line(&check.name, 120)));
    }
    SpecRow {
        kind,
        id: id.to_owned(),
        requirement: text.to_owned(),
        verification: verification.filter(|_| kind == SpecRowKind::Requirement).map(str::to_owned),
        tasks: cells,
        checks,
        evidence,
    }
}

/// Whether a task names a requirement: by its id, or by its text or verification in the task's acceptance.
fn names(task: &Task, id: &str, text: &str, verification: Option<&str>) -> bool {
    let said = |words: &str| {
        let apart = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
        !id.is_empty() && words.split(apart).any(|word| word == id)
    };
    let same = |criterion: &String| {
        let criterion = criterion.trim();
        criterion == text.trim() || verification.is_some_and(|one| one.trim() == criterion)
    };
    let words = [&task.title, &task.description, &task.rationale];
    words.into_iter().chain(&task.acceptance).any(|words| said(words))
        || task.acceptance.iter().any(same)
}

/// The checks of the merged tree that show a text: matched by command, by name, or by the name before a colon.
fn checks(recorded: &Recorded, text: &str) -> Vec<SpecCheckCell> {
    let text = text.trim();
    let bare = text.strip_prefix("$ ").unwrap_or(text).trim_matches('`').trim();
    let prefix = text.split_once(':').map(|(name, _)| name.trim());
    let shows = |check: &Check| {
        let is = |name: &str| check.name.trim().eq_ignore_ascii_case(name);
        check.command.trim() == bare || is(text) || prefix.is_some_and(is)
    };
    let cell = |check: &Check, passed| SpecCheckCell {
        name: check.name.clone(),
        command: check.command.clone(),
        passed,
    };
    let merged = recorded.run.view(recorded.now).merged_checks;
    let run = merged
        .iter()
        .filter(|one| shows(&one.check))
        .map(|one| cell(&one.check, one.ended.map(|end| end == types::Ended::Exited(0))));
    let run: Vec<SpecCheckCell> = run.collect();
    if !run.is_empty() {
        return run;
    }
    let wanted = recorded.run.request().map(|request| request.checks.as_slice());
    let wanted = wanted.unwrap_or_default().iter().filter(|check| shows(check));
    wanted.map(|check| cell(check, None)).collect()
}

#[cfg(test)]
mod tests;
