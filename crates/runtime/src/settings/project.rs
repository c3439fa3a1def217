//! The settings of a project, which come with its code, and the limits on them. Whether they are trusted at all is
//! decided before they are read.

use std::path::{Path, PathBuf};

use toml::Value;
use types::{Budget, Money, WorkPath};

use super::keys::{Place, place};
use super::layer::{ConfigError, Setting, Values};
use crate::presets;

/// The path of a project's settings, from its top.
pub const CONFIG: &str = ".bosun/config.toml";
/// The largest file that is read.
const MOST: u64 = 256 * 1024;

/// The project's file, with its path. Links are not followed.
pub(super) fn text(top: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let path = top.join(CONFIG);
    let wrong = |cause: String| ConfigError { place: path.display().to_string(), cause };
    let inside: WorkPath =
        CONFIG.parse().map_err(|error: types::BadPath| wrong(error.to_string()))?;
    let text = sandbox::text(top, &inside, MOST).map_err(|error| wrong(error.chain()))?;
    Ok(text.map(|text| (path.clone(), text)))
}

/// Refuses settings that a project may not make: keys not open to projects, models outside `project_models`, the preset
/// `solo`, and a larger budget.
pub(super) fn refuse_too_much(own: &[Setting], below: &Values) -> Result<(), ConfigError> {
    for setting in own {
        let Place::Key(key) = place(&setting.path) else { continue };
        if !key.project {
            return Err(setting.error(format!(
                "a project may not set {}; set it in your own config.toml",
                setting.key()
            )));
        }
        let value = setting.value.as_str().unwrap_or_default();
        if key.path.ends_with("model") && !allowed(value, below) {
            return Err(setting.error(format!(
                "your project_models does not allow {value}; add it there, or pass --model"
            )));
        }
        if key.path == "preset" && value == "solo" {
            return Err(setting
                .error("a project may not choose the preset solo, which works in your own files"));
        }
        if let Some(name) = key.path.strip_prefix("budget.") {
            refuse_more(name, setting, below)?;
        }
    }
    Ok(())
}

fn allowed(model: &str, below: &Values) -> bool {
    let patterns = below.get(["project_models".to_owned()].as_slice());
    let patterns = patterns.and_then(|setting| setting.value.as_array()).cloned();
    let fits = |pattern: &Value| {
        let pattern = pattern.as_str().unwrap_or_default();
        match pattern.strip_suffix('*') {
            Some(start) => model.starts_with(start),
            None => model == pattern,
        }
    };
    patterns.unwrap_or_default().iter().any(fits)
}

fn refuse_more(name: &str, own: &Setting, below: &Values) -> Result<(), ConfigError> {
    let shipped = presets::preset("crew").map(|crew| crew.budget.ceiling()).unwrap_or_default();
    let set = below.get(["budget".to_owned(), name.to_owned()].as_slice());
    let most = match set {
        Some(setting) => amount(name, &setting.value),
        None => of_budget(name, shipped),
    };
    match (amount(name, &own.value), most) {
        (Some(wanted), Some(most)) if wanted > most => Err(own.error(format!(
            "a project may not raise {}; raise it in your own config.toml, or on the command line",
            own.key()
        ))),
        _ => Ok(()),
    }
}

/// An amount in comparable units.
fn amount(name: &str, value: &Value) -> Option<u64> {
    match name {
        "money" => {
            let read: Result<Money, _> = serde_json::from_value(value.as_str()?.into());
            read.ok().map(Money::as_nanos)
        }
        _ => value.as_integer().and_then(|number| u64::try_from(number).ok()),
    }
}

fn of_budget(name: &str, budget: Budget) -> Option<u64> {
    match name {
        "tokens" => budget.tokens,
        "money" => budget.money.map(Money::as_nanos),
        "calls" => budget.calls,
        _ => budget.time_ms.map(|time| time.0 / 1_000),
    }
}
