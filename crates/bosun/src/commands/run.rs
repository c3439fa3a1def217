//! `bosun run`: work on a goal in a repository; `bosun plan`: only plan it.

mod request;
mod solo;

pub(crate) use request::plan;

use std::collections::BTreeMap;

use engine::export::rejected;
use runtime::settings::{Loaded, Settings};
use runtime::{Bosun, Clock as _, NewRun, Order, RealClock, presets};
use types::{ModelRef, ModelServer, Policy, Request, RoleId, RunId, UserRequest};

use crate::args;
use crate::commands::route;
use crate::exit::{CliError, Exit};
use crate::files::{self, read_request};
use crate::follow::{self, Form, Over};
use crate::home::{self, Home};
use crate::print;
use crate::recorded;
use crate::rules::{Origin, Rules, working_rules};

pub(crate) async fn run(home: &Home, mut args: args::Run) -> anyhow::Result<Exit> {
    args.goal = args.goal_words.join(" ");
    if let Some(path) = &args.issue {
        let issue = UserRequest::of_issue(&read_request(path)?);
        args.goal = issue.ok_or(CliError::EmptyGoal)?.user_request;
    }
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
        print::error_object(&format!("{error:#}"));
    }
    Ok(done?.told())
}

/// `bosun plan`: a request that ends at the plan.
pub(crate) async fn plan_only(home: &Home, args: args::Plan) -> anyhow::Result<Exit> {
    if args.schema {
        print::json(&rules::plan::schema())?;
        return Ok(Exit::Done);
    }
    let mut asked = args.run;
    asked.only_plan = Some(args.out);
    Box::pin(run(home, asked)).await
}

/// The problem with the given request, if that caused the error.
fn unusable(error: &anyhow::Error, was_read: bool) -> Option<String> {
    match error.downcast_ref::<CliError>()? {
        CliError::BadRequest { problems, .. } => Some(problems.join("; ")),
        wrong => (!was_read).then(|| wrong.to_string()),
    }
}

/// Sets `as_object` if errors are printed as the object of document 002.
async fn work(
    home: &Home,
    mut args: args::Run,
    handed: Option<&str>,
    as_object: &mut bool,
) -> anyhow::Result<Over> {
    let object = handed.map(UserRequest::read);
    go_to_project(&mut args, object.as_ref());
    let flags = args.chosen.flags(args.model.as_ref());
    let named = (args.policy.as_deref(), args.preset.as_deref());
    let mut rules = working_rules(home, named, args.repo(), &flags)?;
    let directed = match request::directed(&args, handed, &mut rules) {
        Ok(directed) => directed,
        Err(unfit) => {
            let exit = route::escalated(args.json || args.response, &unfit)?;
            return Ok(Over { exit, wrong: None });
        }
    };
    let object = request::requested(&args, &directed, object)?;
    if let Some(object) = &object {
        args.goal = object.user_request.clone();
    }
    let Rules { mut policy, from, loaded, project, .. } = rules;
    *as_object = rules::policy::is_strict(&policy);
    permit(&mut policy, &args);
    prepare_strict(&mut args, &mut policy, &from)?;
    must_have_a_goal(&args)?;
    let announce = || {
        if let (Origin::Project(_), false) = (&from, directed.brings_policy) {
            print::note(&format!("policy: {from} (--preset selects another)"));
        }
    };
    let set = configured(&args, &loaded, &mut policy)?;
    let wished = args.model.clone().or_else(|| object.as_ref()?.wanted_model());
    let named = wished.or_else(|| set.model.clone());
    let budget = request::budget(&args, object.as_ref(), set.budget());
    let order = if args.reproducible { Order::Started } else { Order::Arrival };
    let (bosun, server) = opened(home, &args, project, order).await?;
    if rules::policy::is_solo(&policy) {
        if directed.id.is_some() {
            return Err(CliError::ForACrew { what: "a coordinator's input" }.into());
        }
        announce();
        let exit = solo::solo(home, &bosun, &args, (budget, named, server), (policy, &set)).await?;
        return Ok(Over { exit, wrong: None });
    }
    if args.output_schema.is_some() {
        return Err(CliError::SchemaForACrew.into());
    }
    let model = home.model(&bosun, args.script.as_deref(), named).await?;
    check_models(home, &args, &policy, &model).await?;
    set.instruct(&mut policy);
    announce();
    let mut request = request::build(&args, &policy, (directed, object), (budget, model))?;
    request.server = server.map(Box::new);
    Box::pin(carry_out(home, &bosun, &args, (request, policy), order)).await
}

/// Under the preset `strict`, reads the project's own files into the policy and the arguments.
fn prepare_strict(args: &mut args::Run, policy: &mut Policy, from: &Origin) -> anyhow::Result<()> {
    if !rules::policy::is_strict(policy) {
        return Ok(());
    }
    let project = presets::strict::read(args.repo(), policy)?;
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
        // A model or script on the command line applies to all roles.
        policy.roles.values_mut().for_each(|role| role.model = None);
    } else {
        let mut models = policy.roles.values().filter_map(|role| role.model.clone());
        args.model = models.next();
    }
    Ok(())
}

/// Rejects an empty goal, and a spec or plan that cannot be read, before anything is said about models.
fn must_have_a_goal(args: &args::Run) -> Result<(), CliError> {
    let args::Planned { spec, plan, .. } = &args.planned;
    if args.goal.trim().is_empty() && spec.is_none() {
        return Err(CliError::EmptyGoal);
    }
    [spec, plan].into_iter().flatten().try_for_each(|path| files::read(path).map(drop))
}

/// Applies the flags about permissions to the policy.
fn permit(policy: &mut Policy, args: &args::Run) {
    policy.headless |= args.headless;
    policy.unattended |= home::unattended();
    policy.sandbox.home_folder |= args.here_anyway;
    policy.offline &= !args.online;
}

/// Opens the home for work in a repository, with the server that the command line names.
async fn opened(
    home: &Home,
    args: &args::Run,
    project: bool,
    order: Order,
) -> anyhow::Result<(Bosun, Option<ModelServer>)> {
    if project {
        home.work_in(&presets::top(args.repo()));
    }
    let server = home.served_at(args.model.as_ref(), args.chosen.base_url.as_deref())?;
    Ok((home.open(order).await?, server))
}

/// Rejects unusable models. A script replaces all of them.
async fn check_models(
    home: &Home,
    args: &args::Run,
    policy: &Policy,
    model: &ModelRef,
) -> anyhow::Result<()> {
    if args.script.is_some() {
        return Ok(());
    }
    let of_roles = policy.roles.values().filter_map(|role| role.model.as_ref());
    home.check_models(policy, of_roles.chain([model])).await
}

/// Applies the configuration to the policy. A script answers for all roles, so their models are cleared.
fn configured(args: &args::Run, loaded: &Loaded, policy: &mut Policy) -> anyhow::Result<Settings> {
    for (flag, role, named) in [
        ("--planner-model", "planner", &args.chosen.planner_model),
        ("--coder-model", "coder", &args.chosen.coder_model),
    ] {
        if named.is_some() && !policy.roles.contains_key(&RoleId::fixed(role)) {
            let known: Vec<&str> = policy.roles.keys().map(RoleId::as_str).collect();
            return Err(CliError::NoRole { flag, role, known: known.join(", ") }.into());
        }
    }
    applied(loaded, args.script.is_some(), policy)
}

/// Applies the configuration to the policy.
pub(crate) fn applied(
    loaded: &Loaded,
    scripted: bool,
    policy: &mut Policy,
) -> anyhow::Result<Settings> {
    loaded.check_roles(policy)?;
    let mut set = loaded.settings.clone();
    if scripted {
        set.roles.values_mut().for_each(|role| role.model = None);
    }
    set.apply(policy);
    Ok(set)
}

/// Starts the run, and follows it.
async fn carry_out(
    home: &Home,
    bosun: &Bosun,
    args: &args::Run,
    (request, policy): (Request, Policy),
    order: Order,
) -> anyhow::Result<Over> {
    let new = NewRun {
        request,
        repository: args.repo().to_owned(),
        policy,
        id: None,
        base: None,
        with_changes: args.with_changes,
    };
    let form = form(args, order);
    let handle = bosun.start(new).await?;
    let left_out = handle.uncommitted();
    if args.with_changes && !left_out.is_empty() {
        let names = left_out.iter().map(|name| print::path(name.as_ref())).collect::<Vec<_>>();
        print::note(&format!("not taken along, because they may hold keys: {}", names.join(", ")));
    } else if let Some(left_out) = print::left_out(left_out, &args.goal) {
        print::note(&left_out);
    }
    let run = handle.run().clone();
    let over = follow::until_over(home, bosun, handle, (form, BTreeMap::new()), &[]).await?;
    if args.response {
        print::json(&recorded::response(bosun, &run).await?)?;
    }
    if over.exit == Exit::Refused && may_insist(bosun, &run).await? {
        print::note("to run it anyway, start it again with --insist REASON");
    }
    follow::hand_out(bosun, form, &run).await?;
    Ok(over)
}

/// Whether a run was refused by a rule that `--insist` overrides.
async fn may_insist(bosun: &Bosun, run: &RunId) -> anyhow::Result<bool> {
    let (machine, _) = recorded::whole(bosun, run).await?;
    Ok(engine::stages::intake::may_insist(&machine))
}

/// Output format of the run.
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
