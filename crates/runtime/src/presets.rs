//! Policies: those that ship with the product, and files that people write. A policy is read strictly, its prompts are
//! filled in, and its rules are checked against their own examples before use.

mod check;
mod document;
mod error;
mod overlay;
mod project;
mod schema;
mod shipped;
pub mod strict;

use std::sync::OnceLock;

use serde_json::{Map, Value};
use types::Policy;

use crate::prompts::Prompts;
use shipped::find;

pub use crate::prompts::PROMPTS;
pub use check::{Problem, check, examples};
pub use error::PolicyError;
pub use project::{POLICY, project, refuse_too_much, top};
pub use sandbox::is_root as is_repository;
pub use schema::schema;
pub use shipped::names;

/// A shipped preset as an object.
fn object(name: &str) -> Result<Map<String, Value>, PolicyError> {
    document::object(name, text(name)?)
}

/// The text of a shipped policy.
pub fn text(name: &str) -> Result<&'static str, PolicyError> {
    find(name).ok_or_else(|| PolicyError::NoSuchPreset { name: name.to_owned() })
}

/// The preset that a policy file is, or extends; `None` for a standalone policy.
#[must_use]
pub fn preset_of(text: &str) -> Option<String> {
    let file = document::object("", text).ok()?;
    let named = |key: &str| file.get(key).and_then(Value::as_str);
    let known = |name: &&str| names().any(|known| known == *name);
    let laid_over = named("extends").or((!is_whole(&file)).then_some("crew"));
    named("name").filter(known).or(laid_over.filter(known)).map(str::to_owned)
}

/// Whether a file is a policy by itself, and not one that is laid over the crew's.
fn is_whole(file: &Map<String, Value>) -> bool {
    file.contains_key("roles") || file.contains_key("version")
}

/// A shipped policy.
pub fn preset(name: &str) -> Result<Policy, PolicyError> {
    preset_with(name, &Prompts::default())
}

/// The same, with these prompts.
pub fn preset_with(name: &str, prompts: &Prompts) -> Result<Policy, PolicyError> {
    let memo = shipped::memo(name).filter(|_| *prompts == Prompts::default());
    if let Some(policy) = memo.and_then(OnceLock::get) {
        return Ok(policy.clone());
    }
    let policy = read_with(name, text(name)?, prompts)?;
    Ok(memo.map_or(policy.clone(), |memo| memo.get_or_init(|| policy).clone()))
}

/// A policy from the text of a file; `name` is for messages. A file without roles extends the crew's.
pub fn read(name: &str, text: &str) -> Result<Policy, PolicyError> {
    read_with(name, text, &Prompts::default())
}

/// A policy from a JSON object, with these prompts.
pub fn read_json(name: &str, policy: &Value, prompts: &Prompts) -> Result<Policy, PolicyError> {
    let Value::Object(file) = policy else {
        return Err(PolicyError::unreadable(name, 1, "a policy must be an object"));
    };
    read_object(name, "", file.clone(), prompts)
}

/// Lays a person's own file over any policy. Its permissions come first, and its keys win.
pub fn laid_over(policy: &Policy, name: &str, text: &str) -> Result<Policy, PolicyError> {
    // Reports the same mistakes as for a file laid over a preset.
    read(name, text)?;
    overlay::over(policy, name, text)
}

/// The roles of all presets.
pub(crate) fn role_names() -> Result<Vec<String>, PolicyError> {
    let mut all = vec![];
    for name in names() {
        let preset = object(name)?;
        let roles = preset.get("roles").and_then(Value::as_object);
        all.extend(roles.into_iter().flat_map(Map::keys).cloned());
    }
    Ok(all)
}

/// The text for `@a.md` or `@a.md + @b.md`; any other text stands for itself. The error is the name of a missing
/// prompt.
fn spoken(prompt: &str, prompts: &Prompts) -> Result<String, String> {
    if !prompt.starts_with('@') {
        return Ok(prompt.to_owned());
    }
    let named = prompt.split(" + ").map(|name| name.trim().trim_start_matches('@'));
    let texts = named.map(|name| prompts.get(name).ok_or_else(|| name.to_owned()));
    let texts: Vec<&str> = texts.collect::<Result<_, String>>()?;
    Ok(texts.join("\n"))
}

/// The preset that a file extends.
fn base(name: &str, below: &Value) -> Result<Map<String, Value>, PolicyError> {
    let unreadable = |cause: &str| PolicyError::unreadable(name, 1, cause);
    let below = below.as_str().ok_or_else(|| unreadable("extends must name a preset"))?;
    let preset = object(below)?;
    if preset.contains_key("extends") {
        return Err(unreadable("a preset that extends another cannot be extended"));
    }
    Ok(preset)
}

/// The same, with these prompts.
pub fn read_with(name: &str, text: &str, prompts: &Prompts) -> Result<Policy, PolicyError> {
    read_object(name, text, document::object(name, text)?, prompts)
}

/// Reads the keys of a file; `text` is only for the lines of errors.
fn read_object(
    name: &str,
    text: &str,
    file: Map<String, Value>,
    prompts: &Prompts,
) -> Result<Policy, PolicyError> {
    let mut policy = match file.get("extends") {
        Some(below) => overlay::extend(base(name, below)?, name, text, file)?,
        None if is_whole(&file) => document::policy(&Value::Object(file), name, text)?,
        None => overlay::lay_over(object("crew")?, name, text, file)?,
    };
    let mut problems = rules::policy::problems(&policy);
    if let Err(error) = sandbox::Hosts::parse(&policy.sandbox.network) {
        problems.push(format!("sandbox.network: {error}"));
    }
    if let Err(error) = sandbox::Hosts::parse(&policy.workspace.network) {
        problems.push(format!("workspace.network: {error}"));
    }
    let profiles = &policy.profiles;
    for (id, role) in &mut policy.roles {
        let profile = role.profile.as_ref().and_then(|name| profiles.get(name));
        role.model = role.model.take().or_else(|| profile?.model.clone());
        match spoken(&role.prompt, prompts) {
            Ok(text) => role.prompt = text,
            Err(prompt) => {
                problems.push(format!("role {id} names the prompt {prompt}, which does not exist"));
            }
        }
    }
    let own = &mut policy.session;
    own.loop_prompt.get_or_insert_with(|| prompts.repeating().to_owned());
    own.compact_prompt.get_or_insert_with(|| prompts.compact().to_owned());
    own.agent_prompt.get_or_insert_with(|| prompts.subagent().to_owned());
    if problems.is_empty() {
        Ok(policy)
    } else {
        Err(PolicyError::Broken { name: name.to_owned(), problems })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(from: &str, to: &str) -> String {
        let crew = text("crew").expect("it ships");
        assert!(crew.contains(from), "the preset has changed: {from}");
        match read("mine.toml", &crew.replacen(from, to, 1)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("the broken policy was taken"),
        }
    }

    #[test]
    fn the_presets_hold_their_own_examples_and_have_their_prompts() {
        for name in names() {
            let policy = preset(name).expect("it ships, so it works");
            assert!(policy.roles.values().all(|role| role.prompt.starts_with("You are")));
        }
    }

    #[test]
    fn a_broken_policy_is_refused_with_place_and_cause() {
        let unknown = broken("version = 1", "version = 1\ncolour = \"red\"");
        assert!(unknown.contains("mine.toml") && unknown.contains("colour"), "{unknown}");
        let example = broken("matches = [\"fix it\"", "matches = [\"fix the login page\"");
        assert!(
            example.contains("intake.too_vague") && example.contains("own example"),
            "{example}"
        );
        let twice = broken("id = \"intake.malware\"", "id = \"intake.empty\"");
        assert!(twice.contains("two rules"), "{twice}");
        let prompt = broken("@coder.md", "@poet.md");
        assert!(prompt.contains("poet.md"), "{prompt}");
        let hosts = broken("network = []", "network = [\"*\"]");
        assert!(hosts.contains("every host"), "{hosts}");
        let hosts = read("mine.toml", "[workspace]\nnetwork = [\"*\"]\n").expect_err("every host");
        assert!(hosts.to_string().contains("workspace.network"), "{hosts}");
        let path =
            read("mine.toml", "[workspace]\nbring = [\"../secrets\"]\n").expect_err("outside");
        assert!(path.to_string().contains("leads out of the workspace"), "{path}");
        let route = broken("to = \"planner\"", "to = \"poet\"");
        assert!(route.contains("not a role"), "{route}");
    }

    #[test]
    fn the_preset_that_a_file_is_of_is_known() {
        for name in names() {
            assert_eq!(preset_of(text(name).expect("it ships")).as_deref(), Some(name));
        }
        assert_eq!(preset_of("headless = true\n").as_deref(), Some("crew"));
        let own = "extends = \"crew\"\nname = \"mine\"\nversion = 1\n";
        assert_eq!(preset_of(own).as_deref(), Some("crew"));
        assert_eq!(preset_of("name = \"mine\"\nversion = 1\n"), None);
    }

    #[test]
    fn an_unknown_preset_names_those_that_exist() {
        assert!(preset("zen").expect_err("there is none").to_string().contains("crew"));
    }
}
