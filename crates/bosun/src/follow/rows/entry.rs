//! One line of the live view before it is laid out: what each of its columns says. All texts are safe for a terminal.

use ratatui::style::Style;
use types::{PlanPhase, TaskStage};

/// The least that is worth showing of what a task is about or does.
pub(super) const LEAST_TEXT: usize = 18;

/// One line below the run's own.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) phase: Option<PlanPhase>,
    pub(super) mark: &'static str,
    pub(super) style: Style,
    pub(super) id: String,
    pub(super) state: String,
    pub(super) stage: Option<TaskStage>,
    pub(super) title: String,
    /// What is being done, or what went wrong.
    pub(super) action: String,
    pub(super) who: String,
    pub(super) time: String,
    pub(super) cost: String,
}
