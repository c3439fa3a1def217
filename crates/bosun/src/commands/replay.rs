//! `bosun replay`: decides a run and its attempts again, and prints the first difference.

use crate::args;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, replay as replayed};
use crate::recorded::newest;

pub(crate) async fn replay(home: &Home, args: args::Replay) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run).await?;
    let report = bosun.replay(&run).await?;
    print::result(args.json, &replayed::object(&run, &report), &replayed::told(&report))?;
    Ok(replayed::exit(&report))
}
