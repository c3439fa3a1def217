//! `bosun rewind`: put the files of a session back to what they were at an earlier line of its log.

use runtime::Order;

use crate::args;
use crate::exit::{Exit, Wrong};
use crate::home::{self, Home};
use crate::print;

pub(crate) async fn rewind(home: &Home, args: args::Rewind) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    if !bosun.is_session(&args.run).await? {
        return Err(Wrong::NotASession { run: args.run }.into());
    }
    let session = bosun.reopen(&args.run, &home::person()).await?;
    let restored = session.rewind(args.to).await;
    session.suspend().await?;
    let restored = restored?;
    if args.json {
        print::json(
            &serde_json::json!({ "run": args.run, "to": args.to, "files": restored.files }),
        )?;
    } else {
        print::line(&format!(
            "{} files are what they were after line {}",
            restored.files, args.to
        ))?;
    }
    Ok(Exit::Done)
}
