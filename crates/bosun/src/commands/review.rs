//! `bosun review`: shows a result task by task, takes comments on its lines, and starts the run that follows from them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _};

use runtime::{Bosun, Clock as _, Comment, Order, RealClock, RunPart, presets};
use serde_json::json;
use types::{RunId, TaskId, TaskView, count};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::follow::{self, Form};
use crate::home::{self, Home};
use crate::print::{self, one_line, patch};
use crate::recorded;
use crate::rules::takes_project;

pub(crate) async fn review(home: &Home, args: args::Review) -> anyhow::Result<Exit> {
    let bosun = if args.send {
        let here = std::path::Path::new(".");
        if takes_project(home, here)? {
            home.work_in(&presets::top(here));
        }
        home.open(Order::Arrival).await?
    } else {
        home.read(false).await?
    };
    let (named, task) = (args.run.clone(), args.task.clone());
    let (run, task) = recorded::newest_result(&bosun, "review", named, task).await?;
    if args.clear {
        let had = bosun.comments(&run)?.len();
        bosun.clear_comments(&run)?;
        print::note(&format!("removed {} on {run}", count(had, "comment")));
    }
    for new in args.new.chunks_exact(2) {
        let comment = comment(&new[0], &new[1])?;
        let all = bosun.comment(&run, comment).await?;
        print::note(&format!("{} on {run}", count(all.len(), "comment")));
    }
    if args.send {
        return send(home, &bosun, &run, &args).await;
    }
    if args.comments {
        return list(&bosun, &run, args.json);
    }
    if args.clear || !args.new.is_empty() {
        return Ok(Exit::Done);
    }
    Box::pin(go_through(home, &bosun, &run, task.as_deref(), args.json)).await
}

/// A comment on a task, a file or a line: `T2`, `T2:src/a.rs`, `T2:src/a.rs:12`.
fn comment(place: &str, text: &str) -> Result<Comment, CliError> {
    let not_a_place = || CliError::NotAPlace { place: one_line(place, 120) };
    if text.trim().is_empty() {
        return Err(CliError::EmptyComment { place: one_line(place, 120) });
    }
    let (task, rest) = place.split_once(':').unwrap_or((place, ""));
    let (path, line) = match rest.rsplit_once(':') {
        Some((path, line)) => (path, Some(line.parse::<u64>().map_err(|_| not_a_place())?)),
        None => (rest, None),
    };
    let path = match path {
        "" => None,
        path => Some(path.parse().map_err(|_| not_a_place())?),
    };
    Ok(Comment {
        task: task.parse().map_err(|_| not_a_place())?,
        path,
        line,
        text: text.trim().to_owned(),
        by: home::person(),
        at: RealClock.now(),
    })
}

fn list(bosun: &Bosun, run: &RunId, as_json: bool) -> anyhow::Result<Exit> {
    let all = bosun.comments(run)?;
    if all.is_empty() && !as_json {
        print::note(&format!("no comments on {run}"));
    }
    for comment in &all {
        print::result(as_json, comment, &format!("{}\n", told(comment)))?;
    }
    Ok(Exit::Done)
}

fn told(comment: &Comment) -> String {
    let (place, by) = (one_line(&comment.place(), 160), one_line(&comment.by, 40));
    format!("{place}  {}  ({by})", one_line(&comment.text, 400))
}

/// Shows the tasks one after another, and takes comments on a terminal.
async fn go_through(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    task: Option<&str>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let view = bosun.view(run).await?;
    let landed = bosun.landed(run).await?;
    let is_wanted = |one: &&TaskView| {
        let is_on_the_branch = landed.iter().any(|merge| merge.task == one.id);
        task.map_or(is_on_the_branch, |task| task == one.id.as_str())
    };
    let tasks: Vec<&TaskView> = view.tasks.iter().filter(is_wanted).collect();
    if let ([], Some(name)) = (tasks.as_slice(), task) {
        return Err(CliError::NotAPart { name: one_line(name, 80), run: run.clone() }.into());
    }
    if tasks.is_empty() {
        return Err(runtime::ReviewError::Nothing { run: run.clone() }.into());
    }
    let here = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !as_json;
    for one in tasks {
        let diff = bosun.diff(run, &RunPart::Task(one.id.clone())).await?;
        let mut comments = bosun.comments(run)?;
        comments.retain(|comment| comment.task == one.id);
        if as_json {
            let patch = String::from_utf8_lossy(&diff.patch);
            print::json(&json!({
                "run": run, "task": one, "files": diff.changes, "patch": patch, "comments": comments,
            }))?;
            continue;
        }
        print::text(&head(one))?;
        print::text(&patch::stat(&diff.changes))?;
        print::text(&patch::shown(&String::from_utf8_lossy(&diff.patch), true))?;
        for comment in &comments {
            print::line(&format!("  comment: {}", told(comment)))?;
        }
        if here && !Box::pin(ask(bosun, run, &one.id)).await? {
            break;
        }
    }
    if !as_json {
        next(home, bosun, run)?;
    }
    Ok(Exit::Done)
}

fn head(task: &TaskView) -> String {
    let level = task.evidence_label().map(|word| format!(", {word}"));
    let (title, stage) = (one_line(&task.title, 100), task.stage.as_str());
    format!("\n{}  {title} ({stage}{})\n", task.id, level.unwrap_or_default())
}

/// Takes comments on a task until the user continues; returns whether they do.
async fn ask(bosun: &Bosun, run: &RunId, task: &TaskId) -> anyhow::Result<bool> {
    loop {
        print::note(
            "comment as PATH:LINE TEXT, PATH TEXT or TEXT; Enter for the next task, q to quit:",
        );
        let mut said = String::new();
        if std::io::stdin().lock().read_line(&mut said)? == 0 || said.trim() == "q" {
            return Ok(false);
        }
        let said = said.trim();
        if said.is_empty() {
            return Ok(true);
        }
        let kept = match placed(said) {
            Some((place, text)) => {
                let first = comment(&format!("{task}:{place}"), text);
                match first.map(|first| bosun.comment(run, first)) {
                    Ok(kept) => kept.await.map_err(anyhow::Error::from),
                    Err(wrong) => Err(wrong.into()),
                }
            }
            None => Ok(bosun.comment(run, comment(task.as_str(), said)?).await?),
        };
        match kept {
            Ok(all) => print::note(&format!("{} on {run}", count(all.len(), "comment"))),
            Err(wrong) => print::note(&format!("{wrong}")),
        }
    }
}

/// Splits a line into the place that it begins with and the comment; `None` if it begins with no place.
fn placed(said: &str) -> Option<(&str, &str)> {
    let (first, rest) = said.split_once(char::is_whitespace)?;
    let path = first.rsplit_once(':').map_or(first, |(path, _)| path);
    let is_path = path.contains(['/', '.']) && !path.ends_with('.');
    is_path.then_some((first, rest.trim()))
}

fn next(home: &Home, bosun: &Bosun, run: &RunId) -> anyhow::Result<()> {
    let flag = home.flag();
    match bosun.comments(run)?.len() {
        0 => print::note(&format!("accept: {flag} accept {run}")),
        comments => {
            let comments = count(comments, "comment");
            print::note(&format!("address {comments}: {flag} review {run} --send"));
        }
    }
    Ok(())
}

/// Starts the run that follows from the comments, and follows it.
async fn send(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    args: &args::Review,
) -> anyhow::Result<Exit> {
    let model = match (&args.script, &args.model) {
        (None, None) => None,
        (script, named) => Some(home.model(bosun, script.as_deref(), named.clone()).await?),
    };
    let new = bosun.follow_up(run, model).await?;
    let handle = bosun.start(new).await?;
    bosun.clear_comments(run)?;
    let next = handle.run();
    print::note(&format!("{next} starts from the result of {run}, with your comments"));
    let form = Form::choose(args.json, Order::Arrival);
    follow::follow(home, bosun, handle, form, BTreeMap::new()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_a_task_a_file_or_a_line() {
        for place in ["T2", "T2:src/a b.rs", "T2:src/a.rs:12"] {
            assert_eq!(comment(place, "no").expect(place).place(), place);
        }
        for place in ["", "T2:src/a.rs:x", "T2:../a:1", "a b"] {
            assert!(comment(place, "no").is_err(), "{place}");
        }
        assert!(comment("T2", "  ").is_err());
    }

    #[test]
    fn what_is_typed_may_begin_with_a_place() {
        assert_eq!(placed("src/a.rs:12 use tabs"), Some(("src/a.rs:12", "use tabs")));
        assert_eq!(placed("README.md say why"), Some(("README.md", "say why")));
        assert_eq!(placed("This. is all wrong"), None);
        assert_eq!(placed("wrong"), None);
    }
}
