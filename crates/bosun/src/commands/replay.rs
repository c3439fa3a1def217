//! `bosun replay`: decide a run with all its attempts again, and show the first difference with both sides.

use engine::export::replay::{Difference, Report};
use serde_json::{Value, json};
use types::{RunId, count};

use crate::args;
use crate::commands::newest;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print;

pub(crate) async fn replay(home: &Home, args: args::Replay) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run, CliError::NoRuns).await?;
    let report = bosun.replay(&run).await?;
    if args.json {
        print::json(&object(&run, &report))?;
    } else {
        print::text(&told(&report))?;
    }
    Ok(exit(&report))
}

pub(crate) fn exit(report: &Report) -> Exit {
    if report.difference.is_some() { Exit::Differs } else { Exit::Done }
}

pub(crate) fn object(run: &RunId, report: &Report) -> Value {
    let difference = report.difference.as_ref().map(|difference| {
        let mut told = json!(difference);
        told["fields"] = json!(difference.fields());
        told
    });
    json!({
        "run": run, "same": difference.is_none(), "logs": report.logs, "events": report.events,
        "decisions": report.decisions, "difference": difference,
    })
}

/// What came of it, in lines.
pub(crate) fn told(report: &Report) -> String {
    let mut text = format!("decided again: {}", count(report.events, "event"));
    let attempts = report.logs.saturating_sub(1);
    if attempts > 0 {
        text += &format!(" of the run and {}", count(attempts, "attempt"));
    }
    match &report.difference {
        None => text += ", no difference\n",
        Some(difference) => text += &format!(", then a difference\n\n{}", sides(difference)),
    }
    text
}

/// Both sides of a difference.
fn sides(difference: &Difference) -> String {
    let Difference { log, seq, input, .. } = difference;
    let mut text = format!("line {seq} of {log} is not what the rules decide\n");
    text += &format!("  came in    {}\n", print::one_line(input, 200));
    for field in difference.fields() {
        let side = |value: &Option<String>| match value {
            Some(value) => print::one_line(value, 220),
            None => "nothing".to_owned(),
        };
        text += &format!("  {}\n", print::one_line(&field.name, 100));
        text += &format!("    recorded {}\n", side(&field.recorded));
        text += &format!("    decided  {}\n", side(&field.decided));
    }
    text
}
