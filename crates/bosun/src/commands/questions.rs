//! `bosun questions`: everything that waits for a person, with the command that answers it.

use runtime::{Clock as _, RealClock};
use serde_json::json;
use types::{QuestionView, RunId};

use crate::args;
use crate::commands::sessions;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, question};

pub(crate) async fn questions(home: &Home, args: &args::Questions) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let now = RealClock.now();
    let mut open: Vec<(RunId, QuestionView)> = Vec::new();
    for view in bosun.list().await?.into_iter().filter(|view| view.ended.is_none()) {
        let asked = view.questions.into_iter().filter(|asked| asked.answer.is_none());
        open.extend(asked.map(|asked| (view.run.clone(), asked)));
    }
    for known in sessions::all(&bosun).await? {
        open.extend(known.question(&bosun).await?.map(|asked| (known.run.clone(), asked)));
    }
    // The most serious first, then the oldest.
    let severity = |asked: &QuestionView| asked.terms.as_ref().map(|terms| terms.severity);
    open.sort_by_key(|(_, asked)| (std::cmp::Reverse(severity(asked)), asked.asked));
    if open.is_empty() && !args.json {
        print::note("nothing waits for an answer");
    }
    for (run, asked) in &open {
        let command = format!("{} answer {run} {}", home.flag(), asked.id);
        if args.json {
            let mut line = serde_json::to_value(asked)?;
            line["run"] = json!(run);
            line["age_ms"] = json!(now.since(asked.asked));
            line["command"] = json!(format!("{command} {}", question::example(asked)));
            print::json(&line)?;
        } else {
            print::text(&question::shown(run, asked, now, args.whole))?;
            print::line(&format!("    {command} {}\n", question::example(asked)))?;
        }
    }
    Ok(Exit::Done)
}
