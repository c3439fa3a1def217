//! `bosun cancel`: stop a run for good, whoever is driving it.

use runtime::{Delivered, Error, Order};
use types::{Command, Status};

use crate::args;
use crate::commands::{driven, sessions};
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
        return Err(Error::Over { run: args.run, status: view.status.as_str() }.into());
    }
    let command = Command::Cancel { by: home::person(), reason: args.reason };
    let ended = async {
        match bosun.deliver(&args.run, &command).await {
            Ok(Delivered::Here(handle)) => {
                handle.finished().await?;
            }
            Ok(Delivered::Taken) | Err(Error::Over { .. }) => {}
            Err(error) => return Err(error),
        }
        bosun.until_over(&args.run).await
    };
    let view = driven::patiently(&args.run, ended).await?;
    if args.json {
        print::json(&view)?;
    } else {
        print::line(&format!("run {} is {}", view.run, view.status.as_str()))?;
    }
    Ok(Exit::Done)
}
