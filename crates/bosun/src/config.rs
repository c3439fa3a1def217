//! The configuration of this user and of a project: the locations of its files, and trust in a project's files. The
//! meaning of the keys is in `runtime::settings`.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use runtime::presets;
use runtime::settings::{self, ConfigError, Loaded, Sources};
use runtime::trust::ProjectFiles;
use types::Policy;

use crate::exit::CliError;
use crate::print;

const SYSTEM: &str = "/etc/bosun/config.toml";

/// Folder with the user's own files.
pub(crate) fn folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("bosun"))
}

/// The user's file for model settings alone.
pub(crate) fn models_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("BOSUN_MODELS") {
        return Some(path.into());
    }
    Some(folder()?.join("models.toml"))
}

/// The user's configuration file.
pub(crate) fn user_file() -> Option<PathBuf> {
    let named = std::env::var_os("BOSUN_CONFIG").filter(|path| !path.is_empty());
    named.map(PathBuf::from).or_else(|| Some(folder()?.join("config.toml")))
}

/// Configuration files of all layers; those of a project only if one is given.
pub(crate) fn sources(project: Option<&Path>) -> Sources {
    Sources {
        system: Some(PathBuf::from(SYSTEM)),
        user: user_file(),
        models: models_file(),
        project: project.map(Path::to_owned),
    }
}

/// Loads all layers. `flags` are keys, each with the flag that set it.
pub(crate) fn load(
    project: Option<&Path>,
    flags: &[(&str, &str, String)],
) -> Result<Loaded, ConfigError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    settings::load(&sources(project), variable, flags)
}

/// The user's own policy, which is overlaid on every preset.
pub(crate) fn policy_file() -> Option<PathBuf> {
    Some(folder()?.join("policy.toml"))
}

/// Overlays the user's own policy on a policy.
pub(crate) fn with_own_policy(policy: Policy) -> Result<Policy, presets::PolicyError> {
    match policy_file() {
        Some(path) => settings::user_policy(policy, &path),
        None => Ok(policy),
    }
}

/// The error for untrusted project files.
pub(crate) fn untrusted(files: &ProjectFiles) -> CliError {
    let names: Vec<&str> = files.files.iter().map(|(name, _)| name.as_str()).collect();
    CliError::Untrusted { folder: crate::print::path(&files.folder), files: names.join(", ") }
}

/// Prints the project's files with their digests.
pub(crate) fn tell(files: &ProjectFiles) {
    let folder = print::one_line(&files.folder.display().to_string(), 200);
    print::note(&format!("{folder} has files that change how agents work:"));
    for (name, digest) in &files.files {
        print::note(&format!("  {}  {name}", digest.short()));
    }
}

/// Asks a yes-or-no question on the terminal.
pub(crate) fn confirm(question: &str) -> std::io::Result<bool> {
    let answer = ask(question)?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// Asks a question on the terminal, and reads an answer of one line.
pub(crate) fn ask(question: &str) -> std::io::Result<String> {
    let mut err = std::io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
