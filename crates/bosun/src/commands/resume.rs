//! `bosun resume`: go on with a run from where its log ends.

use runtime::Order;
use types::{ListedRun, Status};

use crate::args;
use crate::commands::{pick, plan, sessions};
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{
    self,
    follow::{self, Form},
};

pub(crate) async fn resume(home: &Home, args: args::Resume) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    if let (Some(run), Some(path)) = (&args.run, &args.repository) {
        let bound = bosun.rebind(run, path).await?;
        print::note(&format!("{run} works in {} from now on", bound.display()));
        if sessions::one(&bosun, run).await?.is_none() && bosun.view(run).await?.ended.is_some() {
            return Ok(Exit::Done);
        }
    }
    if let Some(run) = &args.run
        && let Some(known) = sessions::one(&bosun, run).await?
    {
        return sessions::resume(home, &bosun, known, args.json).await;
    }
    if args.run.is_none()
        && let Some(known) = sessions::cut_off(&bosun).await?
    {
        return sessions::resume(home, &bosun, known, args.json).await;
    }
    let open = |run: &ListedRun| matches!(run.status, Status::Running | Status::Waiting);
    let run = pick(&bosun, args.run, open, CliError::NothingToResume).await?;
    let handle = bosun.resume(&run).await?;
    let form = Form::choose(args.json, Order::Arrival);
    let over = follow::until_over(home, &bosun, handle, form, &[]).await?;
    plan::hand_out(&bosun, form, &run).await?;
    Ok(over.told())
}
