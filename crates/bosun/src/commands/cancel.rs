//! `bosun cancel`: stop a run for good, whoever is driving it.

use futures::StreamExt as _;
use runtime::{DoorError, Mix, Order};
use types::{Command, Status};

use crate::args;
use crate::commands::sessions;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print;

pub(crate) async fn cancel(home: &Home, args: args::Cancel) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    if let Some(known) = sessions::one(&bosun, &args.run).await? {
        return sessions::cancel(&bosun, &known, args).await;
    }
    let view = bosun.view(&args.run).await?;
    if !matches!(view.status, Status::Running | Status::Waiting) {
        return Err(DoorError::Over { run: args.run, status: view.status.word() }.into());
    }
    let command = Command::Cancel { by: home::person(), reason: args.reason };
    bosun.post(&args.run, &command).await?;
    if bosun.is_driven(&args.run).await? {
        // Whoever drives it hears it soon; the end of the log says that it is done.
        let mut lines = Box::pin(bosun.watch(&args.run, Mix::Live));
        while let Some(line) = lines.next().await {
            line?;
        }
    } else {
        bosun.resume(&args.run).await?.finished().await?;
    }
    let view = bosun.view(&args.run).await?;
    if args.json {
        print::json(&view)?;
    } else {
        print::line(&format!("run {} is {}", view.run, view.status.word()))?;
    }
    Ok(Exit::Done)
}
