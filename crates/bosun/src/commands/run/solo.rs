//! `bosun run` with a policy that has the role `solo`: one agent, without a chat.

use std::path::Path;

use runtime::settings::Settings;
use runtime::{Bosun, NewSession, asking_for};
use types::{Budget, ModelRef, ModelServer, OutputSchema, Policy, RoleId};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::files;
use crate::follow::{Voice, stay};
use crate::home::{self, Home};
use crate::rules::solo_model;

pub(super) async fn solo(
    home: &Home,
    bosun: &Bosun,
    args: &args::Run,
    (budget, model, server): (Budget, Option<ModelRef>, Option<ModelServer>),
    (policy, set): (Policy, &Settings),
) -> anyhow::Result<Exit> {
    if let Some(what) = for_a_crew(args) {
        return Err(CliError::ForACrew { what }.into());
    }
    let wanted = args.output_schema.as_deref().map(schema).transpose()?;
    let model = model.or_else(|| solo_model(&policy));
    let model = home.model(bosun, args.script.as_deref(), model).await?;
    if args.script.is_none() {
        home.check_models(&policy, [&model]).await?;
    }
    let text = match &wanted {
        None => args.goal.clone(),
        Some(wanted) => asking_for(&args.goal, wanted),
    };
    let new = NewSession {
        effort: set.roles.get(RoleId::solo().as_str()).and_then(|solo| solo.effort).or(set.effort),
        instruction: set.instruction.clone(),
        policy,
        server,
        budget,
        by: home::person(),
        first: Some(text),
        output: wanted.clone(),
        ..NewSession::new(args.repo(), model)?
    };
    let session = bosun.open(new).await?;
    let voice = match args.words {
        Some(words) => Voice::told(bosun, words.into()),
        None => Voice::json(args.json),
    };
    stay(home, bosun, &session, voice, wanted.as_ref(), 0).await
}

/// The first requested feature that a single agent does not support.
fn for_a_crew(args: &args::Run) -> Option<&'static str> {
    let planned = &args.planned;
    let asked = [
        (args.only_plan.is_some(), "bosun plan"),
        (planned.plan.is_some(), "--plan"),
        (planned.approve_plan, "--approve-plan"),
        (planned.spec.is_some(), "--spec"),
        (planned.hint.is_some(), "--type"),
        (planned.insist.is_some(), "--insist"),
        (args.response, "--response"),
        (!args.checks.is_empty(), "--check"),
    ];
    asked.into_iter().find(|(asked, _)| *asked).map(|(_, what)| what)
}

/// Reads the schema of the answer from a file.
fn schema(path: &Path) -> anyhow::Result<OutputSchema> {
    let text = files::read(path)?;
    let schema = serde_json::from_str(&text).map_err(|error| CliError::Json {
        path: path.display().to_string(),
        cause: crate::conversation::not_json(&error),
    })?;
    Ok(OutputSchema { name: "answer".to_owned(), schema })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn what_only_a_crew_can_do_is_named() {
        let found = |words: &str| {
            let words = ["bosun", "run", "--preset", "solo"].into_iter().chain(words.split(' '));
            match args::Cli::try_parse_from(words).expect("a command line").command {
                args::Command::Run(args) => for_a_crew(&args),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(found("goal --plan p.yaml"), Some("--plan"));
        assert_eq!(found("goal --approve-plan"), Some("--approve-plan"));
        assert_eq!(found("--spec s.yaml --spec-out o.yaml"), Some("--spec"));
        assert_eq!(found("goal --response"), Some("--response"));
        assert_eq!(found("goal --check true"), Some("--check"));
        assert_eq!(found("goal --type product"), Some("--type"));
        assert_eq!(found("goal --tokens 9 --money 1 --calls 2 --time 3 --headless"), None);
    }
}
