//! The plan and the spec that a run was asked to hand out, printed or written when it is over or suspended, according
//! to the recorded request.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use runtime::Bosun;
use serde_json::json;
use types::{Event, LogId, PLAN_FORMAT, Plan, RunId, one_line, yaml};

use super::form::Form;
use crate::recorded::{self, whole};
use crate::{files, print};

/// Resolves a recorded path, relative to the current folder if possible.
fn from_here(repository: &str, path: &str) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in Path::new(repository).join(path).components() {
        match part {
            std::path::Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    let here = std::path::absolute(".").unwrap_or_default();
    whole.strip_prefix(here).map(Path::to_owned).unwrap_or(whole)
}

/// Hands out the plan, if only a plan was requested, and the spec of a run that is over or was left. Called by the
/// process that drove the run. The requested outputs are on record.
pub(crate) async fn hand_out(bosun: &Bosun, form: Form, run: &RunId) -> anyhow::Result<()> {
    let first = bosun.journal().read(&LogId::run(run.clone()), 0, 1).await?;
    let Some(Event::RunRequested { request, .. }) = first.first().map(|line| &line.event) else {
        return Ok(());
    };
    if request.outputs.is_none() && !request.planning.only {
        return Ok(());
    }
    let repository = bosun.view(run).await?.repository;
    let outputs = request.outputs.as_deref().cloned().unwrap_or_default();
    if let Some(path) = &outputs.spec {
        let path = from_here(&repository, path);
        files::write(&path, &recorded::spec(bosun, run).await?.text())?;
        print::note(&format!("wrote {}", print::path(&path)));
    }
    if !request.planning.only {
        return Ok(());
    }
    let out = outputs.plan.as_ref().map(|path| from_here(&repository, path));
    let (machine, _) = whole(bosun, run).await?;
    let Some(plan) = machine.plan() else { return Ok(()) };
    match form {
        Form::Json(_) => print::json(&json!({ "plan": plan }))?,
        Form::Live | Form::Plain => print::text(&told(plan))?,
        // Readers of these formats expect nothing else.
        Form::Told(_) | Form::Quiet => {}
    }
    if let Some(path) = &out {
        files::write(path, &written(plan, path)?)?;
        let path = print::path(path);
        print::note(&format!(
            "wrote {path}; edit it, commit it if it is in the repository, then: bosun run --plan {path} ..."
        ));
    }
    Ok(())
}

fn written(plan: &Plan, path: &Path) -> anyhow::Result<String> {
    let yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    if yaml {
        return Ok(yaml::canonical(&serde_json::to_value(plan)?, &PLAN_FORMAT.keys()));
    }
    Ok(serde_json::to_string_pretty(plan)? + "\n")
}

/// Formats a plan for people.
fn told(plan: &Plan) -> String {
    let mut text = String::from("\nplan\n");
    if !plan.summary.trim().is_empty() {
        let _ = writeln!(text, "  {}", one_line(&plan.summary, 300));
    }
    for task in &plan.tasks {
        let phase = task.phase.map(|phase| format!(", {}", phase.as_str())).unwrap_or_default();
        let title = one_line(&task.title, 80);
        let _ = writeln!(text, "\n  {:<5} {title} ({}{phase})", task.id, task.priority.as_str());
        let list = |of: &[String]| one_line(&of.join(", "), 110);
        let writes: Vec<String> = task.artifacts.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "        writes  {}", list(&writes));
        if !task.depends_on.is_empty() {
            let after: Vec<String> = task.depends_on.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "        after   {}", list(&after));
        }
        for criterion in &task.acceptance {
            let _ = writeln!(text, "        done if {}", one_line(criterion, 110));
        }
    }
    if !plan.risks.is_empty() {
        text.push_str("\n  risks\n");
    }
    for risk in &plan.risks {
        let what = one_line(&risk.description, 100);
        let _ = writeln!(text, "  {:<8}  {} ({})", risk.id, what, risk.severity.as_str());
    }
    for advice in &plan.recommendations {
        let _ = writeln!(text, "  advice    {}", one_line(advice, 110));
    }
    if let Some(totals) = plan.totals.as_ref().filter(|totals| totals.tokens > 0) {
        let money = totals.money.map(|money| format!(", ${money}")).unwrap_or_default();
        let strategy = plan.strategy.map(|strategy| format!("; {}", strategy.as_str()));
        let strategy = strategy.unwrap_or_default();
        let _ = writeln!(
            text,
            "\n  expected  {} tokens, {}{money}, including reserve{strategy}",
            totals.tokens, totals.time_ms
        );
    }
    text
}
