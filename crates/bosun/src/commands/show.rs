//! `bosun show`: the state or the report of a run, for people or in machine-readable formats.

use engine::export::{junit, project_state, sarif};
use runtime::{Bosun, Clock as _, RealClock};
use types::{RunId, SessionState};

use crate::args;
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, report};
use crate::recorded::{self, newest, whole};
use crate::sessions;

pub(crate) async fn show(home: &Home, args: args::Show) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run.clone()).await?;
    if let Some(known) = sessions::one(&bosun, &run).await? {
        if args.of_a_run() {
            return Err(CliError::NotARun { run }.into());
        }
        if args.json {
            print::json(&known.json())?;
        } else {
            let processing = known.view.state == SessionState::Processing;
            let interrupted = processing && !bosun.is_driven(&run).await?;
            print::text(&known.report(home, interrupted))?;
        }
        return Ok(Exit::Done);
    }
    if args.spec {
        print::text(&recorded::spec(&bosun, &run).await?.text())?;
    } else if args.response {
        print::json(&recorded::response(&bosun, &run).await?)?;
    } else if args.state || args.junit || args.sarif {
        let (machine, lines) = whole(&bosun, &run).await?;
        if args.state {
            print::json(&project_state(&machine, &lines, RealClock.now()))?;
        } else if args.junit {
            print::bytes(junit(&lines, &recorded::reports(&bosun, &lines).await?).as_bytes())?;
        } else {
            print::json(&sarif(&lines, env!("CARGO_PKG_VERSION")))?;
        }
    } else {
        report_on(home, &bosun, &run, &args).await?;
    }
    Ok(Exit::Done)
}

/// Prints the gates of a run, or its view.
async fn report_on(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    args: &args::Show,
) -> anyhow::Result<()> {
    let view = bosun.view(run).await?;
    if let Some(phase) = args.gate {
        let judged = view.gates.iter().rev().find(|gate| gate.phase == phase);
        let judged = judged.ok_or(CliError::NoGate { phase: phase.as_str() })?;
        print::text(&engine::stages::gate::report::one(&view, judged))?;
    } else if args.gates {
        print::text(&engine::stages::gate::report::all(&view))?;
    } else {
        let interrupted = driven::is_interrupted(bosun, run, view.status).await?;
        if args.json {
            print::line(&driven::json(&view, interrupted)?)?;
        } else {
            print::text(&report::report(&view, home, interrupted))?;
        }
    }
    Ok(())
}
