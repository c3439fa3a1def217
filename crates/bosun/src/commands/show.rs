//! `bosun show`: where a run stands, or its report.

use runtime::Order;

use crate::args;
use crate::commands::{newest, sessions};
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print::{self, report};

pub(crate) async fn show(home: &Home, args: args::Show) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = newest(&bosun, args.run, Wrong::NoRuns).await?;
    if let Some(known) = sessions::one(&bosun, &run).await? {
        if args.json {
            print::json(&known.json())?;
        } else {
            print::text(&known.report(home))?;
        }
        return Ok(Exit::Done);
    }
    let view = bosun.view(&run).await?;
    if let Some(phase) = args.gate {
        let judged = view.gates.iter().rev().find(|gate| gate.phase == phase);
        let judged = judged.ok_or(Wrong::NoGate { phase: phase.word() })?;
        print::text(&engine::gate::report::one(&view, judged))?;
    } else if args.gates {
        print::text(&engine::gate::report::all(&view))?;
    } else if args.json {
        print::json(&view)?;
    } else {
        print::text(&report::report(&view, home))?;
    }
    Ok(Exit::Done)
}
