//! `bosun discard`: throw a run's result away, once the person is sure.

use std::io::{BufRead as _, IsTerminal as _};

use runtime::Order;
use serde_json::json;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print;

pub(crate) async fn discard(home: &Home, args: args::Discard) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let view = bosun.view(&args.run).await?;
    if !args.yes && view.settled.is_none() {
        if !std::io::stdin().is_terminal() {
            return Err(CliError::NotSure { run: args.run }.into());
        }
        let goal = print::one_line(&view.goal, 60);
        print::note(&format!("throw away {} ({goal})? type yes to do it", view.branch));
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if answer.trim() != "yes" {
            print::note("nothing was done");
            return Ok(Exit::Failed);
        }
    }
    let done = bosun.discard(&args.run, &home::person()).await?;
    if args.json {
        let (how, commit) = (done.settled.how.as_str(), &done.settled.commit);
        print::json(&json!({"run": args.run, "how": how, "commit": commit}))?;
    } else {
        print::line(&format!("run {}: {} is gone; its log stays", args.run, view.branch))?;
    }
    Ok(Exit::Done)
}
