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
    if args.json {
        let files = |paths: &[std::path::PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let restored = &undone.restored;
        print::json(&json!({
            "run": run,
            "to": undone.to,
            "written": files(&restored.written),
            "removed": files(&restored.removed),
        }))?;
    } else {
        print::line(&format!(
            "files restored to their state after line {}: {}",
            undone.to,
            session::undone(&undone)
        ))?;
    }
    Ok(Exit::Done)
}
