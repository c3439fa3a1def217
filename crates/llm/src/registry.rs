//! Registry of all models, by name. It is itself a model: it looks up the model named in the request, and
//! wraps the provider in retries, a breaker and the failover chain. The caller supplies the variables;
//! the registry reads none itself.

mod known;
mod problem;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use types::{Fault, ModelRef, ModelReply, ModelRequest, StreamItem};

use crate::faults::Cause;
use crate::http::is_here;
use crate::settings::{Settings, SettingsError};
use crate::{
    Breaker, Catalogue, CatalogueError, Delivery, Dialect, Failover, Guarded, Model, Pace,
    Provider, ProviderModel, RequestCache, Retrying, Spread, Transport, gather,
};
use known::{AT_ONCE, Known, known};

pub use problem::ModelProblem;

#[derive(Debug, Clone)]
pub struct Registry {
    providers: BTreeMap<String, Known>,
    settings: Settings,
    catalogue: Arc<Catalogue>,
    transport: Arc<dyn Transport>,
    breakers: Arc<Mutex<BTreeMap<ModelRef, Arc<Breaker>>>>,
    delivery: Delivery,
    spread: Spread,
    /// Layers around every model, the outermost first.
    layers: Vec<Arc<dyn Layer>>,
}

/// A program's own wrapper around every model: it may inspect or change requests and items, or answer itself.
pub trait Layer: Send + Sync + std::fmt::Debug {
    /// Returns the wrapped model, as callers see it.
    fn around(&self, inner: Arc<dyn Model>) -> Arc<dyn Model>;
}

/// A provider as shown to users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderView {
    pub name: String,
    pub dialect: Dialect,
    pub base_url: String,
    pub key: KeyState,
    /// Variables that may hold the key.
    pub key_env: Vec<String>,
    /// Where users get a key.
    pub key_url: Option<String>,
    /// Variables that must be set before the provider has an address.
    pub address_env: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    There,
    Missing,
    NotNeeded,
}

/// Error creating a registry.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("provider {0} needs a dialect and a base_url")]
    Incomplete(String),
}

impl Registry {
    /// Builds a registry from the shipped providers and those of the settings, with keys and addresses from variables.
    pub fn new(
        settings: Settings,
        variable: impl Fn(&str) -> Option<String>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, RegistryError> {
        let catalogue = Arc::new(Catalogue::shipped()?.overlaid(settings.models.clone()));
        let mut providers = BTreeMap::new();
        for (name, provider) in settings.all_providers()? {
            let known = known(&name, provider, &variable)
                .ok_or_else(|| RegistryError::Incomplete(name.clone()))?;
            providers.insert(name, known);
        }
        let breakers = Arc::default();
        let (delivery, spread) = (Delivery::Streamed, Spread::random());
        let layers = vec![];
        Ok(Self { providers, settings, catalogue, transport, breakers, delivery, spread, layers })
    }

    /// Adds a layer inside the existing ones: the first layer sees a request first and its items last.
    #[must_use]
    pub fn with_layer(mut self, layer: Arc<dyn Layer>) -> Self {
        self.layers.push(layer);
        self
    }

    fn layered(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        self.layers.iter().rev().fold(model, |inner, layer| layer.around(inner))
    }

    /// Requests every answer in one piece instead of streamed.
    #[must_use]
    pub fn in_one_piece(mut self) -> Self {
        self.delivery = Delivery::Whole;
        self
    }

    /// Adds a provider that is in no file, or replaces one.
    pub fn add(&mut self, provider: Provider) {
        let key_needed = false;
        let pace = Arc::new(Pace::new(AT_ONCE));
        let name = provider.name.clone();
        let (key_env, key_url, address_env) = (vec![], None, vec![]);
        let provider = Arc::new(provider);
        let from_variables = vec![];
        let known =
            Known { provider, pace, key_env, key_url, key_needed, address_env, from_variables };
        self.providers.insert(name, known);
    }

    /// Returns a copy with a provider at another address, where no key is needed; `None` if there is no such provider.
    /// Except for the key, variables for its usual server do not apply there.
    #[must_use]
    pub fn served_at(&self, provider: &str, base_url: &str) -> Option<Self> {
        let mut copy = Self { breakers: Arc::default(), ..self.clone() };
        let known = copy.providers.get_mut(provider)?;
        *known = known.served_at(base_url);
        Some(copy)
    }

    /// Model to use if none is named: the configured default, else the first with a key.
    #[must_use]
    pub fn default_model(&self) -> Option<ModelRef> {
        let usual = [
            ("anthropic", "anthropic/claude-sonnet-5-5"),
            ("openai", "openai/gpt-5"),
            ("gemini", "gemini/gemini-2.5-pro"),
        ];
        let has_key = |name: &str| self.providers.get(name).is_some_and(Known::has_key);
        let found = usual.iter().find(|(provider, _)| has_key(provider));
        self.settings.default.clone().or_else(|| found.and_then(|(_, model)| model.parse().ok()))
    }

    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// All providers, sorted by name.
    pub fn providers(&self) -> impl Iterator<Item = ProviderView> {
        self.providers.iter().map(|(name, known)| ProviderView {
            name: name.clone(),
            dialect: known.provider.dialect,
            base_url: known.provider.base_url.clone(),
            key: match (known.has_key(), known.key_needed) {
                (true, _) => KeyState::There,
                (false, true) => KeyState::Missing,
                (false, false) => KeyState::NotNeeded,
            },
            key_env: known.key_env.clone(),
            key_url: known.key_url.clone(),
            address_env: known.address_env.clone(),
        })
    }

    /// Problem with a model's name, key or address, as far as it can be found without asking the model.
    #[must_use]
    pub fn problem(&self, model: &ModelRef) -> Option<ModelProblem> {
        problem::askable(&self.providers, model)
            .err()
            .or_else(|| problem::misspelt(&self.catalogue, model))
    }

    /// Address of a model, or of one behind it in its chain, that is not on this machine.
    #[must_use]
    pub fn remote_address(&self, model: &ModelRef) -> Option<String> {
        let chain = self.settings.chains.get(model).into_iter().flatten();
        let providers = std::iter::once(model).chain(chain).map(ModelRef::provider);
        let mut addresses = providers
            .filter_map(|name| self.providers.get(name))
            .map(|known| known.provider.base_url.as_str());
        addresses.find(|address| !is_here(address)).map(str::to_owned)
    }

    /// Address of a model's server, if it is on this machine, needs no key, is of a local kind or defined in the
    /// settings, and has no failover chain.
    #[must_use]
    pub fn local_address(&self, model: &ModelRef) -> Option<String> {
        const LOCAL: [&str; 5] = ["ollama", "local", "llamacpp", "lmstudio", "vllm"];
        let name = model.provider();
        let described = self.settings.providers.get(name).is_some_and(|own| own.dialect.is_some());
        let known = self.providers.get(name).filter(|known| !known.key_needed)?;
        if !described && !LOCAL.contains(&name) {
            return None;
        }
        let address = &known.provider.base_url;
        let alone = !self.settings.chains.contains_key(model);
        (alone && is_here(address)).then(|| address.clone())
    }

    /// A model with all wrappers configured in the settings.
    pub fn model(&self, name: &ModelRef) -> Result<Arc<dyn Model>, Fault> {
        Ok(self.layered(self.chain(name, self.settings.retry.whole_replies)?))
    }

    /// A model that sends each request once, for callers with their own retry rules. Only if it has a failover chain is
    /// each link retried as configured before the next one is asked.
    pub fn once(&self, name: &ModelRef) -> Result<Arc<dyn Model>, Fault> {
        match self.settings.chains.contains_key(name) {
            true => self.model(name),
            false => Ok(self.layered(Arc::new(self.guarded(name)?))),
        }
    }

    /// Returns the whole reply. Its items are not passed on, so a reply that broke off is retried as well; `on_item` sees
    /// the decisions along the way.
    pub async fn complete(
        &self,
        request: ModelRequest,
        on_item: impl FnMut(&StreamItem),
    ) -> Result<ModelReply, Fault> {
        let model = self.layered(self.chain(&request.model, true)?);
        gather(model.stream(Arc::new(request)), on_item).await
    }

    fn chain(&self, name: &ModelRef, whole_replies: bool) -> Result<Arc<dyn Model>, Fault> {
        let first = self.retried(name, whole_replies)?;
        let Some(chain) = self.settings.chains.get(name) else { return Ok(first) };
        // A link without a key cannot answer, and must not block the others.
        let next = chain
            .iter()
            .filter_map(|next| Some((next.clone(), self.retried(next, whole_replies).ok()?)));
        Ok(Arc::new(Failover { first, next: next.collect() }))
    }

    fn retried(&self, name: &ModelRef, whole_replies: bool) -> Result<Arc<dyn Model>, Fault> {
        let inner = Arc::new(self.guarded(name)?);
        let mut policy = self.settings.retry;
        policy.whole_replies = whole_replies;
        Ok(Arc::new(Retrying { inner, policy, spread: self.spread }))
    }

    /// One request, through the breaker shared by all callers of this model.
    fn guarded(&self, name: &ModelRef) -> Result<Guarded, Fault> {
        let known = problem::askable(&self.providers, name).map_err(|problem| {
            let cause = match &problem {
                ModelProblem::NoProvider { .. } => Cause::NotFound,
                _ => Cause::Authentication,
            };
            cause.fault(problem.to_string())
        })?;
        let provider = ProviderModel {
            provider: known.provider.clone(),
            transport: self.transport.clone(),
            deadlines: self.settings.deadlines,
            catalogue: self.catalogue.clone(),
            delivery: self.delivery,
            pace: known.pace.clone(),
            before: RequestCache::default(),
        };
        let breaker = {
            let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Breaker::new(self.settings.breaker));
            breakers.entry(name.clone()).or_insert_with(new).clone()
        };
        Ok(Guarded { inner: Arc::new(provider), breaker })
    }
}

impl Model for Registry {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        match self.model(&request.model) {
            Ok(model) => model.stream(request),
            Err(fault) => stream::iter([StreamItem::Failed(fault)]).boxed(),
        }
    }
}

#[cfg(test)]
mod cloud_tests;
#[cfg(test)]
mod tests;
