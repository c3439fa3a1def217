//! What the preset `strict` needs at the terminal: a project's own files are read, its folder `runs/` is written as a
//! run goes, and whatever fails is said as one JSON object.

use std::path::PathBuf;

use engine::export::error_object;
use runtime::Bosun;
use runtime::presets::{self, strict as project};
use tokio::task::JoinHandle;
use types::{Policy, RunId, RunView, Status};

use crate::args;
use crate::print;
use crate::rules::Origin;

/// Reads the project's files into the policy and the arguments.
pub(crate) fn prepare(
    args: &mut args::Run,
    policy: &mut Policy,
    from: &Origin,
) -> anyhow::Result<()> {
    if !rules::policy::is_strict(policy) {
        return Ok(());
    }
    let project = project::read(args.repo(), policy)?;
    if let Origin::Project(path) = from {
        presets::refuse_too_much(path, policy)?;
    }
    if args.goal.trim().is_empty() {
        args.goal = project.goal.unwrap_or_default();
    }
    if args.checks.is_empty() {
        args.checks.push(project.check.command);
    }
    if args.script.is_some() || args.model.is_some() {
        // Whoever names a model on the command line means it for everybody.
        policy.roles.values_mut().for_each(|role| role.model = None);
    } else {
        let mut models = policy.roles.values().filter_map(|role| role.model.clone());
        args.model = models.next();
    }
    Ok(())
}

/// The folder `runs/` of a run's repository, written while the run goes on.
pub(crate) struct Runs {
    writing: JoinHandle<Result<(), runtime::RunsError>>,
}

impl Runs {
    pub(crate) fn begin(
        bosun: &Bosun,
        run: &RunId,
        view: &RunView,
        policy: &Policy,
    ) -> Option<Self> {
        if !rules::policy::is_strict(policy) {
            return None;
        }
        let folder = PathBuf::from(&view.repository).join("runs");
        let (bosun, run) = (bosun.clone(), run.clone());
        let writing = tokio::spawn(async move { bosun.write_runs(&run, &folder).await });
        Some(Self { writing })
    }

    /// Waits for the rest, if the run is over; what went wrong, if something did.
    pub(crate) async fn end(self, view: &RunView) -> anyhow::Result<Option<String>> {
        if view.ended.is_none() {
            self.writing.abort();
        } else {
            self.writing.await??;
        }
        Ok((view.status != Status::Done).then(|| reason(view)))
    }
}

/// An error as document 002 has it. It is the last thing that is said.
pub(crate) fn tell(reason: &str) {
    if let Err(error) = print::json(&error_object(&types::one_line(reason, 400))) {
        tracing::debug!(%error, "telling an error");
    }
}

fn reason(view: &RunView) -> String {
    let fault = view.tasks.iter().find_map(|task| task.fault.as_deref());
    // Of a failure that ended everything, the first thing that the rule saw is what went wrong.
    let why = view.why.as_ref().map(|why| why.seen.first().unwrap_or(&why.reason).as_str());
    let reason = fault.or(why).unwrap_or(view.status.as_str());
    reason.split(". It begins: ").next().unwrap_or_default().to_owned()
}
