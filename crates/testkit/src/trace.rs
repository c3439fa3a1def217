//! A recorded event as a line of a scenario's trace, without times.

use types::{AttemptId, Event};

/// The line of an event: its kind, its attempt, its summary.
pub(crate) fn trace_line(attempt: Option<&AttemptId>, event: &Event) -> String {
    let attempt = attempt.map(ToString::to_string).unwrap_or_default();
    format!("{:<18} {attempt:<7} {}", event.kind(), event.summary()).trim_end().to_owned()
}

/// Whether an event's line in the trace has this prefix, ignoring column widths.
pub(crate) fn starts_like(attempt: Option<&AttemptId>, event: &Event, wanted: &str) -> bool {
    let line = trace_line(attempt, event);
    line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(wanted)
}
