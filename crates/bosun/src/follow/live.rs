//! The live view on a terminal: finished lines scroll by above a status of the work in progress.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use runtime::{Delta, DeltaKind};
use types::{Progress, RunView, TaskId, TaskStage, TaskView, one_line};

use crate::print::marks::row;

/// Below this many tasks each has a line of its own; of more, only those that are under way.
const FEW: usize = 12;

pub(crate) struct Live {
    screen: MultiProgress,
    head: ProgressBar,
    tasks: Vec<ProgressBar>,
    /// The last line that a command wrote.
    last: ProgressBar,
}

impl Live {
    pub(crate) fn new() -> Self {
        let screen = MultiProgress::new();
        let head = screen.add(ProgressBar::new_spinner());
        head.set_style(style("{spinner:.cyan} {msg}"));
        head.enable_steady_tick(Duration::from_millis(100));
        let last = screen.add(ProgressBar::new_spinner());
        last.set_style(style("    {msg:.dim}"));
        Self { screen, head, tasks: Vec::new(), last }
    }

    /// A line that stays.
    pub(crate) fn say(&self, line: &str) {
        // A terminal that went away is noticed by the next write to standard output.
        if let Err(error) = self.screen.println(line) {
            tracing::debug!(%error, "writing to the terminal");
        }
    }

    pub(crate) fn show(&mut self, view: &RunView) {
        self.head.set_message(format!(
            "{}  {}  {} tokens  ${}  {}",
            view.phase.as_str(),
            far(&view.progress),
            view.spent.tokens,
            view.spent.money,
            one_line(&view.goal, 50),
        ));
        let busy = |task: &&TaskView| {
            view.tasks.len() <= FEW
                || !matches!(
                    task.stage,
                    TaskStage::Waiting | TaskStage::Finished | TaskStage::Skipped
                )
        };
        let shown: Vec<&TaskView> = view.tasks.iter().filter(busy).take(FEW).collect();
        while self.tasks.len() < shown.len() {
            let bar = self.screen.insert_before(&self.last, ProgressBar::new_spinner());
            bar.set_style(style("    {msg}"));
            self.tasks.push(bar);
        }
        for (place, bar) in self.tasks.iter().enumerate() {
            bar.set_message(shown.get(place).map(|task| task_row(task)).unwrap_or_default());
        }
    }

    /// What commands say, of which the last line stays until the next.
    pub(crate) fn hear(&self, delta: &Delta) {
        let last = delta.text.lines().rev().find(|line| !line.trim().is_empty());
        if let (DeltaKind::Output, Some(line)) = (delta.kind, last) {
            let who = delta.log.attempt.as_ref().map_or("check".to_owned(), ToString::to_string);
            self.last.set_message(format!("{who:<8} {}", one_line(line, 90)));
        }
    }

    pub(crate) fn clear(self) {
        self.last.finish_and_clear();
        self.tasks.iter().for_each(ProgressBar::finish_and_clear);
        self.head.finish_and_clear();
    }
}

/// How far a run is, in a line.
pub(crate) fn progress(progress: &Progress) -> String {
    let current: Vec<&str> = progress.current.iter().take(8).map(TaskId::as_str).collect();
    row(progress.phase.as_str(), &format!("{} {}", far(progress), current.join(" ")))
}

fn far(progress: &Progress) -> String {
    let left = progress.remaining_ms.filter(|left| left.0 > 0);
    let left = left.map(|left| format!(", about {left} left")).unwrap_or_default();
    let (percent, done, total) = (progress.percent, progress.completed, progress.total);
    format!("{percent} %  {done}/{total} tasks{left}")
}

fn task_row(task: &TaskView) -> String {
    let tries =
        if task.attempts > 1 { format!(" (attempt {})", task.attempts) } else { String::new() };
    format!("{:<5} {:<9} {}{tries}", task.id, task.stage.as_str(), one_line(&task.title, 50))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
