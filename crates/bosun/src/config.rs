//! The configuration of this person and of a project: where its files are, and whether those of a project are trusted.
//! What the keys mean is in `runtime::settings`.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use runtime::presets;
use runtime::settings::{self, ConfigError, Loaded, Sources};
use runtime::trust::ProjectFiles;
use types::Policy;

use crate::print;
use crate::setup_error::SetupError;

const SYSTEM: &str = "/etc/bosun/config.toml";

/// The folder with the person's own files.
pub(crate) fn folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("bosun"))
}

/// The person's settings for models alone.
pub(crate) fn models_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("BOSUN_MODELS") {
        return Some(path.into());
    }
    Some(folder()?.join("models.toml"))
}

/// The files of all layers; those of a project only where it is named.
pub(crate) fn sources(project: Option<&Path>) -> Sources {
    let named = std::env::var_os("BOSUN_CONFIG").filter(|path| !path.is_empty());
    let user = named.map(PathBuf::from).or_else(|| Some(folder()?.join("config.toml")));
    Sources {
        system: Some(PathBuf::from(SYSTEM)),
        user,
        models: models_file(),
        project: project.map(Path::to_owned),
    }
}

/// All layers, read. `flags` are keys with the flag that set them.
pub(crate) fn load(
    project: Option<&Path>,
    flags: &[(&str, &str, String)],
) -> Result<Loaded, ConfigError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    settings::load(&sources(project), variable, flags)
}

/// The person's own policy, which is laid over every preset.
pub(crate) fn policy_file() -> Option<PathBuf> {
    Some(folder()?.join("policy.toml"))
}

/// A policy with the person's own laid over it.
pub(crate) fn with_own_policy(policy: Policy) -> Result<Policy, presets::PolicyError> {
    match policy_file() {
        Some(path) => settings::user_policy(policy, &path),
        None => Ok(policy),
    }
}

/// Why a project's files do not take effect.
pub(crate) fn untrusted(files: &ProjectFiles) -> SetupError {
    let names: Vec<&str> = files.files.iter().map(|(name, _)| name.as_str()).collect();
    SetupError::Untrusted { folder: crate::print::path(&files.folder), files: names.join(", ") }
}

/// Says which files there are.
pub(crate) fn tell(files: &ProjectFiles) {
    let folder = print::one_line(&files.folder.display().to_string(), 200);
    print::note(&format!("{folder} brings files that change how agents work:"));
    for (name, digest) in &files.files {
        print::note(&format!("  {}  {name}", digest.short()));
    }
}

/// A question with yes or no, asked on the terminal.
pub(crate) fn confirm(question: &str) -> std::io::Result<bool> {
    let answer = ask(question)?;
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// A question that is answered with one line.
pub(crate) fn ask(question: &str) -> std::io::Result<String> {
    let mut err = std::io::stderr().lock();
    err.write_all(question.as_bytes())?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
