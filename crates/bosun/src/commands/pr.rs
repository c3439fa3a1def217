//! `bosun pr`: the title and body of a pull request for a result. Opens it only if the user asks for that.

use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::files;
use crate::home::Home;
use crate::print;
use crate::recorded;

pub(crate) async fn pr(home: &Home, args: args::PullRequest) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let (run, _) = recorded::newest_result(&bosun, "pr", args.run, None).await?;
    let proposed = bosun.pull_request(&run).await?;
    let text = format!("{}\n\n{}", proposed.text.title, proposed.text.body);
    if let Some(path) = &args.out {
        files::write(path, &text)?;
        print::note(&format!("written: {}", print::path(path)));
    }
    let address = match args.open {
        true => Some(bosun.open_pull_request(&proposed).await?),
        false => None,
    };
    if args.json {
        print::json(&json!({
            "run": run,
            "title": proposed.text.title,
            "body": proposed.text.body,
            "head": proposed.head,
            "base": proposed.base,
            "address": address,
        }))?;
    } else if let Some(address) = address {
        print::line(&address)?;
    } else if args.out.is_none() {
        print::bytes(text.as_bytes())?;
    }
    Ok(Exit::Done)
}
