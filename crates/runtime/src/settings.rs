//! Persistent settings, as opposed to flags: models, roles, budget, checks, providers. Read from layers, each stronger
//! than the one before: built in, system, user, project, environment, flags. Layers are merged key by key, so a file
//! names only the keys that it changes. The caller passes in the environment; policy rules are not settings.

mod keys;
mod layer;
mod project;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};
use types::{Budget, Check, Effort, Millis, ModelRef, Money, Policy, nearest};

use crate::presets::{self, PolicyError};
use layer::{Format, Values, read, single};

pub use keys::{KEYS, Key, Kind, VARIABLES, models_schema, schema};
pub use layer::{ConfigError, Level, Origin, Setting};
pub use project::CONFIG;

/// The settings, merged from all layers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub model: Option<ModelRef>,
    pub effort: Option<Effort>,
    pub preset: Option<String>,
    pub instruction: Option<String>,
    pub checks: Option<Vec<String>>,
    pub project_models: Vec<String>,
    /// The person's own programs, with their arguments; no project can set them.
    pub on_question: Option<Vec<String>>,
    pub on_end: Option<Vec<String>>,
    pub roles: BTreeMap<String, RoleSettings>,
    pub budget: BudgetSettings,
    pub providers: BTreeMap<String, llm::ProviderSettings>,
    pub chains: BTreeMap<ModelRef, Vec<ModelRef>>,
    pub models: BTreeMap<String, llm::Entry>,
    pub retry: llm::RetryPolicy,
    pub deadlines: llm::Deadlines,
    pub breaker: llm::BreakerPolicy,
}

/// The settings of one role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleSettings {
    pub model: Option<ModelRef>,
    pub effort: Option<Effort>,
}

/// The budget of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    pub tokens: Option<u64>,
    pub money: Option<Money>,
    pub calls: Option<u64>,
    pub time_s: Option<u64>,
}

/// The files to read; a missing file sets nothing.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    pub system: Option<PathBuf>,
    pub user: Option<PathBuf>,
    /// The user's `models.toml`, which is weaker than their `config.toml`.
    pub models: Option<PathBuf>,
    /// The top of the project; set only if its files are trusted.
    pub project: Option<PathBuf>,
}

/// The settings, with the origin of each value.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    pub settings: Settings,
    /// The effective values, ordered by key.
    pub values: Vec<Setting>,
}

/// Reads and merges all layers. `variable` looks up an environment variable; `flags` are flag, key and value.
pub fn load(
    sources: &Sources,
    variable: impl Fn(&str) -> Option<String>,
    flags: &[(&str, &str, String)],
) -> Result<Loaded, ConfigError> {
    let mut values = built_in()?;
    for (level, format, path) in [
        (Level::System, Format::Config, &sources.system),
        (Level::User, Format::Models, &sources.models),
        (Level::User, Format::Config, &sources.user),
    ] {
        if let Some(path) = path
            && let Some(text) = text(path)?
        {
            put(&mut values, read(level, format, path, &text)?);
        }
    }
    if let Some(top) = &sources.project
        && let Some((path, text)) = project::text(top)?
    {
        let own = read(Level::Project, Format::Config, &path, &text)?;
        project::refuse_too_much(&own, &values)?;
        put(&mut values, own);
    }
    for (name, key) in VARIABLES {
        if let Some(value) = variable(name) {
            let place = format!("the variable {name}");
            put(&mut values, vec![single(Level::Environment, &place, key, Value::from(value))?]);
        }
    }
    for (flag, key, value) in flags {
        let value = Value::from(value.as_str());
        put(&mut values, vec![single(Level::Flags, flag, key, value)?]);
    }
    let settings = whole(&values)?;
    Ok(Loaded { settings, values: values.into_values().collect() })
}

fn put(values: &mut Values, layer: Vec<Setting>) {
    values.extend(layer.into_iter().map(|setting| (setting.path.clone(), setting)));
}

fn text(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let (place, cause) = (path.display().to_string(), error.to_string());
            Err(ConfigError { place, cause })
        }
    }
}

/// The defaults of all keys without `*`. Providers have defaults of their own.
fn built_in() -> Result<Values, ConfigError> {
    let mut values = Values::new();
    for key in KEYS.iter().filter(|key| !key.path.contains('*')) {
        let Some(default) = key.default else { continue };
        let wrong = |error: toml::de::Error| ConfigError {
            place: "built in".to_owned(),
            cause: error.to_string(),
        };
        let table: Table = toml::from_str(&format!("it = {default}")).map_err(wrong)?;
        let Some(value) = table.get("it").cloned() else { continue };
        let path: Vec<String> = key.path.split('.').map(str::to_owned).collect();
        let origin = Origin { level: Level::BuiltIn, place: None };
        values.insert(path.clone(), Setting { path, value, origin });
    }
    Ok(values)
}

/// Combines all values into one table and deserializes it.
fn whole(values: &Values) -> Result<Settings, ConfigError> {
    let mut root = Table::new();
    for setting in values.values() {
        let Some((last, above)) = setting.path.split_last() else { continue };
        let mut at = &mut root;
        for name in above {
            let slot = at.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(inner) = slot else {
                return Err(setting.error(format!("{} is not a table", setting.key())));
            };
            at = inner;
        }
        at.insert(last.clone(), setting.value.clone());
    }
    let read: Result<Settings, _> = Value::Table(root).try_into();
    read.map_err(|error| {
        let named = values.values().rev().find(|one| error.to_string().contains(&one.key()));
        match named {
            Some(setting) => setting.error(error.message().to_owned()),
            None => {
                ConfigError { place: "the settings".to_owned(), cause: error.message().to_owned() }
            }
        }
    })
}

impl Loaded {
    /// Where a key was set; `None` if no layer sets it.
    #[must_use]
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.values.iter().find(|setting| setting.key() == key).map(|setting| &setting.origin)
    }

    /// Refuses a role that neither this policy nor any preset has.
    pub fn check_roles(&self, policy: &Policy) -> Result<(), ConfigError> {
        if self.settings.roles.is_empty() {
            return Ok(());
        }
        let mut known: Vec<String> = policy.roles.keys().map(ToString::to_string).collect();
        known.extend(presets::role_names().unwrap_or_default());
        known.sort();
        known.dedup();
        let of_roles = |one: &&Setting| one.path.first().is_some_and(|first| first == "roles");
        for setting in self.values.iter().filter(of_roles) {
            let Some(role) = setting.path.get(1).filter(|role| !known.contains(role)) else {
                continue;
            };
            let near = match nearest(role, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("known roles: {}", known.join(", ")),
            };
            return Err(setting.error(format!("there is no role {role:?}; {near}")));
        }
        Ok(())
    }
}

impl Settings {
    /// The settings for models.
    #[must_use]
    pub fn models(&self) -> llm::Settings {
        llm::Settings {
            default: self.model.clone(),
            providers: self.providers.clone(),
            chains: self.chains.clone(),
            models: self.models.clone(),
            retry: self.retry,
            deadlines: self.deadlines,
            breaker: self.breaker,
        }
    }

    /// The budget of one run.
    #[must_use]
    pub fn budget(&self) -> Budget {
        let BudgetSettings { tokens, money, calls, time_s } = self.budget.clone();
        Budget { tokens, money, calls, time_ms: time_s.map(Millis::seconds) }
    }

    /// Applies the models of roles, the effort and the checks to a policy.
    pub fn apply(&self, policy: &mut Policy) {
        for (id, role) in &mut policy.roles {
            let own = self.roles.get(id.as_str());
            role.model = own.and_then(|own| own.model.clone()).or_else(|| role.model.take());
            let effort = own.and_then(|own| own.effort).or(role.effort);
            role.effort = effort.or(self.effort);
        }
        if let Some(checks) = &self.checks {
            let check = |command: &String| Check::new(command.as_str(), command.as_str());
            policy.checks = checks.iter().map(check).collect();
        }
    }

    /// Appends the person's instruction to the prompt of every role.
    pub fn instruct(&self, policy: &mut Policy) {
        let said = self.instruction.as_deref().map(str::trim).filter(|said| !said.is_empty());
        let Some(said) = said else { return };
        for role in policy.roles.values_mut() {
            role.prompt = format!("{}\n\n# From the person\n\n{said}\n", role.prompt.trim_end());
        }
    }
}

/// A TOML file as JSON, for programs that check it against a schema.
pub fn toml_as_json(text: &str) -> Result<serde_json::Value, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())
}

/// A `models.toml` into which a catalogue was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    pub text: String,
    pub new: usize,
    pub changed: usize,
}

/// Merges a catalogue, a table for each model, into the text of a `models.toml`. The error describes the problem.
pub fn merged_models(before: &str, catalogue: &str) -> Result<Merged, String> {
    let shown = |error: toml::de::Error| error.to_string().trim().replace('\n', " ");
    let read: BTreeMap<String, llm::Entry> = toml::from_str(catalogue).map_err(shown)?;
    let entries: Table = toml::from_str(catalogue).map_err(shown)?;
    if let Some(name) = read.keys().find(|name| name.parse::<ModelRef>().is_err()) {
        return Err(format!("{name:?} is not a model; write it as provider/model"));
    }
    let mut whole: Table = toml::from_str(before).map_err(shown)?;
    let models = whole.entry("models").or_insert_with(|| Value::Table(Table::new()));
    let Value::Table(models) = models else {
        return Err("models must be a table in models.toml".to_owned());
    };
    let (mut new, mut changed) = (0, 0);
    for (name, entry) in entries {
        match models.insert(name, entry.clone()) {
            None => new += 1,
            Some(before) if before != entry => changed += 1,
            Some(_) => {}
        }
    }
    let text = toml::to_string(&whole).map_err(|error| error.to_string())?;
    Ok(Merged { text, new, changed })
}

/// Lays the person's own `policy.toml` over another policy, so that a project cannot change its settings.
pub fn user_policy(policy: Policy, path: &Path) -> Result<Policy, PolicyError> {
    let name = path.display().to_string();
    match text(path) {
        Ok(Some(text)) => presets::laid_over(&policy, &name, &text),
        Ok(None) => Ok(policy),
        Err(error) => Err(PolicyError::Unreadable { name, line: 1, cause: error.cause }),
    }
}
