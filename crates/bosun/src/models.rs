//! The models of this person: providers that ship, `models.toml` in the configuration folder, keys from variables.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use runtime::llm::{Dialect, Http, Recorder, Registry, Replayer, Settings, Transport};
use types::{Millis, ModelRef};

use crate::exit::CliError;

/// How long a server may take to pick up.
const CONNECT: Millis = Millis::seconds(10);

/// Another server than the usual one for a provider.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    pub(crate) base_url: Option<String>,
    pub(crate) dialect: Option<Dialect>,
}

/// The person's settings for models, if there are any.
pub(crate) fn settings() -> anyhow::Result<Settings> {
    let Some(path) = settings_file() else { return Ok(Settings::default()) };
    match std::fs::read_to_string(&path) {
        Ok(text) => Settings::parse(&text).map_err(|error| {
            CliError::Settings { path: path.display().to_string(), source: error }.into()
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Settings::default()),
        Err(source) => {
            Err(CliError::Unreadable { path: path.display().to_string(), source }.into())
        }
    }
}

/// Where the person's settings for models are.
pub(crate) fn settings_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("BOSUN_MODELS") {
        return Some(path.into());
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("bosun/models.toml"))
}

/// All models that can be asked from here.
pub(crate) fn registry(
    mut settings: Settings,
    at: Option<(&ModelRef, Elsewhere)>,
) -> anyhow::Result<Registry> {
    if let Some((model, elsewhere)) = at {
        let provider = settings.providers.entry(model.provider().to_owned()).or_default();
        provider.dialect = elsewhere.dialect.or(provider.dialect);
        if elsewhere.base_url.is_some() {
            provider.base_url = elsewhere.base_url;
            // What the variables say is for the usual server, and a server of one's own may need no key.
            provider.base_url_env = vec![];
            provider.key_needed = Some(false);
        }
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Ok(Registry::new(settings, variable, transport()?)?)
}

/// The network; or, for a bug report, the network with a tape running, or a tape instead of it.
fn transport() -> anyhow::Result<Arc<dyn Transport>> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = folder("BOSUN_REPLAY") {
        return Ok(Arc::new(Replayer::open(&PathBuf::from(folder))?));
    }
    let http = Arc::new(Http::new(CONNECT));
    match folder("BOSUN_RECORD").map(PathBuf::from) {
        Some(folder) => {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("making the folder {}", folder.display()))?;
            Ok(Arc::new(Recorder::new(http, folder)))
        }
        None => Ok(http),
    }
}
