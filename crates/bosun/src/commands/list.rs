//! `bosun list`: runs and sessions, newest first, by folder, state and number. Unreadable ones get a line of their own.

use std::path::Path;

use runtime::{Bosun, Clock as _, Entry, Found, ListFilter, RealClock, presets};
use serde_json::json;
use types::{ListedRun, SessionState, Spend, Status, Timestamp, count};

use crate::args::{self, ListState};
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::table::{Cell, table};
use crate::print::{self, one_line};
use crate::{driven, sessions};

pub(crate) async fn list(home: &Home, args: &args::List) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let all = bosun.overview(args.json).await?;
    let none = all.is_empty();
    let shown = chosen(&bosun, args, all).await?;
    if args.json {
        for (entry, interrupted) in shown {
            print::line(&json(&bosun, entry, interrupted).await?)?;
        }
        return Ok(Exit::Done);
    }
    if print::is_quiet() {
        for (entry, _) in shown {
            print::line(entry.run.as_str())?;
        }
        return Ok(Exit::Done);
    }
    if shown.is_empty() {
        let why = if none { CliError::NoRuns.to_string() } else { "no run matches".to_owned() };
        print::note(&why);
        return Ok(Exit::Done);
    }
    let now = RealClock.now();
    let rows: Vec<Vec<Cell>> =
        shown.iter().map(|(entry, interrupted)| row(entry, *interrupted, now)).collect();
    let heads = ["RUN", "AGE", "STATE", "DONE", "COST", "REPOSITORY", "ABOUT"];
    print::text(&table(&heads, &rows, print::width()))?;
    if let Some((entry, _)) = shown.iter().find(|(_, interrupted)| *interrupted) {
        let (bosun, run) = (home.flag(), &entry.run);
        print::note(&format!("resume an interrupted run with: {bosun} resume {run}"));
    }
    Ok(Exit::Done)
}

/// The entries to show, each with whether it is interrupted. That is not recorded: a run without a driver is one.
async fn chosen(
    bosun: &Bosun,
    args: &args::List,
    all: Vec<Entry>,
) -> anyhow::Result<Vec<(Entry, bool)>> {
    let mut shown = vec![];
    for entry in filter(args)?.of(all) {
        if args.limit.is_some_and(|most| shown.len() >= most) {
            break;
        }
        let running = match &entry.found {
            Found::Run { listed, .. } => listed.status == Status::Running,
            Found::Session(listed) => listed.state == SessionState::Processing,
            Found::Damaged { .. } | Found::Newer { .. } => false,
        };
        if !running {
            shown.push((entry, false));
            continue;
        }
        let interrupted = driven::is_interrupted(bosun, &entry.run, Status::Running).await?;
        let state = if interrupted { ListState::Interrupted } else { ListState::Running };
        let wanted = |named: &ListState| [ListState::Open, state].contains(named);
        if args.states.is_empty() || args.states.iter().any(wanted) {
            shown.push((entry, interrupted));
        }
    }
    Ok(shown)
}

fn filter(args: &args::List) -> Result<ListFilter, CliError> {
    let named = args.repo.as_deref().or_else(|| args.here.then_some(Path::new(".")));
    let folder = match named {
        Some(folder) if !folder.is_dir() => {
            return Err(CliError::NoFolder { path: one_line(&folder.display().to_string(), 200) });
        }
        Some(folder) => {
            let top = presets::top(folder);
            Some(top.canonicalize().unwrap_or(top))
        }
        None => None,
    };
    let states = args.states.iter().copied().map(Into::into).collect();
    Ok(ListFilter { folder, states })
}

/// JSON of an entry; for a run, its whole view.
async fn json(bosun: &Bosun, entry: Entry, interrupted: bool) -> anyhow::Result<String> {
    let found = match entry.found {
        Found::Run { view: Some(view), .. } => return Ok(view),
        Found::Run { .. } => match bosun.view_or_why(&entry.run).await? {
            Ok(view) => return Ok(driven::json(&view, interrupted)?),
            Err(why) => why,
        },
        found => found,
    };
    let unreadable = |kind: &str, why: &str| {
        let why = json!({ "kind": kind, "why": why });
        json!({ "run": entry.run, "started": entry.started, "unreadable": why }).to_string()
    };
    Ok(match &found {
        Found::Session(listed) => sessions::listed_json(&entry.run, listed).to_string(),
        Found::Damaged { why } => unreadable("damaged", why),
        Found::Newer { why } => unreadable("newer", why),
        Found::Run { .. } => String::new(),
    })
}

fn row(entry: &Entry, interrupted: bool, now: Timestamp) -> Vec<Cell> {
    let (state, done, cost, folder, about) = match &entry.found {
        Found::Run { listed, .. } => (
            state(listed, interrupted),
            format!("{}/{}", listed.finished, listed.tasks),
            listed.spent,
            listed.repository.as_str(),
            about(listed),
        ),
        Found::Session(listed) => (
            format!("session {}", if interrupted { "interrupted" } else { listed.state.as_str() }),
            count(listed.turns, "turn"),
            Some(Spend {
                money: listed.cost.unwrap_or_default(),
                tokens: listed.usage.input + listed.usage.output,
                ..Spend::default()
            }),
            listed.folder.as_str(),
            listed.about.clone(),
        ),
        Found::Damaged { why } => ("damaged".to_owned(), String::new(), None, "", why.clone()),
        Found::Newer { why } => {
            ("made by a newer Bosun".to_owned(), String::new(), None, "", why.clone())
        }
    };
    vec![
        Cell::left(entry.run.as_str()),
        Cell::right(&print::age(now.since(entry.started))),
        Cell::left(&state),
        Cell::left(&done),
        Cell::right(&cost.map(print::cost).unwrap_or_default()),
        Cell::left(&print::folder_name(folder)),
        Cell::left(&one_line(&about, 120)),
    ]
}

/// The goal. A follow-up has the goal of the run before it, so it is shown with that run.
fn about(listed: &ListedRun) -> String {
    match &listed.follows {
        Some(before) => format!("follows {before}: {}", listed.goal),
        None => listed.goal.clone(),
    }
}

fn state(listed: &ListedRun, interrupted: bool) -> String {
    match listed.settled {
        None if interrupted => "interrupted".to_owned(),
        None if listed.out_of_budget => {
            let (waits, why) = (listed.status, Status::OutOfBudget);
            format!("{}, {}", waits.as_str(), why.as_str())
        }
        Some(settled) => format!("{}, {}", listed.status_word(), settled.as_str()),
        None => listed.status_word().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use types::Money;

    use super::*;

    #[test]
    fn a_cost_is_rounded_up_to_the_cent() {
        let amounts = [(0, "$0.00"), (1, "$0.01"), (10_000_000, "$0.01"), (1_234_500_000, "$1.24")];
        for (nanos, shown) in amounts {
            assert_eq!(print::dollars(Money::nanos(nanos)), shown);
        }
    }

    #[test]
    fn without_a_price_the_cost_is_shown_in_tokens() {
        let spent =
            |nanos, tokens| Spend { money: Money::nanos(nanos), tokens, ..Spend::default() };
        assert_eq!(print::cost(spent(0, 31_720)), "31k tok");
        assert_eq!(print::cost(spent(0, 900)), "900 tok");
        assert_eq!(print::cost(spent(20_000_000, 900)), "$0.02");
        assert_eq!(print::cost(spent(0, 0)), "");
    }
}
