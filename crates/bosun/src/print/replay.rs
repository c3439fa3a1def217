//! The outcome of a replay: an object for programs, or lines with both sides of the first difference.

use engine::export::replay::{Difference, Report};
use serde_json::{Value, json};
use types::{RunId, count, one_line};

use crate::exit::Exit;

/// The exit code of a replay.
pub(crate) fn exit(report: &Report) -> Exit {
    if report.difference.is_some() { Exit::Differs } else { Exit::Done }
}

/// The report as an object for programs.
pub(crate) fn object(run: &RunId, report: &Report) -> Value {
    let difference = report.difference.as_ref().map(with_fields);
    json!({
        "run": run, "same": difference.is_none(), "logs": report.logs, "events": report.events,
        "decisions": report.decisions, "difference": difference,
        "rewording": {
            "lines": report.rewording.lines,
            "first": report.rewording.first.as_ref().map(with_fields),
        },
    })
}

fn with_fields(difference: &Difference) -> Value {
    let mut told = json!(difference);
    told["fields"] = json!(difference.fields());
    told
}

/// The report as text for people.
pub(crate) fn told(report: &Report) -> String {
    let mut text = format!("replayed {}", count(report.events, "event"));
    let attempts = report.logs.saturating_sub(1);
    if attempts > 0 {
        text += &format!(" of the run and {}", count(attempts, "attempt"));
    }
    match (&report.difference, &report.rewording.first) {
        (Some(difference), _) => {
            text += ", then found a difference\n\n";
            text += &sides(difference, "differs from what the rules decide", usize::MAX);
        }
        (None, None) => text += ", no difference\n",
        (None, Some(first)) => {
            let lines = count(report.rewording.lines, "line");
            text += &format!(", no difference in decisions; {lines} worded differently\n\n");
            text += &sides(first, "is the first whose wording differs from this version's", 1);
        }
    }
    text
}

/// Both sides of a difference, with at most so many fields.
fn sides(difference: &Difference, says: &str, most: usize) -> String {
    let Difference { log, seq, input, .. } = difference;
    let mut text = format!("line {seq} of {log} {says}\n");
    text += &format!("  input      {}\n", one_line(input, 200));
    for field in difference.fields().into_iter().take(most) {
        let side = |value: &Option<String>| match value {
            Some(value) => one_line(value, 220),
            None => "nothing".to_owned(),
        };
        text += &format!("  {}\n", one_line(&field.name, 100));
        text += &format!("    recorded {}\n", side(&field.recorded));
        text += &format!("    decided  {}\n", side(&field.decided));
    }
    text
}
