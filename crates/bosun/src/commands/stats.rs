//! `bosun stats`: figures over all runs.

use std::collections::BTreeMap;

use engine::export::{Share, Stats, rounded_percent};
use runtime::{Clock as _, RealClock};
use types::{Spend, Timestamp, count};

use crate::args::{self, Since};
use crate::exit::Exit;
use crate::home::Home;
use crate::print;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(crate) async fn stats(home: &Home, args: &args::Stats) -> anyhow::Result<Exit> {
    let bosun = home.read_complete().await?;
    let since = args.since.map(|since| match since {
        Since::Date(date) => date,
        Since::Days(days) => {
            Timestamp::from_millis(RealClock.now().millis() - i64::from(days) * DAY_MS)
        }
    });
    let stats = bosun.stats(since, &|_| true).await?;
    print::result(args.json, &serde_json::to_value(&stats)?, &told(&stats, since))?;
    Ok(Exit::Done)
}

fn told(stats: &Stats, since: Option<Timestamp>) -> String {
    let removed = match stats.removed {
        0 => String::new(),
        removed => format!("not counted: {removed} removed by `bosun gc`\n"),
    };
    if stats.runs == 0 {
        let since = since.map(|since| format!(" since {}", since.date())).unwrap_or_default();
        return format!("no runs{since}\n{removed}");
    }
    let statuses = stats.by_status.iter().map(|(status, number)| format!("{number} {status}"));
    let mut lines =
        vec![format!("{}: {}", count(stats.runs, "run"), statuses.collect::<Vec<_>>().join(", "))];
    for (name, share, what) in [
        ("completed", stats.completed, "runs that ended, except refused and cancelled ones"),
        ("first pass", stats.first_pass, "finished tasks"),
        ("recovered", stats.recovered, "tasks that took more than one attempt"),
    ] {
        lines.push(format!("  {name:<12} {}", of(share, what)));
    }
    let forecast = stats.forecast;
    if let Some(percent) = rounded_percent(forecast.spent_tokens, forecast.forecast_tokens) {
        lines.push(format!(
            "  {:<12} {percent} % of it spent; within 10 % in {} of {}",
            "forecast",
            forecast.within_a_tenth,
            count(forecast.runs, "run")
        ));
    }
    lines.push(format!("  {:<12} {}", "questions", stats.questions));
    lines.push(format!("  {:<12} {}", "spent", cost(stats.spent)));
    for (name, all) in [
        ("by model", &stats.by_model),
        ("by role", &stats.by_role),
        ("by project", &stats.by_project),
    ] {
        lines.extend(table(name, all));
    }
    lines.join("\n") + "\n" + &removed
}

fn of(share: Share, what: &str) -> String {
    match share.percent() {
        Some(percent) => format!("{percent} % of {what} ({} of {})", share.are, share.of),
        None => format!("no {what}"),
    }
}

/// Rows in descending order of spending.
fn table(name: &str, all: &BTreeMap<String, Spend>) -> Vec<String> {
    let mut rows: Vec<(&String, &Spend)> = all.iter().collect();
    rows.sort_by_key(|(_, spent)| std::cmp::Reverse((spent.money, spent.tokens)));
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    let rows = rows.into_iter().zip(names);
    rows.map(|((who, spent), name)| {
        format!("  {name:<12} {:<40} {}", print::one_line(&short(who), 60), cost(*spent))
    })
    .collect()
}

/// Shortens the hash in the name of a script.
fn short(who: &str) -> String {
    match who.strip_prefix("script/") {
        Some(hash) => format!("script/{}", hash.chars().take(12).collect::<String>()),
        None => who.to_owned(),
    }
}

fn cost(spent: Spend) -> String {
    // Nothing was charged, or no price is known: either way there is no amount to show.
    let priced = spent.money.as_nanos() > 0;
    let money = if priced { format!("${}, ", spent.money) } else { String::new() };
    format!("{money}{} tokens, {}", spent.tokens, count(spent.calls, "call"))
}
