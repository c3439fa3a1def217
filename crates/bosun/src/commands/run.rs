//! `bosun run`: work on a goal in a repository.

use std::io::IsTerminal as _;
use std::path::Path;

use engine::export::rejected;
use runtime::{Bosun, Clock as _, NewRun, Order, RealClock, presets};
use types::{
    Budget, Check, Hint, Millis, ModelRef, Policy, Request, RoleId, UserRequest, WorkPath,
};

use crate::args;
use crate::commands::route::asked::{self, Unfit};
use crate::commands::{plan, route, show, solo, strict};
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{
    self,
    follow::{self, Form, Over},
};
use crate::rules::{Origin, Rules, rules};

pub(crate) async fn run(home: &Home, args: args::Run) -> anyhow::Result<Exit> {
    let mut as_object = args.preset.as_deref() == Some("strict");
    let respond = args.response && args.request.is_some();
    let handed = args.request.as_deref().map(read_request).transpose();
    let text = handed.as_ref().ok().cloned().flatten();
    let done = match handed {
        Ok(handed) => Box::pin(work(home, args, handed.as_deref(), &mut as_object)).await,
        Err(wrong) => Err(wrong.into()),
    };
    if let (true, Err(error)) = (respond, &done)
        && let Some(cause) = unusable(error, text.is_some())
    {
        print::json(&rejected(&text.unwrap_or_default(), &cause, RealClock.now()))?;
    }
    if let (true, Err(error)) = (as_object, &done) {
        strict::tell(&format!("{error:#}"));
    }
    Ok(done?.told())
}

/// What is wrong with the request that was handed in, if that is what is wrong.
fn unusable(error: &anyhow::Error, was_read: bool) -> Option<String> {
    match error.downcast_ref::<CliError>()? {
        CliError::BadRequest { problems, .. } => Some(problems.join("; ")),
        wrong => (!was_read).then(|| wrong.to_string()),
    }
}

/// `as_object` is set where errors are said as document 002 has them.
async fn work(
    home: &Home,
    mut args: args::Run,
    handed: Option<&str>,
    as_object: &mut bool,
) -> anyhow::Result<Over> {
    let object = handed.map(UserRequest::read);
    go_to_project(&mut args, object.as_ref());
    let mut rules = rules(args.policy.as_deref(), args.preset.as_deref(), args.repo())?;
    let directed = match directed(&args, handed, &mut rules) {
        Ok(directed) => directed,
        Err(unfit) => {
            let exit = route::escalated(args.json || args.response, &unfit)?;
            return Ok(Over { exit, wrong: None });
        }
    };
    let object = requested(&args, &directed, object)?;
    if let Some(object) = &object {
        args.goal = object.user_request.clone();
    }
    let Rules { mut policy, from, .. } = rules;
    if let (Origin::Project(_), false) = (&from, directed.brings_policy) {
        print::note(&format!("rules of {from}; --preset names others"));
    }
    *as_object = rules::policy::is_strict(&policy);
    policy.headless |= args.headless;
    policy.unattended |= unattended();
    policy.sandbox.home_folder |= args.here_anyway;
    policy.offline &= !args.online;
    strict::prepare(&mut args, &mut policy, &from)?;
    if args.goal.trim().is_empty() && args.planned.spec.is_none() {
        return Err(CliError::EmptyGoal.into());
    }
    let named = args.model.clone().or_else(|| object.as_ref()?.wanted_model());
    let budget = budget(&args, object.as_ref());
    let order = if args.reproducible { Order::Started } else { Order::Arrival };
    home.work_in(&presets::top(args.repo()));
    let bosun = home.open(order).await?;
    if rules::policy::is_solo(&policy) {
        if directed.id.is_some() {
            return Err(CliError::ForACrew { what: "a coordinator's input" }.into());
        }
        let exit = solo::solo(home, &bosun, &args, (budget, named), policy).await?;
        return Ok(Over { exit, wrong: None });
    }
    if args.output_schema.is_some() {
        return Err(CliError::SchemaForACrew.into());
    }
    let model = model(home, &bosun, args.script.as_deref(), named).await?;
    let mut request = request(&args, budget, object, model);
    request.id = directed.id.or(request.id);
    (request.hint, request.registry) = (directed.hint, directed.registry);
    request.insist.clone_from(&args.planned.insist);
    let request = plan::request(&args, &policy, request)?;
    carry_out(home, &bosun, &args, (request, policy), order).await
}

/// Starts the run, and stays with it.
async fn carry_out(
    home: &Home,
    bosun: &Bosun,
    args: &args::Run,
    (request, policy): (Request, Policy),
    order: Order,
) -> anyhow::Result<Over> {
    let new = NewRun { request, repository: args.repo().to_owned(), policy, id: None };
    let form = form(args, order);
    let handle = bosun.start(new).await?;
    let run = handle.run().clone();
    let over = follow::until_over(home, bosun, handle, form, &[]).await?;
    if args.response {
        show::respond(bosun, &run).await?;
    }
    if over.exit == Exit::Refused && show::may_insist(bosun, &run).await? {
        print::note("if it is meant, start it again with --insist REASON");
    }
    plan::hand_out(bosun, form, &run).await?;
    Ok(over)
}

/// How the run is told.
fn form(args: &args::Run, order: Order) -> Form {
    if args.response {
        return Form::Quiet;
    }
    let words = args.words.map(|words| Form::Told(words.into()));
    words.unwrap_or_else(|| Form::choose(args.json, order))
}

/// Works in the folder that a request object names, unless the command line names one.
fn go_to_project(args: &mut args::Run, object: Option<&Result<UserRequest, Vec<String>>>) {
    let Some(Ok(object)) = object else { return };
    let path = object.context.project_path.as_deref().filter(|path| !path.trim().is_empty());
    if let (None, Some(path)) = (&args.repo, path) {
        args.repo = Some(path.into());
    }
}

/// What an operator says beside the text: of which sort it is, and, in a coordinator's input, which documents there are.
#[derive(Default)]
struct Directed {
    goal: Option<String>,
    id: Option<String>,
    hint: Option<Hint>,
    registry: Option<Vec<WorkPath>>,
    brings_policy: bool,
}

/// Reads it. A coordinator's input brings its policy; what is wrong with it goes to a person.
fn directed(args: &args::Run, handed: Option<&str>, rules: &mut Rules) -> Result<Directed, Unfit> {
    let asked = handed.and_then(|text| asked::directed(text, &rules.policy, &rules.prompts));
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

/// Whether nobody watches: then a model that is away is waited for longer.
pub(crate) fn unattended() -> bool {
    !std::io::stderr().is_terminal() && !std::io::stdout().is_terminal()
}

/// The model to work with: a script, the one that is named, or the first for which there is a key.
pub(crate) async fn model(
    home: &Home,
    bosun: &Bosun,
    script: Option<&Path>,
    named: Option<ModelRef>,
) -> anyhow::Result<ModelRef> {
    match script.map(read).transpose()? {
        Some(script) => Ok(bosun.keep_script(&script).await?),
        None => Ok(named.or_else(|| home.default_model()).ok_or(CliError::NoModel)?),
    }
}

/// The model that a policy names for an agent that works alone.
pub(crate) fn role_model(policy: &Policy) -> Option<ModelRef> {
    policy.roles.get(&RoleId::solo()).and_then(|role| role.model.clone())
}

pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path)
        .map_err(|source| CliError::Unreadable { path: path.display().to_string(), source })
}

/// The request that a file is, read once: of a pipe there is nothing left afterwards. `-` is standard input.
pub(crate) fn read_request(path: &Path) -> Result<String, CliError> {
    let text = if path == Path::new("-") { standard_input()? } else { read(path)? };
    if text.trim().is_empty() {
        return Err(CliError::EmptyRequest { path: named(path) });
    }
    Ok(text)
}

/// A file as it is called where something is wrong with it.
fn named(path: &Path) -> String {
    if path == Path::new("-") { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

const STANDARD_INPUT: &str = "standard input";

pub(crate) fn standard_input() -> Result<String, CliError> {
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|source| CliError::Unreadable { path: STANDARD_INPUT.to_owned(), source })
}

/// What was handed in as a file; of a coordinator's input its body.
fn requested(
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

/// What may be spent: what the command line says, and else the request object.
fn budget(args: &args::Run, object: Option<&UserRequest>) -> Budget {
    let wished = object.map(UserRequest::budget).unwrap_or_default();
    Budget {
        tokens: args.tokens.or(wished.tokens),
        money: args.money.or(wished.money),
        calls: args.calls.or(wished.calls),
        time_ms: args.time.map(Millis::seconds).or(wished.time_ms),
    }
}

fn request(
    args: &args::Run,
    budget: Budget,
    object: Option<UserRequest>,
    model: ModelRef,
) -> Request {
    let check = |command: &String| Check::new(command.as_str(), command.as_str());
    let object = object.unwrap_or_else(|| UserRequest::of_text(args.goal.clone()));
    Request {
        id: object.request_id,
        project_type: object.context.project_type,
        attachments: object.attachments,
        budget,
        checks: args.checks.iter().map(check).collect(),
        ..Request::new(object.user_request, model)
    }
}
