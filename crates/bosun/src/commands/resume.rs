//! `bosun resume`: go on with a run from where its log ends.

use runtime::Order;
use types::{ListedRun, Status};

use crate::args;
use crate::commands::{pick, sessions};
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print::follow::{self, Form};

pub(crate) async fn resume(home: &Home, args: args::Resume) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
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
    let run = pick(&bosun, args.run, open, Wrong::NothingToResume).await?;
    let handle = bosun.resume(&run).await?;
    follow::follow(home, &bosun, handle, Form::choose(args.json, Order::Arrival)).await
}
