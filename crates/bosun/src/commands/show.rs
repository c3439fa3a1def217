//! `bosun show`: where a run stands, or its report.

use runtime::Order;

use crate::args;
use crate::commands::pick;
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print::{self, report};

pub(crate) async fn show(home: &Home, args: args::Show) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = pick(&bosun, args.run, |_| true, Wrong::NoRuns).await?;
    let view = bosun.view(&run).await?;
    if args.json {
        print::json(&view)?;
    } else {
        print::text(&report::report(&view, home))?;
    }
    Ok(Exit::Done)
}
