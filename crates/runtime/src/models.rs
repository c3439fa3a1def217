//! Resolves model names: models registered by the program, those of a registry, and scripts, which are stored in the
//! journal by hash so that a run can be resumed with the same replies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use llm::{Model, Script, ScriptedModel};
use store::Journal;
use types::{Digest, Fault, FaultClass, ModelRef, ModelServer, PriceCap, RoleId};

/// The provider name of scripts.
pub const SCRIPT: &str = "script";

/// The available models: registered ones, by provider, and those of a registry.
#[derive(Debug, Clone, Default)]
pub struct Models {
    providers: BTreeMap<String, Arc<dyn Model>>,
    registry: Option<Arc<llm::Registry>>,
    /// Copies of the registry with one provider at another address, for runs and sessions that use that server.
    elsewhere: Arc<Mutex<BTreeMap<ModelServer, Arc<llm::Registry>>>>,
}

impl Models {
    /// Registers a model for all names of a provider.
    #[must_use]
    pub fn with(mut self, provider: &str, model: Arc<dyn Model>) -> Self {
        self.providers.insert(provider.to_owned(), model);
        self
    }

    /// Adds every provider of this registry.
    #[must_use]
    pub fn with_registry(mut self, registry: Arc<llm::Registry>) -> Self {
        self.registry = Some(registry);
        self
    }

    /// The address of a remote model; `None` for scripts and registered models.
    pub(crate) fn remote_address(
        &self,
        model: &ModelRef,
        server: Option<&ModelServer>,
    ) -> Option<String> {
        if model.provider() == SCRIPT || self.providers.contains_key(model.provider()) {
            return None;
        }
        self.registry_for(model, server)?.remote_address(model)
    }

    /// The registry for a model: the usual one, unless this server serves it.
    fn registry_for(
        &self,
        model: &ModelRef,
        server: Option<&ModelServer>,
    ) -> Option<Arc<llm::Registry>> {
        let usual = self.registry.as_ref()?;
        let Some(server) = server.filter(|server| server.serves(model)) else {
            return Some(usual.clone());
        };
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = elsewhere.get(server) {
            return Some(known.clone());
        }
        let Some(made) = usual.served_at(&server.provider, &server.base_url).map(Arc::new) else {
            // The registry itself reports the missing provider.
            return Some(usual.clone());
        };
        elsewhere.insert(server.clone(), made.clone());
        Some(made)
    }

    /// The context window of a model, if known.
    pub(crate) fn window(&self, model: &ModelRef) -> Option<u64> {
        self.registry.as_ref()?.catalogue().find(model)?.window
    }

    /// The longest reply of a model, if known.
    pub(crate) fn max_output(&self, model: &ModelRef) -> Option<u64> {
        self.registry.as_ref()?.catalogue().find(model)?.max_output
    }

    /// The highest token price of a model, if known without reading the journal.
    pub(crate) fn known_price(&self, model: &ModelRef) -> Option<PriceCap> {
        self.registry.as_ref()?.catalogue().dearest(model)
    }

    /// The highest token price of a model, if known; a script has its own.
    pub(crate) async fn price(&self, model: &ModelRef, journal: &dyn Journal) -> Option<PriceCap> {
        if self.is_script(model) {
            return Some(script(model, journal).await?.price_cap());
        }
        self.known_price(model)
    }

    /// Whether a model can play a role: a script plays only those that it has.
    pub(crate) async fn plays(
        &self,
        model: &ModelRef,
        role: &RoleId,
        journal: &dyn Journal,
    ) -> bool {
        if !self.is_script(model) {
            return true;
        }
        script(model, journal).await.is_some_and(|script| script.plays(role))
    }

    fn is_script(&self, model: &ModelRef) -> bool {
        model.provider() == SCRIPT && !self.providers.contains_key(SCRIPT)
    }

    pub(crate) async fn find(
        &self,
        model: &ModelRef,
        server: Option<&ModelServer>,
        journal: &dyn Journal,
    ) -> Result<Arc<dyn Model>, Fault> {
        if let Some(found) = self.providers.get(model.provider()) {
            return Ok(found.clone());
        }
        let remote = model.provider() != SCRIPT;
        if let Some(registry) = self.registry_for(model, server).filter(|_| remote) {
            // A session has its own, recorded retries.
            return registry.once(model);
        }
        if remote {
            let what = format!("no provider is set up for the model {model}");
            return Err(Fault::new(FaultClass::Resource, "model.no_provider", what));
        }
        let wrong = |what: String| Fault::new(FaultClass::Resource, "model.no_script", what);
        let digest: Digest =
            model.name().parse().map_err(|error| wrong(format!("finding {model}: {error}")))?;
        let bytes = journal
            .blob(&digest)
            .await
            .map_err(|error| wrong(format!("finding {model}: {error}")))?;
        let script = Script::parse(&String::from_utf8_lossy(&bytes))
            .map_err(|error| wrong(format!("reading {model}: {error}")))?;
        Ok(Arc::new(ScriptedModel::new(Arc::new(script))))
    }
}

/// A stored script, if it can be read.
async fn script(model: &ModelRef, journal: &dyn Journal) -> Option<Script> {
    let bytes = journal.blob(&model.name().parse().ok()?).await.ok()?;
    Script::parse(&String::from_utf8_lossy(&bytes)).ok()
}

/// Why a script was not stored.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error(transparent)]
    Script(#[from] llm::ScriptError),
    #[error(transparent)]
    Journal(#[from] store::JournalError),
}
