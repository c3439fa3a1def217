//! `bosun watch`: the live view of a run that another process drives. Changes nothing.

use runtime::Order;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::follow::{self, Form};
use crate::home::Home;
use crate::recorded::newest;
use crate::sessions;

pub(crate) async fn watch(home: &Home, args: args::Watch) -> anyhow::Result<Exit> {
    let bosun = home.read(true).await?;
    let run = newest(&bosun, args.run, CliError::NoRuns).await?;
    if sessions::one(&bosun, &run).await?.is_some() {
        return Err(CliError::NotARun { run }.into());
    }
    let form = Form::choose(args.json, Order::Arrival);
    Box::pin(follow::watch(home, &bosun, &run, form)).await
}
