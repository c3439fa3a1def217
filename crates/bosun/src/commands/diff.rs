//! `bosun diff`: the changes of a run, a task or an attempt. On a terminal they are coloured and escaped; elsewhere the
//! output is the patch as git writes it, so that `git apply` reads it.

use std::io::IsTerminal as _;

use runtime::{Bosun, RunDiff, RunPart};
use serde_json::json;
use types::RunId;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, patch};
use crate::recorded;

pub(crate) async fn diff(home: &Home, args: args::Diff) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let (run, part) = recorded::newest_result(&bosun, "diff", args.run, args.part).await?;
    let of = wanted(&run, part.as_deref())?;
    let diff = bosun.diff(&run, &of).await?;
    if args.json {
        print::json(&json!({
            "run": run,
            "of": part,
            "from": diff.from,
            "to": diff.to,
            "files": diff.changes,
            "patch": String::from_utf8_lossy(&diff.patch),
        }))?;
        return Ok(Exit::Done);
    }
    if diff.changes.0.is_empty() {
        print::note(&nothing(home, &bosun, &run, part.as_deref()).await?);
        return Ok(Exit::Done);
    }
    show(&args.form, &diff)?;
    Ok(Exit::Done)
}

/// Why there is nothing to show. Changes of a task that is waiting or has failed are not on the branch.
async fn nothing(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    part: Option<&str>,
) -> anyhow::Result<String> {
    if let Some(part) = part {
        return Ok(format!("{part} of run {run} has no changes"));
    }
    let view = bosun.view(run).await?;
    let tried = view.tasks.iter().find(|task| task.attempts > 0);
    Ok(match tried {
        Some(task) => {
            let (bosun, task) = (home.flag(), &task.id);
            format!(
                "run {run} has merged nothing yet; for the changes of a task: {bosun} diff {run} {task}"
            )
        }
        None => format!("run {run} has no changes"),
    })
}

/// The requested part: a task, an attempt such as T1.2, or else the whole result.
pub(super) fn wanted(run: &RunId, part: Option<&str>) -> Result<RunPart, CliError> {
    let Some(part) = part else { return Ok(RunPart::Whole) };
    if let Ok(attempt) = part.parse() {
        return Ok(RunPart::Attempt(attempt));
    }
    let no_part = |_| CliError::NotAPart { name: print::one_line(part, 80), run: run.clone() };
    part.parse().map(RunPart::Task).map_err(no_part)
}

fn show(form: &args::DiffForm, diff: &RunDiff) -> anyhow::Result<()> {
    if form.name_only {
        for file in &diff.changes.0 {
            print::line(&print::one_line(file.path.as_str(), 4_096))?;
        }
    } else if form.stat {
        print::text(&patch::stat(&diff.changes))?;
    } else if std::io::stdout().is_terminal() || print::has_colours() {
        print::text(&patch::shown(&String::from_utf8_lossy(&diff.patch), false))?;
    } else {
        print::bytes(&diff.patch)?;
    }
    Ok(())
}
