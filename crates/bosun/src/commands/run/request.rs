//! The request of `bosun run`, from its arguments, a request object or a coordinator's input, a spec and a plan.

use std::path::{Path, PathBuf};

use rules::plan::BadPlan;
use runtime::presets;
use types::{
    Budget, Check, Hint, Millis, ModelRef, Outputs, Plan, Policy, Request, UserRequest, WorkPath,
};

use crate::args;
use crate::commands::spec;
use crate::exit::CliError;
use crate::files::{named, read};
use crate::routing_input::{self, Unfit};
use crate::rules::Rules;

/// Operator's directions beside the text: its type and, from a coordinator's input, the available documents.
#[derive(Default)]
pub(super) struct Directed {
    goal: Option<String>,
    pub(super) id: Option<String>,
    hint: Option<Hint>,
    registry: Option<Vec<WorkPath>>,
    pub(super) brings_policy: bool,
}

/// Reads the directions. A coordinator's input brings its policy; problems with it are escalated to a person.
pub(super) fn directed(
    args: &args::Run,
    handed: Option<&str>,
    rules: &mut Rules,
) -> Result<Directed, Unfit> {
    let asked =
        handed.and_then(|text| routing_input::directed(text, &rules.policy, &rules.prompts));
    let mut directed = match asked.transpose()? {
        None => Directed::default(),
        Some(asked) => {
            rules.policy = asked.policy;
            let Request { text, hint, registry, .. } = asked.request;
            let (id, brings_policy) = (Some(asked.id), asked.brings_policy);
            Directed { goal: Some(text), id, hint, registry, brings_policy }
        }
    };
    directed.hint = args.planned.hint.or(directed.hint);
    Ok(directed)
}

/// The request from a file; for a coordinator's input, its body.
pub(super) fn requested(
    args: &args::Run,
    directed: &Directed,
    object: Option<Result<UserRequest, Vec<String>>>,
) -> Result<Option<UserRequest>, CliError> {
    if let Some(body) = &directed.goal {
        return Ok(Some(UserRequest::of_text(body.clone())));
    }
    let path = args.request.as_deref().map(named).unwrap_or_default();
    let wrong = |problems| CliError::BadRequest { path, problems };
    object.transpose().map_err(wrong)
}

/// The budget: from the command line, else from the request object, else from the configuration.
pub(super) fn budget(args: &args::Run, object: Option<&UserRequest>, set: Budget) -> Budget {
    let wished = object.map(UserRequest::budget).unwrap_or_default();
    let time_ms = args.time.map(Millis::seconds);
    let said = Budget { tokens: args.tokens, money: args.money, calls: args.calls, time_ms };
    said.or(wished).or(set)
}

/// The request to be recorded.
pub(super) fn build(
    args: &args::Run,
    policy: &Policy,
    (directed, object): (Directed, Option<UserRequest>),
    (budget, model): (Budget, ModelRef),
) -> Result<Request, CliError> {
    let check = |command: &String| Check::new(command.as_str(), command.as_str());
    let object = object.unwrap_or_else(|| UserRequest::of_text(args.goal.clone()));
    let request = Request {
        id: directed.id.or(object.request_id),
        hint: directed.hint,
        registry: directed.registry,
        insist: args.planned.insist.clone(),
        project_type: object.context.project_type,
        attachments: object.attachments,
        budget,
        checks: args.checks.iter().map(check).collect(),
        ..Request::new(object.user_request, model)
    };
    with_plan(args, policy, request)
}

/// Adds the spec and the plan.
fn with_plan(args: &args::Run, policy: &Policy, mut request: Request) -> Result<Request, CliError> {
    let planned = &args.planned;
    if let Some(path) = &planned.spec {
        request = rules::spec::request(spec::load_filled(path)?, request);
    }
    request.planning.only = args.only_plan.is_some();
    request.planning.approve = planned.approve_plan;
    let top = presets::top(args.repo());
    let from_top = |path: &PathBuf| from_repository(&top, path);
    let outputs = Outputs {
        plan: args.only_plan.iter().flatten().map(from_top).next(),
        spec: planned.spec_out.as_ref().map(from_top),
    };
    request.outputs = (outputs != Outputs::default()).then(|| Box::new(outputs));
    if let Some(path) = &planned.plan {
        let plan = plan(policy, &request, &read(path)?);
        let path = path.display().to_string();
        let plan = plan.map_err(|cause| CliError::NotAPlan { path, cause })?;
        request.planning.given = Some(Box::new(plan));
    }
    Ok(request)
}

/// Parses a plan; the error describes its problems.
pub(crate) fn plan(policy: &Policy, request: &Request, text: &str) -> Result<Plan, String> {
    rules::plan::read(policy, request, text).map_err(|bad| match bad {
        BadPlan::Parse(error) => error.to_string(),
        BadPlan::Invalid(problems) => {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        }
    })
}

/// A path to be recorded: unchanged if it is absolute, otherwise relative to the repository.
fn from_repository(top: &Path, path: &Path) -> String {
    let whole = match std::path::absolute(path) {
        Ok(whole) if path.is_relative() => whole,
        _ => return path.display().to_string(),
    };
    let same = top.components().zip(whole.components()).take_while(|(a, b)| a == b).count();
    let up = top.components().skip(same).map(|_| "..".as_ref());
    let down = whole.components().skip(same).map(std::path::Component::as_os_str);
    up.chain(down).collect::<PathBuf>().display().to_string()
}
