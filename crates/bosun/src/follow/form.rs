//! How a run is shown, by the command line and the terminal, and how often something is said of it.

use std::time::Duration;

use runtime::{Mix, Order, Words};
use tokio::time::MissedTickBehavior;

use super::surface;
use crate::print;

/// How often a run that goes on says how far it is: well within the ten seconds that are promised.
pub(super) const PACE: Duration = Duration::from_secs(5);
/// How often a live view is painted, if something has changed.
const FRAME: Duration = Duration::from_millis(100);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A live view on a terminal.
    Live,
    /// Plain lines.
    Plain,
    /// JSON lines.
    Json(Mix),
    /// In the words that a program expects.
    Told(Words),
    /// Not at all.
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

/// The beats at which a live view is painted.
pub(super) fn frames() -> tokio::time::Interval {
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
    frames
}
