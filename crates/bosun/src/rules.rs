//! The policy of a command: a named file, a named preset, the project's own policy, or else the preset `crew`, in this
//! order.

use std::path::{Path, PathBuf};

use runtime::{Prompts, presets};
use types::{ModelRef, Policy, RoleId, ToolProfile};

use crate::exit::CliError;
use crate::files::read;
use crate::home;

/// What is worked by when nobody says anything.
const DEFAULT: &str = "crew";

/// Rules, and where they are from.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) from: Origin,
    /// What the person and the project have agents told.
    pub(crate) prompts: Prompts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Preset(String),
    File(PathBuf),
    /// Found at the top of the project, and not named by anybody.
    Project(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Preset(name) => write!(f, "the preset {name}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Project(path) => write!(f, "{}, which the project brings along", path.display()),
        }
    }
}

/// The rules for working in a folder.
pub(crate) fn rules(
    file: Option<&Path>,
    preset: Option<&str>,
    folder: &Path,
) -> anyhow::Result<Rules> {
    let top = presets::top(folder);
    let prompts = home::prompts(Some(&top))?;
    if let Some(path) = file {
        let policy = presets::read_with(&path.display().to_string(), &read(path)?, &prompts)?;
        return Ok(Rules { policy, from: Origin::File(path.to_owned()), prompts });
    }
    if preset.is_none()
        && let Some((path, policy)) = presets::project(&top, &prompts)?
    {
        return Ok(Rules { policy, from: Origin::Project(path), prompts });
    }
    let name = preset.unwrap_or(DEFAULT);
    let policy = presets::preset_with(name, &prompts)?;
    Ok(Rules { policy, from: Origin::Preset(name.to_owned()), prompts })
}

/// The model that a policy names for its role `solo`.
pub(crate) fn solo_model(policy: &Policy) -> Option<ModelRef> {
    policy.roles.get(&RoleId::solo()).and_then(|role| role.model.clone())
}

/// A tool profile by its name: one that ships, or one of the policy's own.
pub(crate) fn profile(policy: &Policy, name: &str) -> Result<ToolProfile, CliError> {
    rules::profile::find(policy, name).ok_or_else(|| {
        let known = rules::profile::known(policy).join(", ");
        CliError::NoSuchProfile { name: name.to_owned(), known }
    })
}
