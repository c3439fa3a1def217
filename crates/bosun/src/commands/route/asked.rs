//! What `bosun route` is asked about: a text, a request object, or a coordinator's input with registry and policy, which
//! `bosun run` takes as well. What cannot be used is not an error but an answer: it goes to a person, and nothing is
//! routed.

use std::io::Read as _;
use std::path::Path;

use runtime::presets;
use serde_json::Value;
use types::{Digest, Hint, ModelRef, Policy, Request, WorkPath};

use crate::args;
use crate::commands::run::read as read_file;
use crate::exit::Wrong;
use crate::rules::rules;

/// The most that is read from standard input, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) request: Request,
    pub(crate) policy: Policy,
}

/// Why nothing can be routed.
#[derive(Debug)]
pub(crate) struct Unfit {
    pub(crate) id: Option<String>,
    pub(crate) rule: &'static str,
    pub(crate) reason: String,
}

impl Unfit {
    fn input(id: Option<&str>, reason: impl Into<String>) -> Self {
        Self { id: id.map(str::to_owned), rule: "route.malformed_input", reason: reason.into() }
    }

    fn policy(reason: impl Into<String>) -> Self {
        Self { id: None, rule: "route.broken_policy", reason: reason.into() }
    }
}

pub(super) fn read(args: &args::Route) -> anyhow::Result<Result<Asked, Unfit>> {
    let rules = match rules(args.policy.as_deref(), args.preset.as_deref(), &args.repo) {
        Ok(rules) => rules.policy,
        Err(error) => return Ok(Err(Unfit::policy(format!("{error:#}")))),
    };
    let asked = match (&args.request, args.text.as_slice()) {
        (Some(file), _) => {
            let text = if file == Path::new("-") { standard_input()? } else { read_file(file)? };
            of_object(&text, rules)
        }
        (None, []) => of_text(standard_input()?.trim_end_matches('\n'), rules),
        (None, [dash]) if dash == "-" => of_text(standard_input()?.trim_end_matches('\n'), rules),
        (None, words) => of_text(&words.join(" "), rules),
    };
    Ok(asked.and_then(|asked| hinted(asked, args.hint.as_deref())))
}

fn of_text(text: &str, policy: Policy) -> Result<Asked, Unfit> {
    let request = Request::new(text, no_model());
    Ok(Asked { id: id_of(text), request, policy })
}

fn hinted(mut asked: Asked, hint: Option<&str>) -> Result<Asked, Unfit> {
    let Some(word) = hint else { return Ok(asked) };
    match read_hint(word) {
        Ok(hint) => {
            asked.request.hint = Some(hint);
            Ok(asked)
        }
        Err(unfit) => Err(Unfit { id: Some(asked.id), ..unfit }),
    }
}

/// The operator's own word on what sort of request it is.
pub(crate) fn read_hint(word: &str) -> Result<Hint, Unfit> {
    parse_hint(word).ok_or_else(|| Unfit::input(None, no_hint(word)))
}

/// What `bosun run` is handed as a coordinator's input; nothing if it is another sort of file. Under a policy that makes
/// Intent Specs, an object that cannot be read is taken for one.
pub(crate) fn directed(text: &str, policy: &Policy) -> Option<Result<Asked, Unfit>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if is_coordinators(&value) => Some(of_coordinator(&value, policy.clone())),
        Ok(_) => None,
        Err(error) => {
            let unfit = Unfit::input(None, format!("the request is not JSON: {error}"));
            policy.intent.is_some().then_some(Err(unfit))
        }
    }
}

fn is_coordinators(value: &Value) -> bool {
    value.get("input").is_some() || value.get("task_id").is_some()
}

fn of_object(text: &str, policy: Policy) -> Result<Asked, Unfit> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Err(Unfit::input(None, format!("the request is not JSON: {error}"))),
    };
    if is_coordinators(&value) {
        return of_coordinator(&value, policy);
    }
    let object: types::UserRequest = serde_json::from_value(value)
        .map_err(|error| Unfit::input(None, format!("the request object: {error}")))?;
    let problems = object.problems();
    if !problems.is_empty() {
        let reason = format!("the request object: {}", problems.join("; "));
        return Err(Unfit::input(object.request_id.as_deref(), reason));
    }
    Ok(Asked {
        id: object.request_id.clone().unwrap_or_else(|| id_of(&object.user_request)),
        request: Request {
            project_type: object.context.project_type.clone(),
            budget: object.budget(),
            attachments: object.attachments,
            ..Request::new(object.user_request, no_model())
        },
        policy,
    })
}

/// `task_id`, `input` with `body` and perhaps `type`, `context_registry`, `policy`.
fn of_coordinator(value: &Value, standing: Policy) -> Result<Asked, Unfit> {
    let id = value["task_id"].as_str().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| Unfit::input(None, "task_id is missing, or not a text"))?;
    let wrong = |what: &str| Unfit::input(Some(id), what);
    let body = value["input"]["body"].as_str();
    let body = body.ok_or_else(|| wrong("input.body is missing, or not a text"))?;
    let registry = value["context_registry"].as_array();
    let registry = registry.ok_or_else(|| wrong("context_registry is missing, or not a list"))?;
    let registry: Option<Vec<WorkPath>> =
        registry.iter().map(|one| one.as_str().and_then(|one| one.parse().ok())).collect();
    let registry = registry.ok_or_else(|| wrong("context_registry is not a list of references"))?;
    let mut request = Request { registry: Some(registry), ..Request::new(body, no_model()) };
    match &value["input"]["type"] {
        Value::Null => {}
        Value::String(word) => {
            request.hint = Some(parse_hint(word).ok_or_else(|| wrong(&no_hint(word)))?);
        }
        _ => return Err(wrong("input.type is not a text")),
    }
    let policy = policy_of(&value["policy"], standing)
        .map_err(|reason| Unfit { id: Some(id.to_owned()), ..Unfit::policy(reason) })?;
    Ok(Asked { id: id.to_owned(), request, policy })
}

/// A policy written out as an object; `{"preset": "crew"}` names one that ships, `{"preset": null}` the one at hand.
fn policy_of(value: &Value, standing: Policy) -> Result<Policy, String> {
    let Some(object) = value.as_object() else {
        return Err("policy is missing, or not an object".to_owned());
    };
    match (object.get("preset"), object.len()) {
        (Some(Value::Null), 1) => Ok(standing),
        (Some(Value::String(name)), 1) => presets::preset(name).map_err(|error| error.to_string()),
        (_, 0) => Err("the policy is empty".to_owned()),
        _ => presets::read_json("of the request", value).map_err(|error| error.to_string()),
    }
}

fn parse_hint(word: &str) -> Option<Hint> {
    serde_json::from_value(Value::from(word)).ok()
}

fn no_hint(word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("{word:?} is not a type; there are technical, product and ambiguous")
}

/// The same text always has the same id.
fn id_of(text: &str) -> String {
    format!("t_{}", Digest::of(text.as_bytes()).short())
}

/// No model is asked anything here.
fn no_model() -> ModelRef {
    #[expect(clippy::expect_used, reason = "the text is fixed and is a model's name")]
    "none/none".parse().expect("none/none names a model")
}

fn standard_input() -> Result<String, Wrong> {
    let mut text = String::new();
    match std::io::stdin().take(MOST).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(source) => Err(Wrong::Unreadable { path: "standard input".to_owned(), source }),
    }
}
