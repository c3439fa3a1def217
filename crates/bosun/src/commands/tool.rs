//! `bosun tools`: the tools of agents, with the names and arguments of a tool profile. `bosun tool`: one call by hand,
//! with the permissions, validation, sandbox and truncation of an agent's call.

use std::io::{BufRead as _, Read as _};
use std::path::Path;

use runtime::sandbox::HelperExe;
use runtime::tools::{Registry, profile};
use runtime::{HandCall, Isolation, Made, MadeOutcome, Person};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use types::{Arguments, Scope, ToolSpec};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::files::read;
use crate::follow;
use crate::home::Home;
use crate::print;
use crate::rules::{self, working_rules};

/// Maximum number of bytes read as arguments.
const MAX_ARGUMENTS: u64 = 256 * 1024 * 1024;

pub(crate) async fn tool(
    home: &Home,
    helper_exe: HelperExe,
    args: &args::Tool,
) -> anyhow::Result<Exit> {
    let named = (args.policy.as_deref(), None);
    let policy = working_rules(home, named, &args.workspace, &[])?.policy;
    let scope = match args.scope.as_slice() {
        [] => Scope(vec!["./".parse()?]),
        places => Scope(places.to_vec()),
    };
    if !args.workspace.is_dir() {
        return Err(CliError::NoWorkspace { path: args.workspace.display().to_string() }.into());
    }
    let redactor = home.redactor();
    let call = HandCall {
        policy: &policy,
        workspace: &args.workspace,
        scope,
        isolation: Isolation::Kernel(helper_exe),
        machine: home.machine()?,
        redactor: &redactor,
        profile: rules::profile(&policy, &args.profile)?,
        tool: &args.name,
        arguments: arguments(&args.args)?,
        person: args.ask.then(|| Person(Box::new(ask))),
        times: args.times,
    };
    let stop = CancellationToken::new();
    let listening = tokio::spawn(follow::take_signals(stop.clone(), false));
    let made = call.make(&stop).await;
    listening.abort();
    let made = made.map_err(CliError::CannotWork)?;
    if args.json {
        print::json(&object(&made))?;
    } else {
        show(&made)?;
    }
    Ok(match made.outcome {
        MadeOutcome::Ok => Exit::Done,
        MadeOutcome::Error => Exit::Failed,
        MadeOutcome::Asked => Exit::Waiting,
        MadeOutcome::Denied => Exit::Refused,
    })
}

/// Maximum number of bytes read as an answer.
const MAX_ANSWER: u64 = 4 * 1024;

/// Prints a question for the user, and reads the answer from a line of standard input.
fn ask(question: &str) -> Option<String> {
    print::note(&format!("Allow or deny: {}", print::one_line(question, 2_000)));
    let mut line = String::new();
    let read = std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut line);
    read.is_ok_and(|bytes| bytes > 0).then(|| line.trim().to_owned())
}

/// The arguments as a model would have sent them: invalid JSON is an error of the call, not of the command.
fn arguments(said: &str) -> anyhow::Result<Arguments> {
    let text = match said.strip_prefix('@') {
        _ if said == "-" => {
            let mut bytes = Vec::new();
            let unreadable =
                |source| CliError::Unreadable { path: "standard input".into(), source };
            std::io::stdin().take(MAX_ARGUMENTS).read_to_end(&mut bytes).map_err(unreadable)?;
            bytes
        }
        Some(file) => read(file.as_ref())?.into_bytes(),
        None => said.as_bytes().to_vec(),
    };
    Ok(match serde_json::from_slice(&text) {
        Ok(arguments) => Arguments::Json(arguments),
        Err(_) => Arguments::Broken(String::from_utf8_lossy(&text).into_owned()),
    })
}

fn object(made: &Made) -> Value {
    // Plain data can always be serialized.
    let mut metadata = serde_json::to_value(&made.metadata).unwrap_or_default();
    if let Value::Object(metadata) = &mut metadata {
        metadata.insert("truncated".to_owned(), (made.shown.removed > 0).into());
        metadata.insert("removed_chars".to_owned(), made.shown.removed.into());
        metadata.insert("timed_out".to_owned(), made.metadata.timed_out.into());
    }
    let mut object = json!({
        "outcome": made.outcome.as_str(),
        "rule": made.decision.rule,
        "reason": made.decision.reason,
        "content": made.shown.text,
        "metadata": metadata,
    });
    if !made.images.is_empty() {
        object["images"] = json!(made.images);
    }
    if !made.files.is_empty() {
        object["files"] = json!(made.files);
    }
    object
}

fn show(made: &Made) -> anyhow::Result<()> {
    let text = &made.shown.text;
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    print::text(&format!("{text}{ending}"))?;
    let (rule, reason) = (&made.decision.rule, print::one_line(&made.decision.reason, 300));
    print::note(&format!("{} ({rule}: {reason})", made.outcome.as_str()));
    Ok(())
}

pub(crate) fn tools(args: &args::Tools) -> anyhow::Result<Exit> {
    let policy = rules::rules(None, None, Path::new("."))?.policy;
    let registry =
        profile::adapted(&rules::profile(&policy, &args.profile)?, &Registry::standard());
    for name in registry.names() {
        let Some(tool) = registry.get(name) else { continue };
        print::result(args.json, tool.spec(), &described(tool.spec()))?;
    }
    Ok(Exit::Done)
}

fn described(spec: &ToolSpec) -> String {
    let mut text = format!("{}\n", spec.name);
    for line in spec.description.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    let required: Vec<&str> = spec.schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, schema) in spec.schema["properties"].as_object().into_iter().flatten() {
        let kind = schema["type"].as_str().unwrap_or("one of several values");
        let must = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let about = schema["description"].as_str().unwrap_or_default();
        text.push_str(&format!("      {name} ({kind}{must}): {about}\n"));
    }
    text
}
