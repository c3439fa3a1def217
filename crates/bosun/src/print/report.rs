//! The report of a run: goal, tasks, changes, checks, cost, and next steps.

use std::fmt::Write as _;

use super::marks::{bad_mark, blocked_word, row};
use super::question;
use crate::home::Home;
use owo_colors::OwoColorize as _;
use types::{
    CheckView, Ended, Forecast, GateView, RunView, Status, TaskStage, TaskView, Terms, Usage,
    count, one_line,
};

/// The most tasks of which it is said what they took.
const MOST_TASKS: usize = 20;

/// How much of a usage is an estimate, if anything is.
pub(crate) fn estimated(usage: Usage) -> String {
    match usage.estimated {
        0 => String::new(),
        tokens => format!(", {tokens} of them estimated"),
    }
}

/// The report as text, with what can be done next from this home.
pub(crate) fn report(view: &RunView, home: &Home) -> String {
    let mut out = String::new();
    let title = one_line(&view.goal, 100);
    let _ = writeln!(out, "\n{}  {title}", status(view));
    if let Some(why) = &view.why {
        let _ = writeln!(out, "{:<10} {} ({})", "", one_line(&why.reason, 200), why.rule);
    }
    out.push('\n');
    for task in &view.tasks {
        let _ = writeln!(out, "  {}", task_line(task));
    }
    if !view.changes.0.is_empty() {
        let files = count(view.changes.0.len(), "file");
        let (added, removed) = (view.changes.added(), view.changes.removed());
        let _ = writeln!(out, "\n  changes   {files}, +{added} -{removed}");
        for file in &view.changes.0 {
            let _ = writeln!(
                out,
                "            {:<40} +{} -{}",
                one_line(file.path.as_str(), 200),
                file.added,
                file.removed
            );
        }
    }
    if !view.merged_checks.is_empty() {
        out.push_str("\n  checks on the merged tree\n");
        for check in &view.merged_checks {
            let command = one_line(&check.check.command, 70);
            let _ = writeln!(out, "            {} {command}", mark(check));
        }
    }
    numbers(&mut out, view);
    next(&mut out, view, home);
    out
}

fn status(view: &RunView) -> String {
    let word = format!("{:<10}", view.status_word());
    match view.status {
        Status::Done => word.green().bold().to_string(),
        Status::Running | Status::Waiting => word.yellow().bold().to_string(),
        _ => word.red().bold().to_string(),
    }
}

fn task_line(task: &TaskView) -> String {
    let stage = format!("{:<9}", task.stage.as_str());
    let stage = match task.stage {
        TaskStage::Finished => stage.green().to_string(),
        TaskStage::Failed => stage.red().to_string(),
        _ => stage,
    };
    let tries = match task.attempts {
        0 => String::new(),
        tries => count(tries, "attempt"),
    };
    let checks: Vec<String> = task
        .checks
        .iter()
        .map(|check| format!("{} {}", mark(check), one_line(&check.check.name, 30)))
        .collect();
    let title = one_line(&task.title, 44);
    let level = task.evidence.as_ref().map(|weighed| format!("  {}", weighed.level.as_str()));
    let checks = format!("{}{}", checks.join(", "), level.unwrap_or_default());
    let line = format!("{:<5} {stage} {title:<44} {tries:<11} {checks}", task.id);
    match (&task.fault, task.stage) {
        (Some(fault), TaskStage::Failed) => format!("{line}\n        {}", one_line(fault, 160)),
        _ => line.trim_end().to_owned(),
    }
}

fn mark(check: &CheckView) -> String {
    match check.ended {
        Some(Ended::Exited(0)) => "✔".green().to_string(),
        Some(_) if check.excused => format!("{} (fails only as before)", "✔".green()),
        Some(ended) => format!("{} ({ended})", bad_mark()),
        None => "…".to_owned(),
    }
}

fn numbers(out: &mut String, view: &RunView) {
    let gates: Vec<String> = view.gates.iter().map(gate).collect();
    out.push('\n');
    if !gates.is_empty() {
        let _ = writeln!(out, "  gates     {}", gates.join(", "));
    }
    if let Some(walls) = &view.walls {
        let (rung, held) = (walls.rung.as_str(), count(walls.decision.seen.len(), "time"));
        let _ = writeln!(out, "  sandbox   {rung}, attacked {held} ({})", walls.decision.rule);
    }
    let _ = writeln!(
        out,
        "  spent     {} tokens ({} in, {} out{}), ${}, {}",
        view.spent.tokens,
        view.usage.input,
        view.usage.output,
        estimated(view.usage),
        view.spent.money,
        count(view.spent.calls, "model call")
    );
    expected(out, view);
    let _ = writeln!(
        out,
        "  took      {}, {}, {}",
        view.elapsed_ms,
        count(view.attempts, "attempt"),
        count(view.retries, "retry")
    );
    for danger in &view.dangers {
        let _ = writeln!(out, "  {}   {}", "refused".red(), one_line(danger, 100));
    }
    if let Some(settled) = &view.settled {
        let (how, by) = (settled.how.as_str(), one_line(&settled.by, 40));
        let _ = writeln!(out, "  result    {how} by {by}, at {}", settled.commit.short());
    }
    if view.head != view.base {
        let _ = writeln!(out, "  branch    {} at {}", view.branch, view.head.short());
    }
    let _ = writeln!(out, "  run       {}", view.run);
}

/// What it is expected to take, as a line below that of the plan.
pub(crate) fn forecast(view: &RunView) -> String {
    view.forecast
        .as_ref()
        .map(|forecast| format!("\n{}", row("forecast", &figures(forecast))))
        .unwrap_or_default()
}

fn figures(forecast: &Forecast) -> String {
    let money = forecast.money.map(|money| format!(", ${money}")).unwrap_or_default();
    let time = forecast.time_ms.map(|time| format!(", {time}")).unwrap_or_default();
    let (tokens, from, reserve) =
        (forecast.tokens, forecast.from.as_str(), forecast.reserve_percent);
    format!("{tokens} tokens{money}{time}, from {from} with {reserve} % in reserve")
}

/// A gate with its score.
fn gate(gate: &GateView) -> String {
    let blocked = gate.card.as_ref().map_or("no-go", |card| blocked_word(card.verdict));
    let word = match (gate.go, gate.reopened) {
        (true, _) => "go".to_owned(),
        (false, true) => format!("{blocked}, then judged again:"),
        (false, false) => blocked.to_owned(),
    };
    let score = gate.card.as_ref().map(|card| format!(" {}", card.score)).unwrap_or_default();
    format!("{} {word}{score}", gate.phase.as_str())
}

/// What it was expected to take, against what it took, in all and for each task.
fn expected(out: &mut String, view: &RunView) {
    let Some(forecast) = &view.forecast else { return };
    let took = against(view.spent.tokens, forecast.tokens);
    let took = if view.spent.calls > 0 { format!("; it took {took}") } else { String::new() };
    let _ = writeln!(out, "  forecast  {}{took}", figures(forecast));
    for one in view.variance.iter().filter(|one| one.estimate_tokens.is_some()).take(MOST_TASKS) {
        let estimate = one.estimate_tokens.unwrap_or_default();
        let took = one.spent.tokens;
        let _ = writeln!(
            out,
            "            {:<5} {took} of {estimate} tokens, {}",
            one.task,
            against(took, estimate)
        );
    }
}

fn against(took: u64, expected: u64) -> String {
    match took.saturating_mul(100).checked_div(expected) {
        Some(percent) => format!("{percent} %"),
        None => "nothing was expected".to_owned(),
    }
}

fn next(out: &mut String, view: &RunView, home: &Home) {
    let (run, bosun) = (&view.run, home.flag());
    let lines = match view.status {
        _ if home.is_passing() => vec![
            "The sample repository is removed now; `bosun demo --keep` leaves it to look at."
                .to_owned(),
        ],
        _ if view.settled.is_some() => return,
        // Nothing was made, as by a run that only plans: there is nothing to take.
        Status::Done if view.head == view.base => vec![format!("see why:     {bosun} why {run}")],
        Status::Done => vec![
            format!(
                "look at it:  {bosun} diff {run}, or git -C {} log -p {}..{}",
                types::shell_word(&one_line(&view.repository, 4_096)),
                view.base.short(),
                view.branch
            ),
            format!("review it:   {bosun} review {run}"),
            format!("take it:     {bosun} accept {run}"),
            format!("or drop it:  {bosun} discard {run}"),
        ],
        Status::Running => vec![format!("go on:       {bosun} resume {run}")],
        Status::Waiting => {
            let open = view.questions.iter().filter(|question| question.answer.is_none());
            open.flat_map(|asked| {
                let (number, answer) = (asked.id, question::example(asked));
                let known = asked.terms.as_ref().map(Terms::known).filter(|all| !all.is_empty());
                let asks = format!("asked:       {}", one_line(&asked.text, 300));
                let says = format!("answer:      {bosun} answer {run} {number} {answer}");
                let of = known.map(|all| format!("choices:     {}", one_line(&all, 300)));
                let package = asked.terms.as_ref().and_then(|terms| terms.package.as_deref());
                let shown = package.map(|package| question::evidence(package, &" ".repeat(13)));
                let shown = shown.unwrap_or_default();
                let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
                std::iter::once(asks).chain(shown).chain(of).chain([says])
            })
            .collect()
        }
        _ if view.head != view.base => vec![
            format!("see why:     {bosun} why {run}"),
            format!("take it:     {bosun} accept {run} --force"),
            format!("or drop it:  {bosun} discard {run}"),
        ],
        _ => vec![format!("see why:     {bosun} why {run}")],
    };
    out.push('\n');
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}
