//! The lines of the live view as a pure function of the state of a run: one for the run, one for each task or check.
//! Every line fits the width: columns are left out by priority and texts are truncated, never wrapped. Paints nothing.

mod columns;

use std::collections::BTreeSet;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use runtime::{Activity, RunningCheck, TaskActivity};
use types::{
    PlanPhase, Progress, RunView, Status, Subject, TaskStage, TaskView, Timestamp, count, one_line,
};

use self::columns::{Columns, Entry, LEAST_TEXT};
use crate::chat::look::{ADDED, BAD, BOLD, DIM, PLAIN, WAITING};
use crate::chat::wrap::{columns, cut};
use crate::print::{cost, dollars, duration};

/// Maximum characters taken from an external text.
const MOST_CHARACTERS: usize = 400;

/// The lines of a run, at most `most`: the most important ones stay if there is no room for all.
pub(crate) fn rows(
    view: &RunView,
    activity: &Activity,
    now: Timestamp,
    width: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![head(view, activity, now, width)];
    let entries = entries(view, activity, now);
    let (shown, left_out) = fitting(entries, most.saturating_sub(1));
    let columns = Columns::fit(&shown, width);
    let phases: BTreeSet<PlanPhase> = shown.iter().filter_map(|entry| entry.phase).collect();
    let grouped = phases.len() > 1;
    let headings = shown.len() + 1 + PHASES + usize::from(!left_out.is_empty()) <= most;
    let mut phase = None;
    for entry in &shown {
        if grouped && headings && entry.phase.is_some() && entry.phase != phase {
            phase = entry.phase;
            let name = phase.map(PlanPhase::as_str).unwrap_or_default();
            lines.push(Line::styled(cut(&format!("  {name}"), width), DIM));
        }
        lines.push(columns.line(entry, width));
    }
    if !left_out.is_empty() {
        lines.push(Line::styled(cut(&format!("    {}", more(&left_out)), width), DIM));
    }
    lines
}

/// Number of phases that a plan can have.
const PHASES: usize = 4;

/// Progress of a run, and the remaining time if it can be estimated. Empty before there is a plan.
pub(crate) fn far(progress: &Progress) -> String {
    let left = progress.remaining_ms.filter(|left| left.0 > 0);
    let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
    let (percent, done, total) = (progress.percent, progress.completed, progress.total);
    if total == 0 {
        return String::new();
    }
    format!("{percent} %  {done}/{total} tasks{left}")
}

/// Remaining time and the basis of the estimate.
fn left(progress: &Progress, activity: &Activity) -> Option<String> {
    let left = progress.remaining_ms.filter(|left| left.0 > 0)?;
    let basis = if activity.has_estimates() { "by plan" } else { "by pace" };
    Some(format!("~{} left ({basis})", duration(left)))
}

/// The line of the run itself. Less important parts are dropped first if there is no room.
fn head(view: &RunView, activity: &Activity, now: Timestamp, width: usize) -> Line<'static> {
    let progress = &view.progress;
    let state = match view.status {
        Status::Waiting => ("waiting for you".to_owned(), WAITING.patch(BOLD)),
        Status::Running => (view.phase.as_str().to_owned(), BOLD),
        status => (status.as_str().to_owned(), BAD.patch(BOLD)),
    };
    let elapsed = view.ended.unwrap_or(now).since(view.started);
    let tasks = format!("{}/{} tasks", progress.completed, progress.total);
    let mut parts: Vec<(u8, String, Style)> = vec![(12, state.0, state.1)];
    if progress.blockers > 0 && view.status != Status::Waiting {
        let asks = count(progress.blockers, "question");
        parts.push((11, format!("? {asks}"), WAITING));
    }
    if progress.failed > 0 {
        parts.push((10, format!("✘ {} failed", progress.failed), BAD));
    }
    if progress.total > 0 {
        parts.push((7, tasks, PLAIN));
    }
    // Before its first line is read, neither its goal nor its start is known.
    let known = !view.goal.is_empty();
    parts.extend(known.then(|| (9, duration(elapsed), PLAIN)));
    // The run's own log has the spending of finished and of waiting attempts.
    let spent = view.spent.plus(activity.under_way());
    parts.push((8, cost(spent), PLAIN));
    let budget = view.budget.money.filter(|_| spent.money.as_nanos() > 0);
    parts.extend(budget.map(|budget| (4, format!("budget {}", dollars(budget)), DIM)));
    parts.retain(|(_, text, _)| !text.is_empty());
    parts.extend(left(progress, activity).map(|left| (5, left, DIM)));
    let forecast = view.forecast.as_ref().filter(|_| view.ended.is_none());
    let expected = forecast.and_then(|forecast| Some((forecast.money?, forecast.from)));
    let expected = expected.filter(|(money, _)| money.as_nanos() > 0);
    parts.extend(expected.map(|(money, from)| {
        (3, format!("forecast {} from {}", dollars(money), from.as_str()), DIM)
    }));
    parts.push((2, types::headline(&view.goal, MOST_CHARACTERS), DIM));
    fitted(parts, width)
}

/// Drops the least important parts until the rest fits; the goal is truncated instead, as long as enough of it is
/// visible.
fn fitted(mut parts: Vec<(u8, String, Style)>, width: usize) -> Line<'static> {
    let used = |parts: &[(u8, String, Style)]| {
        parts.iter().map(|(_, text, _)| columns(text) + 3).sum::<usize>().saturating_sub(3)
    };
    let others = used(&parts[..parts.len().saturating_sub(1)]) + 3;
    let room = width.saturating_sub(others);
    if let Some((_, goal, _)) = parts.last_mut()
        && room >= LEAST_TEXT
    {
        *goal = cut(goal, room);
    }
    while parts.len() > 1 && used(&parts) > width {
        let least = parts.iter().map(|(priority, ..)| *priority).min();
        parts.retain(|(priority, ..)| Some(*priority) != least);
    }
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (place, (_, text, style)) in parts.into_iter().enumerate() {
        if place > 0 {
            spans.push(Span::styled(" · ", DIM));
        }
        spans.push(Span::styled(cut(&text, width), style));
    }
    Line::from(spans)
}

fn entries(view: &RunView, activity: &Activity, now: Timestamp) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let planned = |id: &types::TaskId| view.tasks.iter().any(|task| task.id == *id);
    for (id, task) in activity.tasks().filter(|(id, task)| !planned(id) && task.attempt.is_some()) {
        let state =
            if task.waits_for_budget { short() } else { ("●", PLAIN, "running".to_owned()) };
        entries.push(entry(id.to_string(), state, String::new(), Some(task), now));
    }
    for (check, running) in activity.checks() {
        if let Subject::Base | Subject::Merged = check.on {
            let title = format!("check {}", running.name);
            let mut entry =
                entry(check.on.to_string(), ("●", PLAIN, "checking".to_owned()), title, None, now);
            entry.time = duration(now.since(running.since));
            entry.action = one_line(&running.said, MOST_CHARACTERS);
            entries.push(entry);
        }
    }
    let mut tasks: Vec<Entry> = Vec::new();
    for task in &view.tasks {
        let doing = activity.task(&task.id);
        let title = one_line(&task.title, MOST_CHARACTERS);
        let mut entry = entry(task.id.to_string(), state(task, view, doing), title, doing, now);
        entry.stage = Some(task.stage);
        entry.action = match (task.stage, &task.fault) {
            (TaskStage::Failed | TaskStage::Retrying, Some(fault)) => {
                one_line(fault, MOST_CHARACTERS)
            }
            (TaskStage::Waiting | TaskStage::Finished, _) => String::new(),
            _ => activity.check_of(&task.id).map_or(entry.action, |check| in_progress(check, now)),
        };
        tasks.push(entry);
    }
    // By phase; within a phase, in the order of the plan.
    tasks.sort_by_key(|entry| entry.phase);
    entries.extend(tasks);
    entries
}

/// A check in progress: its name, its time, and the last line that it printed.
pub(super) fn in_progress(check: &RunningCheck, now: Timestamp) -> String {
    let (name, time) = (&check.name, duration(now.since(check.since)));
    let said = if check.said.is_empty() { String::new() } else { format!(": {}", check.said) };
    one_line(&format!("check {name}, {time}{said}"), MOST_CHARACTERS)
}

fn entry(
    id: String,
    (mark, style, state): (&'static str, Style, String),
    title: String,
    doing: Option<&TaskActivity>,
    now: Timestamp,
) -> Entry {
    let role = doing.and_then(|task| task.role.as_ref()).map(ToString::to_string);
    let attempt = doing.and_then(|task| task.attempt.as_ref()).filter(|attempt| attempt.n > 1);
    let again = attempt.map(|attempt| format!(" #{}", attempt.n)).unwrap_or_default();
    let began = doing.and_then(|task| task.began);
    let took = |began: Timestamp| doing.and_then(|task| task.ended).unwrap_or(now).since(began);
    Entry {
        phase: doing.and_then(|task| task.phase),
        mark,
        style,
        id,
        state,
        stage: None,
        title,
        action: doing.map(|task| one_line(&task.action, MOST_CHARACTERS)).unwrap_or_default(),
        who: role.map(|role| format!("{role}{again}")).unwrap_or_default(),
        time: began.map(took).map(duration).unwrap_or_default(),
        cost: doing.map(|task| cost(task.spent())).unwrap_or_default(),
    }
}

/// Mark, style and text for the state of a task, with its open dependencies.
fn state(
    task: &TaskView,
    view: &RunView,
    doing: Option<&TaskActivity>,
) -> (&'static str, Style, String) {
    let asks = view.questions.iter().any(|asked| {
        asked.answer.is_none()
            && asked.attempt.as_ref().is_some_and(|attempt| attempt.task == task.id)
    });
    match task.stage {
        _ if asks => ("?", WAITING, "waiting for you".to_owned()),
        TaskStage::Asking => ("?", WAITING, "waiting for you".to_owned()),
        TaskStage::Finished => ("✔", ADDED, "finished".to_owned()),
        TaskStage::Failed => ("✘", BAD, "failed".to_owned()),
        TaskStage::Skipped => ("–", DIM, "skipped".to_owned()),
        TaskStage::Retrying => ("↻", WAITING, "retrying".to_owned()),
        TaskStage::Waiting => ("○", DIM, waits_for(task, view)),
        TaskStage::Running if doing.is_some_and(|doing| doing.waits_for_budget) => short(),
        stage => ("●", PLAIN, stage.as_str().to_owned()),
    }
}

/// The state of an attempt whose next call does not fit its budget.
fn short() -> (&'static str, Style, String) {
    ("○", WAITING, "waiting for budget".to_owned())
}

fn waits_for(task: &TaskView, view: &RunView) -> String {
    let open = |id: &&types::TaskId| {
        let other = view.tasks.iter().find(|other| other.id == **id);
        other.is_some_and(|other| other.stage != TaskStage::Finished)
    };
    let open: Vec<String> = task.depends_on.iter().filter(open).map(ToString::to_string).collect();
    if open.is_empty() { "queued".to_owned() } else { format!("waiting for {}", open.join(", ")) }
}

/// Selects the entries that fit. Finished, skipped and waiting tasks are left out first.
fn fitting(entries: Vec<Entry>, most: usize) -> (Vec<Entry>, Vec<Entry>) {
    if entries.len() <= most {
        return (entries, Vec::new());
    }
    let weight = |entry: &Entry| match entry.stage {
        Some(TaskStage::Asking | TaskStage::Failed) => 0,
        _ if entry.mark == "?" => 0,
        Some(TaskStage::Waiting) => 3,
        Some(TaskStage::Finished | TaskStage::Skipped) => 4,
        Some(TaskStage::Retrying | TaskStage::Verified) => 2,
        _ => 1,
    };
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|place| weight(&entries[*place]));
    // One line is reserved for the summary of the rest.
    order.truncate(most.saturating_sub(1));
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for (place, entry) in entries.into_iter().enumerate() {
        if order.contains(&place) { shown.push(entry) } else { left_out.push(entry) }
    }
    (shown, left_out)
}

fn more(left_out: &[Entry]) -> String {
    let mut states: Vec<(&str, usize)> = Vec::new();
    for entry in left_out {
        let word = entry.stage.map_or("running", TaskStage::as_str);
        match states.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => states.push((word, 1)),
        }
    }
    let states: Vec<String> =
        states.iter().map(|(word, count)| format!("{count} {word}")).collect();
    format!("… {} more: {}", left_out.len(), states.join(", "))
}

#[cfg(test)]
pub(crate) mod tests;
