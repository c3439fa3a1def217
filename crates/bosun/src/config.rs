//! The configuration of this person and of a project: where its files are, and whether those of a project are trusted.
//! What the keys mean is in `runtime::settings`.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use runtime::settings::{self, ConfigError, Loaded, Sources};
use runtime::trust::{ProjectFiles, TrustError, TrustStore, project_files};
use runtime::{Clock as _, RealClock, presets};
use types::Policy;

use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::{models, print};

const SYSTEM: &str = "/etc/bosun/config.toml";

/// Something about the configuration that the person has to change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error(
        "this repository brings files that change how agents work ({files}), and they are not trusted yet; read them, then \
         trust them with: bosun trust {folder}; --no-project leaves them out"
    )]
    Untrusted { folder: String, files: String },
    #[error("{flag}: the policy has no role {role}; there are {known}")]
    NoRole { flag: &'static str, role: &'static str, known: String },
    #[error(
        "nothing answers at {address}, where {model} would be asked ({cause}); start that server, or name another model \
         with --model"
    )]
    Away { model: types::ModelRef, address: String, cause: String },
    #[error(
        "no model is named and no key is set, but a server on this machine has {model}: add --model {model}, or set it in \
         your config.toml"
    )]
    OnlyLocal { model: types::ModelRef },
    #[error("there is no schema {name:?}; there are {known}")]
    NoSchema { name: String, known: String },
}

/// The exit code for an error of this kind.
pub(crate) fn exit_of(cause: &(dyn std::error::Error + 'static)) -> Option<Exit> {
    if let Some(setup) = cause.downcast_ref::<SetupError>() {
        return Some(match setup {
            SetupError::Untrusted { .. } => Exit::Refused,
            SetupError::Away { .. } => Exit::ModelAway,
            SetupError::NoRole { .. }
            | SetupError::NoSchema { .. }
            | SetupError::OnlyLocal { .. } => Exit::Usage,
        });
    }
    if cause.is::<runtime::llm::ModelProblem>() {
        return Some(Exit::Usage);
    }
    (cause.is::<ConfigError>() || cause.is::<TrustError>()).then_some(Exit::BadFile)
}

/// The folder with the person's own files.
pub(crate) fn folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("bosun"))
}

/// The files of all layers; those of a project only where it is named.
pub(crate) fn sources(project: Option<&Path>) -> Sources {
    let named = std::env::var_os("BOSUN_CONFIG").filter(|path| !path.is_empty());
    let user = named.map(PathBuf::from).or_else(|| Some(folder()?.join("config.toml")));
    Sources {
        system: Some(PathBuf::from(SYSTEM)),
        user,
        models: models::settings_file(),
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

/// Whether the project's own files take effect. Where they are not trusted yet, the person is asked, or the work is
/// refused.
pub(crate) fn takes_project(home: &Home, folder: &Path) -> anyhow::Result<bool> {
    if home.leaves_projects_out() {
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
        return Err(untrusted(&files).into());
    }
    tell(&files);
    if confirm("Trust these files? They can choose models, checks, prompts and rules. [y/N] ")? {
        store.trust(&files, RealClock.now())?;
        return Ok(true);
    }
    print::note("they are left out");
    Ok(false)
}

fn untrusted(files: &ProjectFiles) -> SetupError {
    let names: Vec<&str> = files.files.iter().map(|(name, _)| name.as_str()).collect();
    SetupError::Untrusted { folder: crate::home::shown(&files.folder), files: names.join(", ") }
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
