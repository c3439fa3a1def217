//! `bosun questions`: all open questions, with the command that answers each.

use runtime::{Bosun, Clock as _, Entry, Found, RealClock};
use serde_json::json;
use types::{QuestionView, RunId};

use crate::args;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, question};
use crate::sessions;

pub(crate) async fn questions(home: &Home, args: &args::Questions) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let now = RealClock.now();
    let mut open: Vec<(RunId, QuestionView)> = Vec::new();
    for entry in bosun.overview(false).await? {
        match asked_by(&bosun, &entry).await {
            Ok(asked) => open.extend(asked.into_iter().map(|asked| (entry.run.clone(), asked))),
            Err(error) => {
                print::note(&format!("cannot read the questions of {}: {error}", entry.run));
            }
        }
    }
    // The most serious first, then the oldest.
    let severity = |asked: &QuestionView| asked.terms.as_ref().map(|terms| terms.severity);
    open.sort_by_key(|(_, asked)| (std::cmp::Reverse(severity(asked)), asked.asked));
    if open.is_empty() && !args.json {
        print::note("no open questions");
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

/// Open questions of a run or session. Reads the logs only of those that wait.
async fn asked_by(bosun: &Bosun, entry: &Entry) -> anyhow::Result<Vec<QuestionView>> {
    match &entry.found {
        Found::Run { listed, .. } if listed.ended.is_none() && listed.questions > 0 => {
            let view = bosun.view(&entry.run).await?;
            Ok(view.questions.into_iter().filter(|asked| asked.answer.is_none()).collect())
        }
        Found::Session(listed) if listed.question.is_some() => {
            let Some(known) = sessions::one(bosun, &entry.run).await? else { return Ok(vec![]) };
            Ok(known.question(bosun).await?.into_iter().collect())
        }
        Found::Damaged { why } => anyhow::bail!("damaged: {why}"),
        Found::Newer { why } => anyhow::bail!("made by a newer Bosun: {why}"),
        Found::Run { .. } | Found::Session(_) => Ok(vec![]),
    }
}
