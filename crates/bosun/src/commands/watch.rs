//! `bosun watch`: the live view of a run that another process drives. `bosun top`: all runs of this journal that are
//! not over, in a table that refreshes. Neither changes anything.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::text::Line;
use runtime::{ActiveRun, Bosun, Clock as _, Order, RealClock};
use types::{Spend, Timestamp, count, one_line};

use crate::args;
use crate::exit::Exit;
use crate::follow::{self, Form, Surface};
use crate::home::Home;
use crate::print::table::{Cell, table};
use crate::print::{self, age, cost, folder_name};
use crate::recorded::{must_be_a_run, newest};

/// Refresh interval of the table.
const REFRESH: Duration = Duration::from_secs(1);

pub(crate) async fn watch(home: &Home, args: args::Watch) -> anyhow::Result<Exit> {
    let bosun = home.read(true).await?;
    let run = newest(&bosun, args.run).await?;
    must_be_a_run(&bosun, &run).await?;
    let form = Form::choose(args.json, Order::Arrival);
    Box::pin(follow::watch(home, &bosun, &run, form)).await
}

pub(crate) async fn top(home: &Home, args: &args::Top) -> anyhow::Result<Exit> {
    let once = args.once || args.json || print::is_quiet() || !follow::is_capable();
    let bosun = home.read(!once).await?;
    if !once {
        return refreshing(&bosun).await;
    }
    let active = bosun.active().await?;
    if args.json {
        active.iter().try_for_each(print::json)?;
    } else if print::is_quiet() {
        active.iter().try_for_each(|run| print::line(run.run.as_str()))?;
    } else if active.is_empty() {
        print::note("no active runs; `bosun list` shows all");
    } else {
        print::text(&drawn(&active, RealClock.now(), print::width()))?;
    }
    Ok(Exit::Done)
}

async fn refreshing(bosun: &Bosun) -> anyhow::Result<Exit> {
    let mut surface = Surface::enter();
    let mut beats = tokio::time::interval(REFRESH);
    let stopped = follow::signal();
    tokio::pin!(stopped);
    let mut active: Vec<ActiveRun> = Vec::new();
    loop {
        tokio::select! {
            _ = beats.tick() => active = bosun.active().await?,
            _ = &mut stopped => return Ok(Exit::Done),
            Some(key) = surface.key() => if is_leaving(&key) {
                return Ok(Exit::Done);
            },
        }
        let (columns, rows) = surface.size();
        let width = usize::from(columns).saturating_sub(1).max(8);
        surface.print("", screen(&active, RealClock.now(), width, usize::from(rows)))?;
    }
}

fn is_leaving(key: &Event) -> bool {
    let Event::Key(key) = key else { return false };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c' | 'd') => control,
        _ => false,
    }
}

/// The lines that fit the terminal: a summary and the table.
fn screen(active: &[ActiveRun], now: Timestamp, width: usize, rows: usize) -> Vec<Line<'static>> {
    let questions: u64 = active.iter().map(|run| run.questions).sum();
    let cut = |text: &str| crate::chat::wrap::cut(text, width);
    let runs = count(active.len(), "run");
    let head = format!("{runs} active, {} open · q to quit", count(questions, "question"));
    let mut lines = vec![Line::styled(cut(&head), crate::chat::look::BOLD)];
    if !active.is_empty() {
        let text = drawn(active, now, Some(width));
        lines.extend(text.lines().map(|line| Line::raw(cut(line))));
    }
    let most = rows.saturating_sub(1).max(2);
    if lines.len() > most {
        let left_out = lines.len() - most + 1;
        lines.truncate(most - 1);
        lines.push(Line::styled(cut(&format!("… {left_out} more")), crate::chat::look::DIM));
    }
    lines
}

/// The table; narrow terminals get fewer columns.
fn drawn(active: &[ActiveRun], now: Timestamp, width: Option<usize>) -> String {
    const HEADS: [&str; 8] = ["RUN", "STATE", "?", "DONE", "AGE", "COST", "REPOSITORY", "LAST"];
    let width_or = width.unwrap_or(usize::MAX);
    // The state and the questions are most important, then the progress, then the rest.
    let shown: &[usize] = match width_or {
        0..56 => &[0, 1, 2, 7],
        56..80 => &[0, 1, 2, 3, 7],
        80..104 => &[0, 1, 2, 3, 4, 5, 7],
        _ => &[0, 1, 2, 3, 4, 5, 6, 7],
    };
    let heads: Vec<&str> = shown.iter().map(|at| HEADS[*at]).collect();
    let rows: Vec<Vec<Cell>> = active
        .iter()
        .map(|run| {
            let cells = cells(run, now);
            shown.iter().filter_map(|at| cells.get(*at).cloned()).collect()
        })
        .collect();
    table(&heads, &rows, width)
}

fn cells(run: &ActiveRun, now: Timestamp) -> Vec<Cell> {
    let questions = if run.questions > 0 { run.questions.to_string() } else { String::new() };
    let (money, tokens) = (run.cost.unwrap_or_default(), run.tokens.unwrap_or_default());
    let who = run.last_by.as_ref().map(|who| format!("{who}: ")).unwrap_or_default();
    let ago = run.last_at.map(|at| format!("{} ago ", age(now.since(at)))).unwrap_or_default();
    let last = run.last_action.as_deref().unwrap_or(&run.goal);
    vec![
        Cell::left(run.run.as_str()),
        Cell::left(&run.state),
        Cell::right(&questions),
        Cell::left(&format!("{}/{}", run.finished, run.tasks)),
        Cell::right(&age(now.since(run.started))),
        Cell::right(&cost(Spend { money, tokens, ..Spend::default() })),
        Cell::left(&folder_name(&run.repository)),
        Cell::left(&one_line(&format!("{ago}{who}{last}"), 160)),
    ]
}

#[cfg(test)]
mod tests {
    use types::{Money, Status};

    use super::*;

    fn run(last: &str) -> ActiveRun {
        ActiveRun {
            run: "r_1a2b3c4d".parse().expect("a run"),
            goal: "Add a tide command".to_owned(),
            repository: "/srv/harbour".to_owned(),
            status: Status::Waiting,
            state: "waiting for a person".to_owned(),
            interrupted: false,
            started: Timestamp::from_millis(0),
            updated: Timestamp::from_millis(0),
            tasks: 3,
            finished: 1,
            questions: 2,
            tokens: Some(1_000),
            cost: Some(Money::nanos(120_000_000)),
            last_by: Some("T1.2".to_owned()),
            last_action: Some(last.to_owned()),
            last_at: Some(Timestamp::from_millis(60_000)),
        }
    }

    #[test]
    fn the_table_fits_every_width_and_hostile_text_cannot_act() {
        let hostile = "edit_file \x1b[2Jsrc/main.rs and a long path that goes on and on";
        let active = [run(hostile), run(hostile)];
        let now = Timestamp::from_millis(65_000);
        for width in [40, 80, 120, 200] {
            let lines = screen(&active, now, width, 24);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            assert!(text.contains("r_1a2b3c4d") && text.contains("waiting"), "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        let wide = drawn(&active, now, Some(200));
        for part in ["$0.12", "harbour", "1/3", "5 s ago T1.2: edit_file"] {
            assert!(wide.contains(part), "{part} is not in {wide}");
        }
        assert_eq!(screen(&active, now, 80, 3).len(), 2, "two rows fit, one stays free");
    }
}
