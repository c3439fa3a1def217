//! `bosun cancel`: stop a run or session for good, whichever process drives it.

use runtime::{Bosun, Delivered, Error, Order, SessionError};
use types::{Command, ListedRun, RunId, SessionState, Status};

use crate::args::{self, RunRef};
use crate::confirm;
use crate::driven;
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print;
use crate::recorded;
use crate::sessions::{self, Known};

pub(crate) async fn cancel(home: &Home, args: args::Cancel) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let Some(run) = which(&bosun, args.run.as_ref()).await? else { return Ok(Exit::Failed) };
    if let Some(known) = sessions::one(&bosun, &run).await? {
        return cancel_session(&bosun, &known, args).await;
    }
    let view = bosun.view(&run).await?;
    if !matches!(view.status, Status::Running | Status::Waiting) {
        return Err(Error::Over { run, status: view.status.as_str() }.into());
    }
    let command = Command::Cancel { by: home::person(), reason: args.reason };
    let ended = async {
        match bosun.deliver(&run, &command).await {
            Ok(Delivered::Here(handle)) => {
                handle.finished().await?;
            }
            Ok(Delivered::Taken) | Err(Error::Over { .. }) => {}
            Err(error) => return Err(error),
        }
        bosun.until_over(&run).await
    };
    let view = driven::patiently(&run, ended).await?;
    let said = format!("run {} is {}\n", view.run, view.status.as_str());
    print::result(args.json, &view, &said)?;
    Ok(Exit::Done)
}

/// The named run; otherwise the newest open one if the user confirms it, and `None` if not.
async fn which(bosun: &Bosun, named: Option<&RunRef>) -> anyhow::Result<Option<RunId>> {
    if let Some(run) = recorded::if_named(bosun, named).await? {
        return Ok(Some(run));
    }
    let open = |run: &ListedRun| run.ended.is_none();
    let newest = recorded::fitting(bosun, open).await?.into_iter().next();
    let (run, listed) = newest.ok_or(CliError::NothingToCancel)?;
    let sure = confirm::sure("cancel", &run, &listed.goal)?;
    Ok(sure.then_some(run))
}

/// Closes a session for good, whichever process drives it.
async fn cancel_session(bosun: &Bosun, known: &Known, args: args::Cancel) -> anyhow::Result<Exit> {
    if known.view.state == SessionState::Closed {
        return Err(SessionError::Closed.into());
    }
    let by = home::person();
    let command = Command::Cancel { by: by.clone(), reason: args.reason };
    let closed = async {
        match bosun.deliver_to_session(&known.run, &command, &by).await {
            Ok(Some(session)) => session.abort().await,
            Ok(None) | Err(SessionError::Closed) => bosun.until_closed(&known.run, &by).await,
            Err(error) => Err(error),
        }
    };
    driven::patiently(&known.run, closed).await?;
    let Some(known) = sessions::one(bosun, &known.run).await? else { return Ok(Exit::Done) };
    let said = format!("session {} is {}\n", known.run, known.view.state.as_str());
    print::result(args.json, &known.json(), &said)?;
    Ok(Exit::Done)
}
