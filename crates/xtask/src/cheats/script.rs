//! The plan of a case and the script of its agents' model: the calls of each attempt, turn by turn. Only texts are made
//! here; nothing is run.

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::case::{Case, Task, Work};

/// The default summary of a submission.
const SUMMARY: &str = "Done, all tests pass.";

/// Whether the plan comes with the request instead of from a planner.
pub(crate) fn plan_is_given(case: &Case) -> bool {
    case.plan.as_deref() == Some("given")
}

/// The plan as JSON, for `--plan` and a planner's submission.
pub(crate) fn plan(case: &Case) -> anyhow::Result<Value> {
    let tasks: anyhow::Result<Vec<Value>> =
        case.tasks.iter().map(|task| planned(task, case)).collect();
    Ok(json!({ "tasks": tasks? }))
}

fn planned(task: &Task, case: &Case) -> anyhow::Result<Value> {
    let own = || task.work(case).write.into_keys().collect();
    let mut entry = Map::new();
    entry.insert("id".to_owned(), json!(task.id));
    entry.insert("title".to_owned(), json!(task.title.as_ref().unwrap_or(&task.id)));
    if let Some(description) = &task.description {
        entry.insert("description".to_owned(), json!(description));
    }
    entry.insert("artifacts".to_owned(), json!(task.artifacts.clone().unwrap_or_else(own)));
    if !task.checks.is_empty() {
        let checks = task.checks.iter();
        let checks = checks.map(|one| json!({ "name": one.name, "command": one.command }));
        entry.insert("checks".to_owned(), checks.collect());
    }
    if !task.depends_on.is_empty() {
        entry.insert("depends_on".to_owned(), json!(task.depends_on));
    }
    if let Some(acceptance) = &task.acceptance {
        let acceptance = serde_json::to_value(acceptance).context("reading the acceptance")?;
        entry.insert("acceptance".to_owned(), acceptance);
    }
    Ok(Value::Object(entry))
}

/// The script of the model, for `--script`.
pub(crate) fn script(case: &Case) -> anyhow::Result<String> {
    let raw = serde_json::to_value(&case.attempts).context("reading the attempts")?;
    let mut attempts = raw.as_array().cloned().unwrap_or_default();
    if !case.tasks.is_empty() && !plan_is_given(case) {
        let submit = submitted(plan(case)?);
        attempts.push(json!({ "role": "planner", "reply": [{ "calls": [submit] }] }));
    }
    for task in &case.tasks {
        for (at, again) in task.again.iter().enumerate() {
            attempts.push(
                json!({ "role": "coder", "task": task.id, "n": at + 2, "reply": turns(again) }),
            );
        }
        let reply = turns(&task.work(case));
        attempts.push(json!({ "role": "coder", "task": task.id, "reply": reply }));
    }
    toml::to_string(&json!({ "attempt": attempts })).context("writing the script")
}

fn submitted(mut content: Value) -> Value {
    if let Some(members) = content.as_object_mut() {
        members.insert("tool".to_owned(), json!("submit"));
    }
    content
}

/// An agent reads the files that it will write, writes, edits, runs its commands and submits.
fn turns(work: &Work) -> Vec<Value> {
    let mut turns = Vec::new();
    let mut turn = |calls: Vec<Value>| turns.push(json!({ "calls": calls }));
    let read = |path: &String| json!({ "tool": "read_file", "path": path });
    if !work.write.is_empty() {
        turn(work.write.keys().map(read).collect());
        let write = work.write.iter();
        let write = write
            .map(|(path, text)| json!({ "tool": "write_file", "path": path, "content": text }));
        turn(write.collect());
    }
    for edit in &work.edit {
        turn(vec![read(&edit.path)]);
        turn(vec![json!({
            "tool": "edit_file", "path": edit.path, "old_string": edit.old, "new_string": edit.new,
            "replace_all": true,
        })]);
    }
    for command in &work.shell {
        turn(vec![json!({ "tool": "shell", "command": command })]);
    }
    let summary = work.summary.as_deref().unwrap_or(SUMMARY);
    turn(vec![submitted(json!({ "summary": summary }))]);
    turns
}
