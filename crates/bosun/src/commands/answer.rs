//! `bosun answer`: answer a question that a run waits for, and go on with it.

use runtime::Order;
use types::Command;

use crate::args;
use crate::commands::sessions;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print::{
    self,
    follow::{self, Form},
};

pub(crate) async fn answer(home: &Home, args: args::Answer) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    if let Some(known) = sessions::one(&bosun, &args.run).await? {
        return sessions::answer(home, &bosun, &known, args).await;
    }
    let view = bosun.view(&args.run).await?;
    let open = view.questions.iter().filter(|asked| asked.answer.is_none());
    let open: Vec<_> = open.map(|asked| (asked.id, asked.terms.as_ref())).collect();
    let (question, text) = args.said(&open)?;
    let command = Command::Answer { by: home::person(), question, text };
    bosun.post(&args.run, &command).await?;
    if bosun.is_driven(&args.run).await? {
        print::note("handed on to the process that drives the run");
        return Ok(Exit::Done);
    }
    let handle = bosun.resume(&args.run).await?;
    follow::follow(home, &bosun, handle, Form::choose(args.json, Order::Arrival)).await
}
