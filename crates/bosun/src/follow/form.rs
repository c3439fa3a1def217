//! Display forms of a run, chosen by the command line and the terminal, and update intervals.

use std::time::Duration;

use runtime::{Mix, Order, Words};
use tokio::time::MissedTickBehavior;

use super::surface;
use crate::print;

/// Interval between progress reports of a run: well within the promised ten seconds.
pub(super) const PACE: Duration = Duration::from_secs(5);
/// Interval between frames of a live view, if something has changed.
const FRAME: Duration = Duration::from_millis(100);

/// Display form of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A live view on a terminal.
    Live,
    /// Plain lines.
    Plain,
    /// JSON lines.
    Json(Mix),
    /// In a format that a program expects.
    Told(Words),
    /// No output.
    Quiet,
}

impl Form {
    pub(crate) fn choose(json: bool, order: Order) -> Self {
        match (json, order) {
            (true, Order::Arrival) => Self::Json(Mix::Live),
            (true, Order::Started) => Self::Json(Mix::Grouped),
            (false, _) if print::is_quiet() => Self::Plain,
            (false, _) if surface::is_capable() => Self::Live,
            (false, _) => Self::Plain,
        }
    }
}

/// Interval at which a live view is painted.
pub(super) fn frames() -> tokio::time::Interval {
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    frames
}
