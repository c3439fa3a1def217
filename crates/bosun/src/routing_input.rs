//! Input of `bosun route`: a text, a request object, or a coordinator's input with registry and policy, also accepted
//! by `bosun run`. Unusable input is an answer, not an error: it is escalated to a person.

use runtime::{Prompts, presets};
use serde_json::Value;
use types::{Digest, Hint, ModelRef, Policy, Request, UserRequest, WorkPath};

use crate::args;
use crate::files::{read_request, standard_input};
use crate::rules::{Rules, rules};

#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) request: Request,
    pub(crate) policy: Policy,
    /// The policy comes with the input and replaces the current one.
    pub(crate) brings_policy: bool,
}

/// Reason why an input cannot be routed.
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

/// Reads the input of `bosun route`.
pub(crate) fn read(args: &args::Route) -> anyhow::Result<Result<Asked, Unfit>> {
    let at_hand = match rules(args.policy.as_deref(), args.preset.as_deref(), &args.repo) {
        Ok(rules) => rules,
        Err(error) => return Ok(Err(Unfit::policy(format!("{error:#}")))),
    };
    let asked = match (&args.request, &args.text) {
        (Some(file), _) => of_object(&read_request(file)?, at_hand),
        (None, words) if words.is_empty() || *words == ["-"] => {
            Ok(of_text(standard_input()?.trim_end_matches('\n'), at_hand.policy))
        }
        (None, words) => Ok(of_text(&words.join(" "), at_hand.policy)),
    };
    Ok(asked.map(|mut asked| {
        asked.request.hint = args.hint.or(asked.request.hint);
        asked
    }))
}

fn of_text(text: &str, policy: Policy) -> Asked {
    let request = Request::new(text, no_model());
    Asked { id: id_of(text), request, policy, brings_policy: false }
}

/// Reads a coordinator's input of `bosun run`; `None` for other kinds of files. Under a policy that makes Intent Specs,
/// an object that cannot be parsed counts as one.
pub(crate) fn directed(
    text: &str,
    policy: &Policy,
    prompts: &Prompts,
) -> Option<Result<Asked, Unfit>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if is_coordinators(&value) => {
            Some(of_coordinator(&value, policy.clone(), prompts))
        }
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

fn of_object(text: &str, at_hand: Rules) -> Result<Asked, Unfit> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Err(Unfit::input(None, format!("the request is not JSON: {error}"))),
    };
    if is_coordinators(&value) {
        return of_coordinator(&value, at_hand.policy, &at_hand.prompts);
    }
    let object = UserRequest::of_value(&value).map_err(|problems| {
        let reason = format!("invalid request object: {}", problems.join("; "));
        Unfit::input(value["request_id"].as_str(), reason)
    })?;
    Ok(Asked {
        id: object.request_id.clone().unwrap_or_else(|| id_of(&object.user_request)),
        request: Request {
            project_type: object.context.project_type.clone(),
            budget: object.budget(),
            attachments: object.attachments,
            ..Request::new(object.user_request, no_model())
        },
        policy: at_hand.policy,
        brings_policy: false,
    })
}

/// Fields: `task_id`, `input` with `body` and optionally `type`, `context_registry`, `policy`.
fn of_coordinator(value: &Value, standing: Policy, prompts: &Prompts) -> Result<Asked, Unfit> {
    let id = value["task_id"].as_str().filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| Unfit::input(None, "task_id is missing or not a string"))?;
    let wrong = |what: &str| Unfit::input(Some(id), what);
    let body = value["input"]["body"].as_str();
    let body = body.ok_or_else(|| wrong("input.body is missing or not a string"))?;
    let registry = value["context_registry"].as_array();
    let registry = registry.ok_or_else(|| wrong("context_registry is missing or not a list"))?;
    let registry: Option<Vec<WorkPath>> =
        registry.iter().map(|one| one.as_str().and_then(|one| one.parse().ok())).collect();
    let registry = registry.ok_or_else(|| wrong("context_registry is not a list of references"))?;
    let mut request = Request { registry: Some(registry), ..Request::new(body, no_model()) };
    match &value["input"]["type"] {
        Value::Null => {}
        Value::String(word) => {
            request.hint = Some(parse_hint(word).ok_or_else(|| wrong(&no_hint(word)))?);
        }
        _ => return Err(wrong("input.type is not a string")),
    }
    let own = policy_of(&value["policy"], prompts)
        .map_err(|reason| Unfit { id: Some(id.to_owned()), ..Unfit::policy(reason) })?;
    let brings_policy = own.is_some();
    Ok(Asked { id: id.to_owned(), request, policy: own.unwrap_or(standing), brings_policy })
}

/// Reads a policy written as an object. `{"preset": "crew"}` names a built-in one, `{"preset": null}` the current one,
/// for which this returns `None`.
fn policy_of(value: &Value, prompts: &Prompts) -> Result<Option<Policy>, String> {
    let Some(object) = value.as_object() else {
        return Err("policy is missing or not an object".to_owned());
    };
    let own = match (object.get("preset"), object.len()) {
        (Some(Value::Null), 1) => return Ok(None),
        (Some(Value::String(name)), 1) => presets::preset_with(name, prompts),
        (_, 0) => return Err("the policy is empty".to_owned()),
        _ => presets::read_json("of the request", value, prompts),
    };
    own.map(Some).map_err(|error| error.to_string())
}

fn parse_hint(word: &str) -> Option<Hint> {
    serde_json::from_value(Value::from(word)).ok()
}

fn no_hint(word: &str) -> String {
    let word: String = word.chars().take(40).collect();
    format!("unknown type {word:?}; expected technical, product or ambiguous")
}

/// Derived from the text, so that the same text always has the same id.
fn id_of(text: &str) -> String {
    format!("t_{}", Digest::of(text.as_bytes()).short())
}

/// Placeholder: routing calls no model.
fn no_model() -> ModelRef {
    #[expect(clippy::expect_used, reason = "the text is fixed and is a model's name")]
    "none/none".parse().expect("none/none names a model")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_policy_of_an_input_has_the_prompts_of_the_person() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("coder.md"), "You are a poet.\n").expect("a file");
        let prompts = Prompts::read(folder.path()).expect("prompts");
        let written = json!({ "extends": "crew", "headless": true });
        for policy in [json!({ "preset": "crew" }), written] {
            let own = policy_of(&policy, &prompts).expect("a policy").expect("its own");
            assert_eq!(own.roles[&types::RoleId::fixed("coder")].prompt, "You are a poet.\n");
        }
        assert_eq!(policy_of(&json!({ "preset": null }), &prompts), Ok(None));
    }
}
