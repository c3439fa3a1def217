//! `bosun watch`: the live view of a run that another process drives. Changes nothing.

use runtime::Order;

use crate::args;
use crate::exit::Exit;
use crate::follow::{self, Form};
use crate::home::Home;
use crate::recorded::{must_be_a_run, newest};

pub(crate) async fn watch(home: &Home, args: args::Watch) -> anyhow::Result<Exit> {
    let bosun = home.read(true).await?;
    let run = newest(&bosun, args.run).await?;
    must_be_a_run(&bosun, &run).await?;
    let form = Form::choose(args.json, Order::Arrival);
    Box::pin(follow::watch(home, &bosun, &run, form)).await
}
