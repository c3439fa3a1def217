//! One line of the live view before layout: the contents of its columns. All texts are safe for a terminal.

use ratatui::style::Style;
use types::{PlanPhase, TaskStage};

/// Minimum width at which a text about a task is worth showing.
pub(super) const LEAST_TEXT: usize = 18;

/// One line below that of the run.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) phase: Option<PlanPhase>,
    pub(super) mark: &'static str,
    pub(super) style: Style,
    pub(super) id: String,
    pub(super) state: String,
    pub(super) stage: Option<TaskStage>,
    pub(super) title: String,
    /// Current action, or fault.
    pub(super) action: String,
    pub(super) who: String,
    pub(super) time: String,
    pub(super) cost: String,
}
