//! `bosun rewind`: restore the files of a session as they were at an earlier line of its log.

use runtime::Order;
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print::{self, session};
use crate::recorded;

pub(crate) async fn rewind(home: &Home, args: args::Rewind) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = recorded::named(&bosun, &args.run).await?;
    let undone = bosun.rewind(&run, args.to, &home::person()).await?;
    let files = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    let (to, restored) = (undone.to, &undone.restored);
    let (written, removed) = (files(&restored.written), files(&restored.removed));
    let object = json!({ "run": run, "to": to, "written": written, "removed": removed });
    let told = session::undone(&undone);
    let said = format!("files restored to their state after line {to}: {told}\n");
    print::result(args.json, &object, &said)?;
    Ok(Exit::Done)
}
