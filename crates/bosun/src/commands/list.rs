//! `bosun list`: all runs, the newest first.

use runtime::Order;

use crate::args;
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print;

pub(crate) async fn list(home: &Home, args: &args::List) -> anyhow::Result<Exit> {
    let runs = home.open(Order::Arrival).await?.list().await?;
    if runs.is_empty() && !args.json {
        print::note(&Wrong::NoRuns.to_string());
    }
    for view in runs {
        if args.json {
            print::json(&view)?;
        } else {
            let done = view.tasks.iter().filter(|task| task.commit.is_some()).count();
            print::line(&format!(
                "{:<12} {}  {:<20} {done}/{} tasks  {}",
                view.run,
                view.started,
                view.status.word(),
                view.tasks.len(),
                print::one_line(&view.goal, 60),
            ))?;
        }
    }
    Ok(Exit::Done)
}
