//! `bosun answer`: answer the question that a run waits for, and go on with it.

use runtime::Order;
use types::Command;

use crate::args;
use crate::commands::sessions;
use crate::exit::{Exit, Wrong};
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
    let mut open = view.questions.iter().filter(|question| question.answer.is_none());
    let open = open.find(|question| args.question.is_none_or(|number| number == question.id));
    let question = open.ok_or(Wrong::NoQuestion { run: args.run.clone() })?.id;
    let command = Command::Answer { by: home::person(), question, text: args.text };
    bosun.post(&args.run, &command).await?;
    if bosun.is_driven(&args.run).await? {
        print::note("handed on to the process that drives the run");
        return Ok(Exit::Done);
    }
    let handle = bosun.resume(&args.run).await?;
    follow::follow(home, &bosun, handle, Form::choose(args.json, Order::Arrival)).await
}
