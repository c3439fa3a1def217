//! `bosun plan`: have a plan made, and stop there; and what a run is told about its spec and its plan.

use std::fmt::Write as _;
use std::path::Path;

use engine::plan::BadPlan;
use runtime::Bosun;
use serde_json::json;
use types::{PLAN_FORMAT, Plan, Policy, Request, RunId, one_line, yaml};

use crate::args;
use crate::commands::run::{read, run};
use crate::commands::{spec, whole};
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print::{self, follow::Form};

pub(crate) async fn plan(home: &Home, args: args::Plan) -> anyhow::Result<Exit> {
    if args.schema {
        print::json(&engine::plan::schema())?;
        return Ok(Exit::Done);
    }
    let mut asked = args.run;
    asked.only_plan = Some(args.out);
    Box::pin(run(home, asked)).await
}

/// The request with its spec and its plan.
pub(crate) fn request(
    args: &args::Run,
    policy: &Policy,
    mut request: Request,
) -> Result<Request, Wrong> {
    let planned = &args.planned;
    if let Some(path) = &planned.spec {
        request = engine::spec::request(spec::load(path)?, request);
    }
    request.planning.only = args.only_plan.is_some();
    request.planning.approve = planned.approve_plan;
    if let Some(path) = &planned.plan {
        let plan = engine::plan::read(policy, &request, &read(path)?);
        let plan = plan.map_err(|bad| Wrong::NotAPlan {
            path: path.display().to_string(),
            cause: match bad {
                BadPlan::Parse(error) => error.to_string(),
                BadPlan::Invalid(problems) => {
                    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
            },
        })?;
        request.planning.given = Some(Box::new(plan));
    }
    Ok(request)
}

/// What is handed out when a run is over or left: its plan, if that was all that was asked for, and its spec.
pub(crate) async fn hand_out(
    bosun: &Bosun,
    args: &args::Run,
    form: Form,
    run: &RunId,
) -> anyhow::Result<()> {
    if let Some(path) = &args.planned.spec_out {
        spec::write(path, &spec::of_run(bosun, run).await?.text())?;
        print::note(&format!("wrote {}", path.display()));
    }
    let Some(out) = &args.only_plan else { return Ok(()) };
    let (machine, _) = whole(bosun, run).await?;
    let Some(plan) = machine.plan() else { return Ok(()) };
    match form {
        Form::Json(_) => print::json(&json!({ "plan": plan }))?,
        Form::Live | Form::Plain => print::text(&told(plan))?,
        // Whoever reads these expects nothing else.
        Form::Told(_) | Form::Quiet => {}
    }
    if let Some(path) = out {
        spec::write(path, &written(plan, path)?)?;
        print::note(&format!(
            "wrote {}; edit it, then: bosun run --plan {} ...",
            path.display(),
            path.display()
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

/// A plan for people.
fn told(plan: &Plan) -> String {
    let mut text = String::from("\nplan\n");
    if !plan.summary.trim().is_empty() {
        let _ = writeln!(text, "  {}", one_line(&plan.summary, 300));
    }
    for task in &plan.tasks {
        let phase = task.phase.map(|phase| format!(", {}", phase.word())).unwrap_or_default();
        let title = one_line(&task.title, 80);
        let _ = writeln!(text, "\n  {:<5} {title} ({}{phase})", task.id, task.priority.word());
        let list = |of: &[String]| one_line(&of.join(", "), 110);
        let writes: Vec<String> = task.artifacts.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "        writes  {}", list(&writes));
        if !task.depends_on.is_empty() {
            let after: Vec<String> = task.depends_on.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "        after   {}", list(&after));
        }
        for criterion in &task.acceptance {
            let _ = writeln!(text, "        done    {}", one_line(criterion, 110));
        }
    }
    if !plan.risks.is_empty() {
        text.push_str("\n  risks\n");
    }
    for risk in &plan.risks {
        let what = one_line(&risk.description, 100);
        let _ = writeln!(text, "  {:<8}  {} ({})", risk.id, what, risk.severity.word());
    }
    for advice in &plan.recommendations {
        let _ = writeln!(text, "  advice    {}", one_line(advice, 110));
    }
    if let Some(totals) = plan.totals.as_ref().filter(|totals| totals.tokens > 0) {
        let money = totals.money.map(|money| format!(", ${money}")).unwrap_or_default();
        let strategy = plan.strategy.map(|strategy| strategy.word()).unwrap_or_default();
        let _ = writeln!(
            text,
            "\n  expected  {} tokens, {}{money}, with the reserve; {strategy}",
            totals.tokens, totals.time_ms
        );
    }
    text
}
