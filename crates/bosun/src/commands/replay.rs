//! `bosun replay`: decides a run and its attempts again, and prints the first difference. `bosun fork`: a new run or
//! session that begins as a copy of another one up to a line of its log.

use runtime::Order;
use runtime::fork::{Fork, NewFork};
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, replay as replayed};
use crate::recorded::newest;

pub(crate) async fn replay(home: &Home, args: args::Replay) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run).await?;
    let report = bosun.replay(&run).await?;
    print::result(args.json, &replayed::object(&run, &report), &replayed::told(&report))?;
    Ok(replayed::exit(&report))
}

pub(crate) async fn fork(home: &Home, args: args::Fork) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let at = args.at;
    let from = newest(&bosun, args.run).await?;
    let new = NewFork { from, at, into: args.into, id: None };
    let fork = bosun.fork(new).await?;
    if args.json {
        let Fork { run, origin, session, anew } = &fork;
        print::json(&json!({ "run": run, "origin": origin, "session": session, "anew": anew }))?;
        return Ok(Exit::Done);
    }
    let Fork { run, origin, session, anew } = fork;
    print::line(&format!("{run} is a copy of {} up to line {}", origin.run, origin.seq))?;
    if origin.seq != at {
        let last = origin.seq;
        print::note(&format!(
            "line {at} is part of a decision that ends at line {last}; copied up to there"
        ));
    }
    if !anew.is_empty() {
        let names: Vec<String> = anew.iter().map(ToString::to_string).collect();
        print::note(&format!("restarted: {}", names.join(", ")));
    }
    let next = if session { "chat --resume" } else { "resume" };
    print::note(&format!("resume with: {} {next} {run}", home.flag()));
    Ok(Exit::Done)
}
