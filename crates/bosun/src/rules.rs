//! The policy of a command: a named file, a named preset, the project's own policy, or else the configured preset
//! (default: `crew`), in this order.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use runtime::settings::Loaded;
use runtime::trust::{TrustStore, project_files};
use runtime::{Clock as _, Prompts, RealClock, presets};
use types::{ModelRef, Policy, RoleId, ToolProfile};

use crate::config;
use crate::exit::CliError;
use crate::files::read;
use crate::home::{self, Home};
use crate::print;

/// Preset used if none is named.
const DEFAULT: &str = "crew";

/// The policy of a command, with its origin and the configuration around it.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) from: Origin,
    /// Prompts, with those of the user and the project.
    pub(crate) prompts: Prompts,
    /// The configuration, merged from all layers.
    pub(crate) loaded: Loaded,
    /// Whether the project's own files take effect.
    pub(crate) project: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Preset(String),
    File(PathBuf),
    /// Found at the top of the project, not named explicitly.
    Project(PathBuf),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Preset(name) => write!(f, "the preset {name}"),
            Self::File(path) | Self::Project(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The rules that would apply in a folder, for commands that only show them: the project's files count as trusted.
pub(crate) fn rules(
    file: Option<&Path>,
    preset: Option<&str>,
    folder: &Path,
) -> anyhow::Result<Rules> {
    rules_with((file, preset), folder, true, &[])
}

/// The rules for working in a folder. Untrusted project files are rejected or ignored. `flags` are configuration keys,
/// each with the flag that set it.
pub(crate) fn working_rules(
    home: &Home,
    (file, preset): (Option<&Path>, Option<&str>),
    folder: &Path,
    flags: &[(&str, &str, String)],
) -> anyhow::Result<Rules> {
    if let Some(file) = file {
        home.close_policy(file);
    }
    let project = takes_project(home, folder)?;
    rules_with((file, preset), folder, project, flags)
}

/// Like `working_rules`, without a user at the terminal: untrusted project files are rejected.
pub(crate) fn unattended_rules(
    home: &Home,
    preset: Option<&str>,
    folder: &Path,
    flags: &[(&str, &str, String)],
) -> anyhow::Result<Rules> {
    let project = match project_files(&presets::top(folder))? {
        _ if home.without_project => false,
        Some(files) if !TrustStore::at(&home.folder()?).holds(&files)? => {
            return Err(config::untrusted(&files).into());
        }
        _ => true,
    };
    rules_with((None, preset), folder, project, flags)
}

/// Whether the project's own files take effect. If they are not trusted yet, asks the user; fails without a terminal.
pub(crate) fn takes_project(home: &Home, folder: &Path) -> anyhow::Result<bool> {
    if home.without_project {
        return Ok(false);
    }
    if !folder.is_dir() {
        return Err(CliError::NoFolder { path: folder.display().to_string() }.into());
    }
    let Some(files) = project_files(&presets::top(folder))? else { return Ok(true) };
    let store = TrustStore::at(&home.folder()?);
    if store.holds(&files)? {
        return Ok(true);
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(config::untrusted(&files).into());
    }
    config::tell(&files);
    if config::confirm(
        "Trust these files? They can choose models, checks, prompts and rules. [y/N] ",
    )? {
        store.trust(&files, RealClock.now())?;
        return Ok(true);
    }
    print::note("ignoring these files");
    Ok(false)
}

fn rules_with(
    (file, preset): (Option<&Path>, Option<&str>),
    folder: &Path,
    project: bool,
    flags: &[(&str, &str, String)],
) -> anyhow::Result<Rules> {
    let top = presets::top(folder);
    let own = project.then_some(top.as_path());
    let (prompts, loaded) = (home::prompts(own)?, config::load(own, flags)?);
    if let Some(path) = file {
        if let Some(name) = presets::names().find(|name| Path::new(name) == path && !path.exists())
        {
            return Err(CliError::PresetAsFile { name }.into());
        }
        let policy = presets::read_with(&path.display().to_string(), &read(path)?, &prompts)?;
        return Ok(Rules { policy, from: Origin::File(path.to_owned()), prompts, loaded, project });
    }
    if preset.is_none()
        && project
        && let Some((path, policy)) = presets::project(&top, &prompts)?
    {
        let policy = config::with_own_policy(policy)?;
        return Ok(Rules { policy, from: Origin::Project(path), prompts, loaded, project });
    }
    let set = loaded.settings.preset.clone();
    let name = preset.map(str::to_owned).or(set).unwrap_or_else(|| DEFAULT.to_owned());
    let policy = config::with_own_policy(presets::preset_with(&name, &prompts)?)?;
    Ok(Rules { policy, from: Origin::Preset(name), prompts, loaded, project })
}

/// The model that a policy names for its role `solo`.
pub(crate) fn solo_model(policy: &Policy) -> Option<ModelRef> {
    policy.roles.get(&RoleId::solo()).and_then(|role| role.model.clone())
}

/// The effort that a policy names for its role `solo`.
pub(crate) fn policy_effort(policy: &Policy) -> Option<types::Effort> {
    policy.roles.get(&RoleId::solo()).and_then(|role| role.effort)
}

/// Looks up a tool profile by name: a built-in one, or one of the policy.
pub(crate) fn profile(policy: &Policy, name: &str) -> Result<ToolProfile, CliError> {
    rules::profile::find(policy, name).ok_or_else(|| {
        let known = rules::profile::known(policy).join(", ");
        CliError::NoSuchProfile { name: name.to_owned(), known }
    })
}
