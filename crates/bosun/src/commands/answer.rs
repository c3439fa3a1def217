//! `bosun answer`: answer a question that a run waits for, and go on with it.

use runtime::{Delivered, Order};
use types::Command;

use crate::args;
use crate::commands::{driven, plan, sessions};
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
    match driven::patiently(&args.run, bosun.deliver(&args.run, &command)).await? {
        Delivered::Taken => {
            print::note("handed on: the process that drives the run has taken it");
            Ok(Exit::Done)
        }
        Delivered::Here(handle) => {
            let form = Form::choose(args.json, Order::Arrival);
            let over = follow::until_over(home, &bosun, handle, form, &[]).await?;
            plan::hand_out(&bosun, form, &args.run).await?;
            Ok(over.told())
        }
    }
}
