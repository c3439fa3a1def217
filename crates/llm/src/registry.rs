//! All models that can be asked, by name. It is itself a model: it looks at the name in the request, and
//! puts retries, a breaker and the chain of fail-overs around the provider. Variables are read by whoever
//! makes it; it reads none itself.

mod known;
mod problem;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use types::{Fault, ModelRef, ModelReply, ModelRequest, StreamItem};

use crate::faults::Cause;
use crate::settings::{Settings, SettingsError};
use crate::{
    Breaker, Catalogue, CatalogueError, Delivery, Dialect, Failover, Guarded, Model, Pace,
    Provider, ProviderModel, RequestCache, Retrying, Spread, Transport, gather,
};
use known::{AT_ONCE, Known, known};

pub use problem::ModelProblem;

#[derive(Debug)]
pub struct Registry {
    providers: BTreeMap<String, Known>,
    settings: Settings,
    catalogue: Arc<Catalogue>,
    transport: Arc<dyn Transport>,
    breakers: Mutex<BTreeMap<ModelRef, Arc<Breaker>>>,
    delivery: Delivery,
    spread: Spread,
    /// What a program puts around every model, the outermost first.
    layers: Vec<Arc<dyn Layer>>,
}

/// Something of a program's own around every model: it may look at requests and items, change them, or answer itself.
pub trait Layer: Send + Sync + std::fmt::Debug {
    /// The model as everybody else is to see it.
    fn around(&self, inner: Arc<dyn Model>) -> Arc<dyn Model>;
}

/// A provider as a person is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderView {
    pub name: String,
    pub dialect: Dialect,
    pub base_url: String,
    pub key: KeyState,
    /// The variables in which a key is looked for.
    pub key_env: Vec<String>,
    /// Where a person gets a key.
    pub key_url: Option<String>,
    /// The variables of which some have to be set before there is an address.
    pub address_env: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    There,
    Missing,
    NotNeeded,
}

/// A registry that cannot be made.
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
    /// The providers that ship and those of the settings, with keys and addresses from the variables.
    pub fn new(
        settings: Settings,
        variable: impl Fn(&str) -> Option<String>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, RegistryError> {
        let own = Catalogue::from_entries(settings.models.clone());
        let catalogue = Arc::new(Catalogue::shipped()?.overlaid(own));
        let mut providers = BTreeMap::new();
        for (name, provider) in settings.all_providers()? {
            let known = known(&name, provider, &variable)
                .ok_or_else(|| RegistryError::Incomplete(name.clone()))?;
            providers.insert(name, known);
        }
        let breakers = Mutex::new(BTreeMap::new());
        let (delivery, spread) = (Delivery::Streamed, Spread::random());
        let layers = vec![];
        Ok(Self { providers, settings, catalogue, transport, breakers, delivery, spread, layers })
    }

    /// Puts a layer around every model, inside of those that are there already: the first is asked first and hears last.
    #[must_use]
    pub fn with_layer(mut self, layer: Arc<dyn Layer>) -> Self {
        self.layers.push(layer);
        self
    }

    fn layered(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        self.layers.iter().rev().fold(model, |inner, layer| layer.around(inner))
    }

    /// The same, but every answer is asked for in one piece.
    #[must_use]
    pub fn in_one_piece(mut self) -> Self {
        self.delivery = Delivery::Whole;
        self
    }

    /// Adds a provider that is in no file, or puts it in the place of one.
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

    /// The same with a provider at another address, where no key is needed; `None` if there is no such provider. What the
    /// variables say about its usual server, except the key, does not hold there.
    #[must_use]
    pub fn served_at(&self, provider: &str, base_url: &str) -> Option<Self> {
        let mut providers = self.providers.clone();
        let known = providers.get_mut(provider)?;
        *known = known.served_at(base_url);
        Some(Self {
            providers,
            settings: self.settings.clone(),
            catalogue: self.catalogue.clone(),
            transport: self.transport.clone(),
            breakers: Mutex::default(),
            delivery: self.delivery,
            spread: self.spread,
            layers: self.layers.clone(),
        })
    }

    /// The model to ask when nobody names one: the one that is set, else the first for which there is a key.
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

    /// All providers, in order of their names.
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

    /// What is wrong with a model's name, its key or its address, as far as that shows before it is asked.
    #[must_use]
    pub fn problem(&self, model: &ModelRef) -> Option<ModelProblem> {
        problem::cannot_ask(&self.providers, model)
            .or_else(|| problem::misspelt(&self.catalogue, model))
    }

    /// The address at which a model, or one that stands behind it in a chain, is asked and that is not on this machine.
    #[must_use]
    pub fn remote_address(&self, model: &ModelRef) -> Option<String> {
        let chain = self.settings.chains.get(model).into_iter().flatten();
        let providers = std::iter::once(model).chain(chain).map(ModelRef::provider);
        let mut addresses = providers
            .filter_map(|name| self.providers.get(name))
            .map(|known| known.provider.base_url.as_str());
        addresses.find(|address| !is_on_this_machine(address)).map(str::to_owned)
    }

    /// The address of a model's server, if it is of a kind that runs on this machine or one that the settings describe, and
    /// nobody else answers for it.
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
        (alone && is_on_this_machine(address)).then(|| address.clone())
    }

    /// A model with everything around it that the settings say.
    pub fn model(&self, name: &ModelRef) -> Result<Arc<dyn Model>, Fault> {
        Ok(self.layered(self.chain(name, self.settings.retry.whole_replies)?))
    }

    /// A model of which every request is one request: for callers that ask again by rules of their own. Only where others
    /// stand behind it in a chain is each link tried as often as the settings say before the next one is asked.
    pub fn once(&self, name: &ModelRef) -> Result<Arc<dyn Model>, Fault> {
        match self.settings.chains.contains_key(name) {
            true => self.model(name),
            false => Ok(self.layered(Arc::new(self.guarded(name)?))),
        }
    }

    /// The whole reply. Nobody watches it come in, so a reply that broke off is asked for again too.
    pub async fn complete(&self, request: ModelRequest) -> Result<ModelReply, Fault> {
        self.complete_watched(request, |_| {}).await
    }

    /// The same; `on_item` sees what is decided on the way.
    pub async fn complete_watched(
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
        // A link without a key cannot answer, and need not keep the others from it.
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

    /// One request, past the breaker that all who ask this model share.
    fn guarded(&self, name: &ModelRef) -> Result<Guarded, Fault> {
        if let Some(problem) = problem::cannot_ask(&self.providers, name) {
            let cause = match &problem {
                ModelProblem::NoProvider { .. } => Cause::NotFound,
                _ => Cause::Authentication,
            };
            return Err(cause.fault(problem.to_string()));
        }
        let none = || Cause::NotFound.fault(format!("there is no provider for {name}"));
        let known = self.providers.get(name.provider()).ok_or_else(none)?;
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

/// Whether an address leads to a server on this machine.
fn is_on_this_machine(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let named = host.eq_ignore_ascii_case("localhost");
    named || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod cloud_tests;
#[cfg(test)]
mod tests;
