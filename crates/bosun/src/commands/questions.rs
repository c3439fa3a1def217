//! `bosun questions`: everything that waits for a person, with the command that answers it.

use runtime::Order;
use serde_json::json;
use types::{QuestionView, RunId, Timestamp};

use crate::args;
use crate::commands::sessions;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, question};

pub(crate) async fn questions(home: &Home, args: &args::Questions) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let mut open: Vec<(RunId, QuestionView, Timestamp)> = Vec::new();
    for view in bosun.list().await?.into_iter().filter(|view| view.ended.is_none()) {
        let now = view.started.after(view.elapsed_ms);
        let asked = view.questions.into_iter().filter(|asked| asked.answer.is_none());
        open.extend(asked.map(|asked| (view.run.clone(), asked, now)));
    }
    for known in sessions::all(&bosun).await? {
        open.extend(known.question().map(|asked| (known.run.clone(), asked, known.started)));
    }
    // The most serious first, then the oldest.
    let severity = |asked: &QuestionView| asked.terms.as_ref().map(|terms| terms.severity);
    open.sort_by_key(|(_, asked, _)| (std::cmp::Reverse(severity(asked)), asked.asked));
    if open.is_empty() && !args.json {
        print::note("nothing waits for an answer");
    }
    for (run, asked, now) in &open {
        let command = format!("{} answer {run} {}", home.flag(), asked.id);
        if args.json {
            let mut line = serde_json::to_value(asked)?;
            line["run"] = json!(run);
            line["age_ms"] = json!(now.since(asked.asked));
            line["command"] = json!(format!("{command} {}", question::example(asked)));
            print::json(&line)?;
        } else {
            print::text(&question::shown(run, asked, *now, args.whole))?;
            print::line(&format!("    {command} {}\n", question::example(asked)))?;
        }
    }
    Ok(Exit::Done)
}
