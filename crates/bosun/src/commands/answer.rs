//! `bosun answer`: answer a question that a run waits for, and go on with it.

use runtime::Order;
use types::{Command, QuestionView};

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
    let open: Vec<&QuestionView> =
        view.questions.iter().filter(|question| question.answer.is_none()).collect();
    let numbers: Vec<u32> = open.iter().map(|question| question.id).collect();
    let (number, text) = args.said(&numbers);
    let asked = open.into_iter().find(|asked| number.is_none_or(|number| number == asked.id));
    let asked = asked.ok_or(Wrong::NoQuestion { run: args.run.clone() })?;
    if let Some(terms) = &asked.terms {
        terms.choose(&text).map_err(Wrong::NotAChoice)?;
    }
    let command = Command::Answer { by: home::person(), question: asked.id, text };
    bosun.post(&args.run, &command).await?;
    if bosun.is_driven(&args.run).await? {
        print::note("handed on to the process that drives the run");
        return Ok(Exit::Done);
    }
    let handle = bosun.resume(&args.run).await?;
    follow::follow(home, &bosun, handle, Form::choose(args.json, Order::Arrival)).await
}
