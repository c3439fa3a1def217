//! The report of a run: goal, tasks, changes, checks, cost, and next steps.

use std::fmt::Write as _;

use super::{bad_mark, blocked_word, question, row, width};
use crate::chat::wrap::columns;
use crate::home::Home;
use owo_colors::OwoColorize as _;
use types::{
    CheckView, Ended, Forecast, GateView, Level, Money, RunView, Status, TaskStage, TaskView,
    Terms, TestsView, Usage, WorkPath, count, headline, one_line,
};

/// Column at which the values of the figures begin.
const INDENT: usize = 12;

/// Maximum number of tasks whose spending is listed.
const MOST_TASKS: usize = 20;

/// The estimated part of a usage, if any.
pub(crate) fn estimated(usage: Usage) -> String {
    match usage.estimated {
        0 => String::new(),
        tokens => format!(", {tokens} of them estimated"),
    }
}

/// Width of a task's row, without its title and its checks.
const ROW: usize = 31;

/// The report as text, with the next steps from this home. A run is `interrupted` if it should be running but is not
/// driven by any process.
pub(crate) fn report(view: &RunView, home: &Home, interrupted: bool) -> String {
    let (mut out, width) = (String::new(), width());
    let title =
        headline(&view.goal, width.map_or(100, |width| width.saturating_sub(13).clamp(20, 100)));
    let _ = writeln!(out, "\n{}  {title}", status(view, interrupted));
    if let Some(why) = &view.why {
        let reason = format!("{} ({})", one_line(&why.reason, 200), why.rule);
        let _ = writeln!(out, "{:<10} {}", "", wrapped(&reason, width, 11));
    }
    out.push('\n');
    let room = title_room(&view.tasks, width);
    for task in &view.tasks {
        let _ = writeln!(out, "  {}", task_line(task, room));
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
    numbers(&mut out, view, width);
    next(&mut out, view, home, interrupted);
    out
}

/// Width of the titles of tasks, so that a row fits the terminal.
fn title_room(tasks: &[TaskView], width: Option<usize>) -> usize {
    const MOST: usize = 44;
    let Some(width) = width else { return MOST };
    let longest = tasks.iter().map(|task| columns(&one_line(&task.title, MOST))).max();
    let beside = tasks.iter().map(|task| columns(&told_checks(task, plain_mark))).max();
    let room = width.saturating_sub(ROW + beside.unwrap_or_default());
    room.clamp(16, MOST).min(longest.unwrap_or(MOST))
}

/// Wraps a text between words to this width, with the following lines indented. Without a width it stays as it is.
fn wrapped(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(room) = width.map(|width| width.saturating_sub(indent).max(20)) else {
        return text.to_owned();
    };
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let long = columns(word);
        if used > 0 && used + 1 + long > room {
            let _ = write!(out, "\n{:indent$}", "");
            used = 0;
        }
        if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += long;
    }
    out
}

fn status(view: &RunView, interrupted: bool) -> String {
    let word = if interrupted { "interrupted" } else { view.status_word() };
    let word = format!("{word:<10}");
    match view.status {
        Status::Done => word.green().bold().to_string(),
        Status::Running | Status::Waiting => word.yellow().bold().to_string(),
        _ => word.red().bold().to_string(),
    }
}

/// The checks of a task, each with its mark, and the level of the task's evidence.
fn told_checks(task: &TaskView, mark: impl Fn(&CheckView) -> String) -> String {
    let checks = task.checks.iter();
    let checks = checks.map(|check| format!("{} {}", mark(check), one_line(&check.check.name, 30)));
    let level = task.evidence_label().map(|word| format!("  {word}"));
    format!("{}{}", checks.collect::<Vec<_>>().join(", "), level.unwrap_or_default())
}

fn task_line(task: &TaskView, room: usize) -> String {
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
    let title = one_line(&task.title, room);
    let checks = told_checks(task, mark);
    let line = format!("{:<5} {stage} {title:<room$} {tries:<11} {checks}", task.id);
    let line = match (&task.fault, task.stage) {
        (Some(fault), TaskStage::Failed) => format!("{line}\n        {}", one_line(fault, 160)),
        _ => match task.accepted_doubt() {
            Some(words) => format!("{line}\n        {}", one_line(&words, 240)),
            None => line.trim_end().to_owned(),
        },
    };
    task.tests.iter().fold(line, |line, tests| format!("{line}\n        {}", told_tests(tests)))
}

/// The tests by another author, and what they cost.
fn told_tests(tests: &TestsView) -> String {
    let files: Vec<&str> = tests.files.iter().map(WorkPath::as_str).collect();
    let files = if files.is_empty() { "none".to_owned() } else { one_line(&files.join(", "), 120) };
    let tokens = count(tests.spent.tokens, "token");
    format!("tests by another author: {files} ({}, {tokens})", tests.attempt)
}

fn mark(check: &CheckView) -> String {
    let plain = plain_mark(check);
    match check.ended {
        Some(Ended::Exited(0)) => plain.green().to_string(),
        Some(_) if check.excused => plain.replace('✔', &"✔".green().to_string()),
        Some(_) => plain.replace('✘', &bad_mark()),
        None => plain,
    }
}

/// Outcome of a check, without colours.
fn plain_mark(check: &CheckView) -> String {
    match check.ended {
        Some(Ended::Exited(0)) => "✔".to_owned(),
        Some(_) if check.excused => "✔ (no new failures)".to_owned(),
        Some(ended) => format!("✘ ({ended})"),
        None => "…".to_owned(),
    }
}

fn numbers(out: &mut String, view: &RunView, width: Option<usize>) {
    let gates: Vec<String> = view.gates.iter().map(gate).collect();
    out.push('\n');
    if !gates.is_empty() {
        let _ = writeln!(out, "  gates     {}", wrapped(&gates.join(", "), width, INDENT));
    }
    if let Some(isolation) = &view.isolation {
        let (level, attacks) =
            (isolation.level.as_str(), count(isolation.decision.seen.len(), "attack"));
        let _ = writeln!(
            out,
            "  sandbox   {level}, tested with {attacks} ({})",
            isolation.decision.rule
        );
    }
    let spent = format!(
        "{} tokens{}{}, {}",
        view.spent.tokens,
        kinds(view),
        priced(Some(view.spent.money)),
        count(view.spent.calls, "model call")
    );
    let _ = writeln!(out, "  spent     {}", wrapped(&spent, width, INDENT));
    expected(out, view, width);
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

/// The kinds of tokens; not while attempts are in progress, of which only the sum is known.
fn kinds(view: &RunView) -> String {
    let usage = view.usage;
    if usage.total() != view.spent.tokens {
        return String::new();
    }
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(", {cached} of them from the cache"),
    };
    format!(" ({} in{cached}, {} out{})", usage.input, usage.output, estimated(usage))
}

/// An amount after other figures; empty if no price is known.
fn priced(money: Option<Money>) -> String {
    let money = money.filter(|money| money.as_nanos() > 0);
    money.map(|money| format!(", ${money}")).unwrap_or_default()
}

/// The forecast, as a line below that of the plan.
pub(crate) fn forecast(view: &RunView) -> String {
    view.forecast
        .as_ref()
        .map(|forecast| format!("\n{}", row("forecast", &figures(forecast))))
        .unwrap_or_default()
}

fn figures(forecast: &Forecast) -> String {
    let money = priced(forecast.money);
    let time = forecast.time_ms.map(|time| format!(", {time}")).unwrap_or_default();
    let (from, reserve) = (forecast.from.as_str(), forecast.reserve_percent);
    let tests = Some(forecast.tests_tokens).filter(|tests| *tests > 0);
    let tests = tests.map(|tests| format!("{tests} tokens for tests by another author and "));
    let tests = tests.unwrap_or_default();
    let tokens = forecast.tokens;
    format!("{tokens} tokens{money}{time}, from {from}, including {tests}{reserve} % reserve")
}

/// A gate with its score.
fn gate(gate: &GateView) -> String {
    let blocked = gate.card.as_ref().map_or("no-go", |card| blocked_word(card.verdict));
    let word = match (gate.go, gate.reopened) {
        (true, _) => "go".to_owned(),
        (false, true) => format!("re-evaluated after {blocked}"),
        (false, false) => blocked.to_owned(),
    };
    let score = gate.card.as_ref().map(|card| format!(" {}", card.score)).unwrap_or_default();
    format!("{} {word}{score}", gate.phase.as_str())
}

/// Forecast against actual spending, in total and for each task.
fn expected(out: &mut String, view: &RunView, width: Option<usize>) {
    let Some(forecast) = &view.forecast else { return };
    let took = against(view.spent.tokens, forecast.tokens).filter(|_| view.spent.calls > 0);
    let took = took.map(|percent| format!("; {percent} used")).unwrap_or_default();
    let told = wrapped(&format!("{}{took}", figures(forecast)), width, INDENT);
    let _ = writeln!(out, "  forecast  {told}");
    for one in view.variance.iter().filter(|one| one.estimate_tokens.is_some()).take(MOST_TASKS) {
        let estimate = one.estimate_tokens.unwrap_or_default();
        let took = one.spent.tokens;
        let percent = against(took, estimate).map(|percent| format!(", {percent}"));
        let _ = writeln!(
            out,
            "            {:<5} {took} of {estimate} tokens{}",
            one.task,
            percent.unwrap_or_default()
        );
    }
}

/// The used part of what was expected; `None` if they have nothing to do with each other.
fn against(took: u64, expected: u64) -> Option<String> {
    const MOST: u64 = 1_000;
    let percent = took.saturating_mul(100).checked_div(expected)?;
    (percent < MOST).then(|| format!("{percent} %"))
}

fn next(out: &mut String, view: &RunView, home: &Home, interrupted: bool) {
    let (run, bosun) = (&view.run, home.flag());
    let lines = match view.status {
        _ if home.passing => vec![
            "The sample repository is removed on exit; `bosun demo --keep` keeps it.".to_owned(),
        ],
        _ if view.settled.is_some() => return,
        // Nothing was made, as by a plan-only run: there is nothing to accept.
        Status::Done if view.head == view.base => vec![format!("see why:     {bosun} why {run}")],
        Status::Done => vec![
            format!("inspect:     {bosun} diff {run}"),
            format!(
                "             git -C {} log -p {}..{}",
                types::shell_word(&one_line(&view.repository, 4_096)),
                view.base.short(),
                view.branch
            ),
            format!("review:      {bosun} review {run}"),
            format!("accept:      {bosun} accept {run}{}", with_tests(view)),
            format!("or discard:  {bosun} discard {run}"),
        ],
        Status::Running if interrupted => vec![format!("resume:      {bosun} resume {run}")],
        Status::Running => vec![format!("watch:       {bosun} watch {run}")],
        Status::Waiting => {
            let more = super::budget::continues(view);
            let more = more.map(|command| format!("continue:    {bosun} {command}"));
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
            .chain(more)
            .collect()
        }
        _ if view.head != view.base => vec![
            format!("see why:     {bosun} why {run}"),
            format!("accept:      {bosun} accept {run} --force"),
            format!("or discard:  {bosun} discard {run}"),
        ],
        _ => vec![format!("see why:     {bosun} why {run}")],
    };
    out.push('\n');
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}

/// How to accept the tests by another author, too, if the result passed any.
fn with_tests(view: &RunView) -> &'static str {
    let passed = |task: &TaskView| {
        task.evidence.as_ref().is_some_and(|weighed| weighed.level == Level::ProvenByOthers)
    };
    if view.tasks.iter().any(passed) { " [--tests: with those by another author]" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_broken_between_words_at_the_width_of_the_terminal() {
        let gates = "initiation go 100, planning go 95, execution go 100";
        assert_eq!(wrapped(gates, None, INDENT), gates);
        let told = wrapped(gates, Some(40), INDENT);
        assert_eq!(told, "initiation go 100, planning\n            go 95, execution go 100");
        assert_eq!(wrapped("a-word-that-is-longer-than-all-room", Some(30), 12).lines().count(), 1);
    }

    #[test]
    fn a_row_of_a_task_fits_the_terminal() {
        let task: TaskView = serde_json::from_value(serde_json::json!({
            "id": "T1", "title": "Add a command that prints the lowest height of all", "role": "coder",
            "stage": "finished", "attempts": 1, "merged": true, "depends_on": [], "artifacts": [],
            "checks": [{ "check": { "name": "cargo test", "command": "cargo test" },
                         "ended": { "exited": 0 } }],
        }))
        .expect("a task");
        let tasks = [task];
        let row = format!("  {}", task_line(&tasks[0], title_room(&tasks, Some(80))));
        let row = row.replace("\u{1b}[32m", "").replace("\u{1b}[39m", "");
        assert!(row.contains("Add a command that prints") && row.ends_with("cargo test"), "{row}");
        assert!(columns(&row) <= 80, "{row}");
        assert_eq!(title_room(&tasks, None), 44);
    }

    #[test]
    fn a_forecast_that_was_far_off_has_no_percentage() {
        assert_eq!(against(425, 400).as_deref(), Some("106 %"));
        assert_eq!((against(42_500, 400), against(1, 0)), (None, None));
    }

    #[test]
    fn an_amount_is_shown_only_where_a_price_is_known() {
        assert_eq!(priced(Some(Money::nanos(0))), "");
        assert_eq!(priced(Some(Money::nanos(1_500_000_000))), ", $1.5000");
    }
}
