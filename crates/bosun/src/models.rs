//! Models available to this user: built-in providers, the user's configuration, and keys from environment variables.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use runtime::llm::{
    Dialect, Http, Recorder, Registry, Replayer, Settings, Transport, local_servers,
};
use types::{Millis, ModelRef};

use crate::config;
use crate::exit::CliError;

/// Time limit for connecting to a server.
const CONNECT: Millis = Millis::seconds(10);

/// A different server or dialect for a provider.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    pub(crate) base_url: Option<String>,
    pub(crate) dialect: Option<Dialect>,
}

/// The user's model settings, from all layers except a project's.
pub(crate) fn settings() -> anyhow::Result<Settings> {
    Ok(config::load(None, &[])?.settings.models())
}

/// Rejects anything but an HTTP(S) URL, and URLs with user info: requests carry the key, and addresses are recorded.
pub(crate) fn must_be_an_address(option: &'static str, url: &str) -> Result<(), CliError> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if authority.contains('@') {
        return Err(CliError::SecretInUrl);
    }
    let is_bad = |c: char| c.is_whitespace() || c.is_control();
    if authority.is_empty() || url.contains(is_bad) {
        return Err(CliError::NoUrl { option, url: types::one_line(url, 100) });
    }
    Ok(())
}

/// Time limit for a server on this machine to answer.
const SOON: Millis = Millis::seconds(2);

/// Rejects a model whose name, key or address is wrong, or whose server on this machine does not answer.
pub(crate) async fn check(registry: &Registry, model: &ModelRef) -> anyhow::Result<()> {
    if let Some(problem) = registry.problem(model) {
        return Err(problem.into());
    }
    let replayed = std::env::var_os("BOSUN_REPLAY").is_some_and(|value| !value.is_empty());
    let Some(address) = registry.local_address(model).filter(|_| !replayed) else { return Ok(()) };
    let answer = tokio::time::timeout(SOON.duration(), Http::new(SOON).ping(&address)).await;
    match answer {
        Ok(Err(fault)) => {
            let (model, cause) = (model.clone(), fault.what);
            Err(CliError::Away { model, address, cause }.into())
        }
        // A slow server still counts as running.
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

/// Error for when no model is available; suggests a model of a local server if one is running.
pub(crate) async fn none() -> anyhow::Error {
    let servers = local_servers(&Http::new(SOON)).await;
    match servers.into_iter().find_map(|server| server.models.into_iter().next()) {
        Some(model) => CliError::OnlyLocal { model }.into(),
        None => CliError::NoModel.into(),
    }
}

/// Registry of all usable models. `at` overrides the server of one provider.
pub(crate) fn registry(
    mut settings: Settings,
    at: Option<(&ModelRef, Elsewhere)>,
) -> anyhow::Result<Registry> {
    if let Some((model, elsewhere)) = at {
        let provider = settings.providers.entry(model.provider().to_owned()).or_default();
        provider.dialect = elsewhere.dialect.or(provider.dialect);
        if elsewhere.base_url.is_some() {
            provider.base_url = elsewhere.base_url;
            // The variables apply to the usual server, and a custom server may need no key.
            provider.base_url_env = vec![];
            provider.key_needed = Some(false);
        }
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    Ok(Registry::new(settings, variable, transport()?)?)
}

/// The network; for bug reports, the network with every exchange recorded, or a recording instead of it.
fn transport() -> anyhow::Result<Arc<dyn Transport>> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = folder("BOSUN_REPLAY") {
        return Ok(Arc::new(Replayer::open(&PathBuf::from(folder))?));
    }
    let http = Arc::new(Http::new(CONNECT));
    match folder("BOSUN_RECORD").map(PathBuf::from) {
        Some(folder) => {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("creating the folder {}", folder.display()))?;
            Ok(Arc::new(Recorder::new(http, folder)))
        }
        None => Ok(http),
    }
}
