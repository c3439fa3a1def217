//! `bosun accept`: take a run's result onto the branch that is checked out.

use runtime::sandbox::Taken;
use runtime::{Acceptance, Order};
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print;

pub(crate) async fn accept(home: &Home, args: args::Accept) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let how = Acceptance { by: home::person(), merge: args.merge, force: args.force };
    let done = bosun.accept(&args.run, &how).await?;
    let (way, said) = match &done.taken {
        Some(Taken::Already(_)) => ("already", "was on your branch already"),
        Some(Taken::Merged(_)) => ("merged", "was merged into your branch"),
        _ => ("forwarded", "is on your branch now"),
    };
    let commit = &done.settled.commit;
    if args.json {
        let how = done.settled.how.word();
        print::json(&json!({"run": args.run, "how": how, "commit": commit, "way": way}))?;
    } else {
        let files = types::count(done.view.changes.0.len(), "file");
        print::line(&format!(
            "run {}: its result ({files}) {said}, at {}",
            args.run,
            commit.short()
        ))?;
    }
    Ok(Exit::Done)
}
