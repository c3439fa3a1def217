//! Title and body of a pull request for a run's result, as Markdown: changes, reasons, tasks, evidence and open points.
//! Derived from the run's view. Goals, titles and reasons come from people and models, so they are escaped.

use std::fmt::Write as _;

use types::{CheckView, Ended, RunView, Status, TaskStage, TaskView, count, one_line};

use super::transcript::{markdown_escaped as escaped, markdown_fenced as fenced};

/// Maximum length of the title.
const TITLE: usize = 72;
/// Maximum number of files listed.
const MOST_FILES: usize = 50;

/// Title and body of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PullRequest {
    /// Plain text, one line.
    pub title: String,
    /// Markdown.
    pub body: String,
}

/// The pull request for a run's result.
#[must_use]
pub fn pull_request(view: &RunView) -> PullRequest {
    let first = view.goal.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.unwrap_or_default().trim_start_matches('#').trim();
    let title = one_line(first, TITLE).trim_end_matches('.').to_owned();
    let mut body = String::new();
    what(&mut body, view);
    let _ = write!(body, "\n## Why\n\n{}", fenced(view.goal.trim()));
    tasks(&mut body, view);
    evidence(&mut body, view);
    open_points(&mut body, view);
    let (run, base, head) = (&view.run, view.base.short(), view.head.short());
    let priced = view.spent.money.as_nanos() > 0;
    let money = if priced { format!(", ${}", view.spent.money) } else { String::new() };
    let spent = format!("{} tokens{money}", view.spent.tokens);
    let _ = write!(
        body,
        "\n---\nCreated by Bosun run `{run}` ({base}..{head}, {spent}). `bosun why {run}` explains its decisions, \
         `bosun prove {run}` proves them.\n"
    );
    PullRequest { title, body }
}

/// The commit message for a task's part of a result: title, reason, task and evidence.
#[must_use]
pub fn commit_message(view: &RunView, task: &TaskView) -> String {
    let mut text = format!("{}\n\n", one_line(&task.title, TITLE));
    let _ = writeln!(text, "Why: {}\n", types::headline(&view.goal, 400));
    let attempts = count(task.attempts, "attempt");
    let level = task.evidence_label().map(|word| format!(", evidence: {word}"));
    let _ = writeln!(text, "Task: {}, {attempts}{}", task.id, level.unwrap_or_default());
    if let Some(words) = task.accepted_doubt() {
        let _ = writeln!(text, "Accepted: {}", one_line(&words, 240));
    }
    for check in &task.checks {
        let command = one_line(&check.check.command, 120);
        let _ = writeln!(text, "Check: {command} {}", how(check, "failed"));
    }
    let _ = write!(text, "\nBosun-Run: {}\nBosun-Task: {}\n", view.run, task.id);
    text
}

fn what(body: &mut String, view: &RunView) {
    let files = count(view.changes.0.len(), "file");
    let (added, removed) = (view.changes.added(), view.changes.removed());
    let _ = write!(body, "## What\n\n{files} changed, +{added} -{removed}.\n\n");
    for file in view.changes.0.iter().take(MOST_FILES) {
        let path = escaped(file.path.as_str());
        let _ = writeln!(body, "- {path} (+{} -{})", file.added, file.removed);
    }
    if let Some(more) = view.changes.0.len().checked_sub(MOST_FILES + 1) {
        let _ = writeln!(body, "- and {} more", more + 1);
    }
}

fn tasks(body: &mut String, view: &RunView) {
    body.push_str(
        "\n## Tasks\n\n| task | | state | attempts | evidence |\n|---|---|---|---|---|\n",
    );
    for task in &view.tasks {
        let level = task.evidence_label().unwrap_or_default();
        let (title, stage) = (escaped(&task.title), task.stage.as_str());
        let _ = writeln!(body, "| {} | {title} | {stage} | {} | {level} |", task.id, task.attempts);
    }
}

fn evidence(body: &mut String, view: &RunView) {
    body.push_str(
        "\n## Evidence\n\nChecked by Bosun itself, on a fresh checkout of each commit.\n\n",
    );
    for check in &view.merged_checks {
        let _ = writeln!(body, "- merged tree: {}", told(check));
    }
    for task in &view.tasks {
        for check in &task.checks {
            let _ = writeln!(body, "- {}: {}", task.id, told(check));
        }
        let accepted = task.accepted_doubt();
        for reason in task.evidence.iter().flat_map(|weighed| &weighed.because).chain(&accepted) {
            let _ = writeln!(body, "- {}: {}", task.id, escaped(reason));
        }
    }
    let gates = view.gates.iter().filter(|gate| gate.go).map(|gate| gate.phase.as_str());
    let gates: Vec<&str> = gates.collect();
    if !gates.is_empty() {
        let _ = writeln!(body, "- gates passed: {}", gates.join(", "));
    }
}

fn told(check: &CheckView) -> String {
    format!("{} {}", escaped(&check.check.command), how(check, "**failed**"))
}

/// How a check ended. `failed` is the word for a failure.
fn how(check: &CheckView, failed: &str) -> String {
    match check.ended {
        Some(Ended::Exited(0)) => "passed".to_owned(),
        Some(_) if check.excused => "fails only in tests that failed before".to_owned(),
        Some(ended) => format!("{failed} ({ended})"),
        None => "did not finish".to_owned(),
    }
}

/// Adds the points that did not go as planned, for the reviewer.
fn open_points(body: &mut String, view: &RunView) {
    let mut points = Vec::new();
    if view.status != Status::Done {
        points.push(format!("the status of the run is {}", view.status_word()));
    }
    let undone = |task: &&TaskView| task.stage != TaskStage::Finished;
    for task in view.tasks.iter().filter(undone) {
        let why = task.fault.as_deref().map(|why| format!(": {}", escaped(why)));
        let (id, stage) = (&task.id, task.stage.as_str());
        points.push(format!("{id} is {stage}{}", why.unwrap_or_default()));
    }
    for artifact in &view.missing {
        points.push(format!("promised artifact is missing: {}", escaped(&artifact.to_string())));
    }
    for asked in &view.questions {
        let text = escaped(&asked.text);
        points.push(match (&asked.answer, &asked.by) {
            (Some(answer), by) => {
                let by = escaped(by.as_deref().unwrap_or("somebody"));
                format!("asked: {text} Answered by {by}: {}", escaped(answer))
            }
            (None, _) => format!("unanswered: {text}"),
        });
    }
    let reopened = view.gates.iter().filter(|gate| !gate.go);
    points.extend(reopened.map(|gate| {
        format!("gate {} was a no-go: {}", gate.phase.as_str(), escaped(&gate.decision.reason))
    }));
    points.extend(view.dangers.iter().map(|danger| format!("refused: {}", escaped(danger))));
    body.push_str("\n## Open points\n\n");
    if points.is_empty() {
        body.push_str("None.\n");
    }
    for point in points {
        let _ = writeln!(body, "- {point}");
    }
}

#[cfg(test)]
mod tests {
    use types::Timestamp;

    use super::*;
    use crate::testing::planned;

    #[test]
    fn a_pull_request_says_what_why_and_what_is_open_and_nothing_in_it_is_markup() {
        let bench = planned("T1 a");
        let mut view = bench.machine.view(Timestamp::default());
        view.goal = "# Add a <b>tide</b> command.\n\n```\n## Not a heading".to_owned();
        view.tasks[0].title = "Write | <img src=x>".to_owned();
        let made = pull_request(&view);
        assert_eq!(made.title, "Add a <b>tide</b> command");
        for part in ["## What", "## Why", "## Tasks", "## Evidence", "## Open points"] {
            assert!(made.body.contains(part), "{part} is not in {}", made.body);
        }
        assert!(made.body.contains("````text\n"), "{}", made.body);
        assert!(made.body.contains("Write \\| &lt;img src=x>"), "{}", made.body);
        assert!(made.body.contains("- T1 is "), "a task that is not finished is open");
        let message = commit_message(&view, &view.tasks[0]);
        assert!(
            message.starts_with("Write | <img src=x>\n\nWhy: # Add a <b>tide</b>"),
            "{message}"
        );
        assert!(message.contains("\nBosun-Task: T1\n"), "{message}");
    }
}
