//! `bosun why`: all decisions of a run, or one of them in full.

use std::fmt::Write as _;

use engine::export::explain::{Why, decision, is_about, is_decided, place, why as explain};
use owo_colors::OwoColorize as _;
use rules::looked::Looked;
use types::{AttemptId, Envelope, Event, RunId, TaskId};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, one_line};
use crate::recorded::{newest_run, split};

/// Maximum length of a reason or input on a line.
const SHOWN: usize = 200;

pub(crate) async fn why(home: &Home, args: args::Why) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let (named, event) = split(&bosun, args.run, args.event).await;
    let run = newest_run(&bosun, named).await?;
    let blank = bosun.blank(&run).await?;
    let lines = runtime::recorded(&**bosun.journal(), &run).await?;
    let decided: Vec<&Envelope> = lines.iter().filter(|line| is_decided(&line.event)).collect();
    let Some(wanted) = event else {
        for line in decided {
            if args.json { print::json(&explain(&blank, &lines, line))? } else { list(line)? }
        }
        return Ok(Exit::Done);
    };
    let found = wanted_of(&run, &wanted, &decided, &lines)?;
    for (line, again) in found.iter().zip(0..) {
        let story = explain(&blank, &lines, line);
        let gap = if again > 0 { "\n" } else { "" };
        print::result(args.json, &story, &format!("{gap}{}", told(&story)))?;
    }
    Ok(Exit::Done)
}

/// The decisions about the requested line, task, attempt or question.
fn wanted_of<'a>(
    run: &RunId,
    wanted: &str,
    decided: &[&'a Envelope],
    lines: &[Envelope],
) -> Result<Vec<&'a Envelope>, CliError> {
    let question = wanted.strip_prefix('q').and_then(|number| number.parse::<u32>().ok());
    let asked = |line: &Envelope| {
        matches!(&line.event, Event::QuestionAsked { question: own, .. }
            if line.attempt.is_none() && Some(*own) == question)
    };
    let attempt: Option<AttemptId> = wanted.parse().ok();
    let task: Option<TaskId> = wanted.parse().ok();
    let is_wanted = |line: &&&Envelope| {
        place(line) == wanted
            || asked(line)
            || (line.attempt.is_some() && line.attempt == attempt)
            || task.as_ref().is_some_and(|task| is_about(line, task))
    };
    let found: Vec<&Envelope> = decided.iter().filter(is_wanted).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let there = lines.iter().find(|line| place(line) == wanted);
    let what = there.map_or_else(
        || format!("no line, task, attempt or question {wanted:?} in run {run}"),
        |line| format!("line {wanted} of run {run} ({}) is not a decision", line.event.kind()),
    );
    Err(CliError::NoDecision { what, run: run.clone() })
}

fn list(line: &Envelope) -> std::io::Result<()> {
    let (rule, reason) = match decision(&line.event) {
        Some(decision) => (decision.rule.to_string(), one_line(&decision.reason, 110)),
        None => ("a rule for each".to_owned(), line.event.summary()),
    };
    let row = format!("{:>9}  {:<17} {rule:<30} {reason}", place(line), line.event.kind());
    print::line(row.trim_end())
}

fn told(why: &Why) -> String {
    let mut out = format!("{}  {}  {}\n", why.place.bold(), why.event, why.summary);
    let mut row = |name: &str, text: &str| {
        let _ = writeln!(out, "  {name:<9} {text}");
    };
    if let Some(decision) = &why.decision {
        row("rule", decision.rule.as_str());
        row("reason", &one_line(&decision.reason, 2 * SHOWN));
    }
    row("at", &why.at.to_string());
    for (given, place) in why.inputs.iter().zip(0..) {
        let value = format!("{:<14} {}", given.name, one_line(&given.value, SHOWN));
        row(if place == 0 { "from" } else { "" }, &value);
    }
    let mut about = None;
    for (looked, place) in why.rules.iter().zip(0..) {
        if looked.about != about {
            about.clone_from(&looked.about);
            row("about", &one_line(about.as_deref().unwrap_or_default(), SHOWN));
        }
        row(if place == 0 { "asked" } else { "" }, &rule_line(looked));
    }
    if why.rules.is_empty() && why.decision.is_some() {
        row("asked", "no rule of the policy: this one is built in");
    }
    row(
        "again",
        match why.again {
            Some(true) => "replaying the log gives the same decision",
            Some(false) => "replaying the log gives a different decision: another version decided",
            None => "not replayed: it answers external input",
        },
    );
    out
}

fn rule_line(looked: &Looked) -> String {
    let mark = if looked.matched { "✔".green().to_string() } else { "·".dimmed().to_string() };
    let because = one_line(&looked.because.join("; "), SHOWN);
    format!("{mark} {:<30} {:<20} {because}", looked.rule, looked.says)
}
