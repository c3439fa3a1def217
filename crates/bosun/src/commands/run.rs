//! `bosun run`: work on a goal in a repository.

use std::io::IsTerminal as _;
use std::path::Path;

use engine::projection::rejected;
use runtime::{Bosun, Clock as _, NewRun, Order, RealClock, presets};
use types::{Budget, Check, Hint, ModelRef, Policy, Request, RoleId, Span, UserRequest, WorkPath};

use crate::args;
use crate::commands::route::asked::{self, Unfit};
use crate::commands::{plan, route, show, solo, strict};
use crate::exit::{Exit, Wrong};
use crate::home::Home;
use crate::print::{
    self,
    follow::{self, Form, Over},
};
use crate::rules::{Origin, Rules, rules};

pub(crate) async fn run(home: &Home, args: args::Run) -> anyhow::Result<Exit> {
    let mut as_object = args.preset.as_deref() == Some("strict");
    let asked = args.request.clone().filter(|_| args.response);
    let done = Box::pin(work(home, args, &mut as_object)).await;
    if let (Some(path), Err(error)) = (&asked, &done)
        && let Some(Wrong::Json { cause, .. }) = error.downcast_ref::<Wrong>()
    {
        print::json(&rejected(&read(path)?, cause, RealClock.now()))?;
    }
    if let (true, Err(error)) = (as_object, &done) {
        strict::tell(&format!("{error:#}"));
    }
    Ok(done?.told())
}

/// `as_object` is set where errors are said as document 002 has them.
async fn work(home: &Home, mut args: args::Run, as_object: &mut bool) -> anyhow::Result<Over> {
    go_to_project(&mut args);
    let Rules { mut policy, from } =
        rules(args.policy.as_deref(), args.preset.as_deref(), &args.repo)?;
    let directed = match directed(&args, &mut policy)? {
        Ok(directed) => directed,
        Err(unfit) => {
            let exit = route::escalated(args.json || args.response, &unfit)?;
            return Ok(Over { exit, wrong: None });
        }
    };
    let object = handed(&args, &directed)?;
    if let Some(object) = &object {
        args.goal = object.user_request.clone();
    }
    if let Origin::Project(_) = &from {
        print::note(&format!("rules of {from}; --preset names others"));
    }
    *as_object = engine::policy::is_strict(&policy);
    policy.headless |= args.headless;
    policy.unattended |= unattended();
    policy.sandbox.home_folder |= args.here_anyway;
    policy.offline &= !args.online;
    strict::prepare(&mut args, &mut policy, &from)?;
    if args.goal.trim().is_empty() && args.planned.spec.is_none() {
        return Err(Wrong::EmptyGoal.into());
    }
    let named = args.model.clone().or_else(|| object.as_ref()?.wanted_model());
    let budget = budget(&args, object.as_ref());
    let order = if args.reproducible { Order::Started } else { Order::Arrival };
    home.work_in(&presets::top(&args.repo));
    let bosun = home.open(order).await?;
    if engine::policy::is_solo(&policy) {
        let exit = solo::solo(home, &bosun, &args, (budget, named), policy).await?;
        return Ok(Over { exit, wrong: None });
    }
    if args.output_schema.is_some() {
        return Err(Wrong::SchemaForACrew.into());
    }
    let model = model(home, &bosun, args.script.as_deref(), named).await?;
    let mut request = request(&args, budget, object, model);
    request.id = directed.id.or(request.id);
    (request.hint, request.registry) = (directed.hint, directed.registry);
    let new = NewRun {
        request: plan::request(&args, &policy, request)?,
        repository: args.repo.clone(),
        policy,
        id: None,
    };
    let form = form(&args, order);
    let handle = bosun.start(new).await?;
    let run = handle.run().clone();
    let over = follow::until_over(home, &bosun, handle, form, &[]).await?;
    if args.response {
        show::respond(&bosun, &run).await?;
    }
    plan::hand_out(&bosun, form, &run).await?;
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

/// Works in the folder that a request object names, unless the command line names another one.
fn go_to_project(args: &mut args::Run) {
    let object = args.request.as_deref().and_then(|path| object(path).ok());
    let path = object.and_then(|object| object.context.project_path);
    if let Some(path) = path.filter(|path| !path.trim().is_empty())
        && args.repo == Path::new(".")
    {
        args.repo = path.into();
    }
}

/// What an operator says beside the text: of which sort it is, and, in a coordinator's input, which documents there are.
#[derive(Default)]
struct Directed {
    goal: Option<String>,
    id: Option<String>,
    hint: Option<Hint>,
    registry: Option<Vec<WorkPath>>,
}

/// Reads it. A coordinator's input brings its policy; what is wrong with it goes to a person.
fn directed(args: &args::Run, policy: &mut Policy) -> anyhow::Result<Result<Directed, Unfit>> {
    let text = args.request.as_deref().map(read).transpose()?;
    let mut directed = match text.and_then(|text| asked::directed(&text, policy)) {
        None => Directed::default(),
        Some(Err(unfit)) => return Ok(Err(unfit)),
        Some(Ok(asked)) => {
            *policy = asked.policy;
            let Request { text, hint, registry, .. } = asked.request;
            Directed { goal: Some(text), id: Some(asked.id), hint, registry }
        }
    };
    match args.planned.hint.as_deref().map(asked::read_hint) {
        Some(Ok(hint)) => directed.hint = Some(hint),
        Some(Err(unfit)) => return Ok(Err(unfit)),
        None => {}
    }
    Ok(Ok(directed))
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
        None => Ok(named.or_else(|| home.default_model()).ok_or(Wrong::NoModel)?),
    }
}

/// The model that a policy names for an agent that works alone.
pub(crate) fn role_model(policy: &Policy) -> Option<ModelRef> {
    policy.roles.get(&RoleId::solo()).and_then(|role| role.model.clone())
}

pub(crate) fn read(path: &Path) -> Result<String, Wrong> {
    std::fs::read_to_string(path)
        .map_err(|source| Wrong::Unreadable { path: path.display().to_string(), source })
}

/// What was handed in as a file; of a coordinator's input its body.
fn handed(args: &args::Run, directed: &Directed) -> Result<Option<UserRequest>, Wrong> {
    match (&args.request, &directed.goal) {
        (Some(_), Some(body)) => Ok(Some(UserRequest::of_text(body.clone()))),
        (Some(path), None) => object(path).map(Some),
        (None, _) => Ok(None),
    }
}

/// A request object, or a plain text in its place.
fn object(path: &Path) -> Result<UserRequest, Wrong> {
    let text = read(path)?;
    if !text.trim_start().starts_with('{') {
        return Ok(UserRequest::of_text(text));
    }
    let wrong = |cause: String| Wrong::Json { path: path.display().to_string(), cause };
    let object: UserRequest =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let problems = object.problems();
    if problems.is_empty() { Ok(object) } else { Err(wrong(problems.join("; "))) }
}

/// What may be spent: what the command line says, and else the request object.
fn budget(args: &args::Run, object: Option<&UserRequest>) -> Budget {
    let wished = object.map(UserRequest::budget).unwrap_or_default();
    Budget {
        tokens: args.tokens.or(wished.tokens),
        money: args.money.or(wished.money),
        calls: args.calls.or(wished.calls),
        time_ms: args.time.map(Span::seconds).or(wished.time_ms),
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
