//! Builds a provider from its settings and variables: its address, its key, and what is missing of them.

use std::sync::Arc;

use secrecy::SecretString;
use secrecy::zeroize::Zeroize as _;

use crate::settings::ProviderSettings;
use crate::{Auth, Pace, Provider};

/// Default limit on concurrent calls to one provider.
pub(super) const AT_ONCE: usize = 32;

/// A provider, with the facts shown to users.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) provider: Arc<Provider>,
    pub(super) pace: Arc<Pace>,
    pub(super) key_env: Vec<String>,
    pub(super) key_url: Option<String>,
    pub(super) key_needed: bool,
    /// Variables that must be set before there is an address.
    pub(super) address_env: Vec<String>,
    /// Names of headers whose values come from variables.
    pub(super) from_variables: Vec<String>,
}

impl Known {
    pub(super) fn has_key(&self) -> bool {
        self.provider.key.is_some() || self.provider.auth.has_credentials()
    }

    /// A copy at another address.
    pub(super) fn served_at(&self, base_url: &str) -> Self {
        let mut provider = (*self.provider).clone();
        provider.base_url = base_url.to_owned();
        provider.headers.retain(|name, _| !self.from_variables.contains(name));
        Self {
            provider: Arc::new(provider),
            key_needed: false,
            address_env: vec![],
            from_variables: vec![],
            ..self.clone()
        }
    }
}

/// Builds a provider from its settings; `None` if they are incomplete.
pub(super) fn known(
    name: &str,
    settings: ProviderSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Known> {
    let first = |names: &[String]| {
        let values = names.iter().filter_map(|name| variable(name));
        values.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
    };
    let key_env = settings.key_env.unwrap_or_default();
    let mut headers = settings.headers;
    let mut from_variables = vec![];
    for (header, name) in settings.header_env {
        if let Some(value) = first(&[name])
            && !headers.contains_key(&header)
        {
            from_variables.push(header.clone());
            headers.insert(header, value);
        }
    }
    let region = first(&settings.region_env).or(settings.region);
    let project = first(&settings.project_env).or(settings.project);
    let own = first(&settings.base_url_env).or(settings.base_url.clone());
    let (base_url, address_env) = match own {
        Some(template) => {
            let regions = (region.as_deref(), settings.region_env.as_slice());
            let projects = (project.as_deref(), settings.project_env.as_slice());
            filled(&template, regions, projects)
        }
        // Only a provider whose address can come from a variable may lack one.
        None if settings.base_url_env.is_empty() => return None,
        None => (String::new(), settings.base_url_env.iter().take(1).cloned().collect()),
    };
    let provider = Provider {
        name: name.to_owned(),
        dialect: settings.dialect?,
        base_url,
        auth: Auth::from_variables(settings.auth, region.as_deref(), &variable),
        api_version: first(&settings.api_version_env).or(settings.api_version),
        key: key_env.iter().filter_map(|name| variable(name)).find_map(key),
        headers,
        quirks: settings.quirks.unwrap_or_default(),
    };
    let pace = Arc::new(Pace::new(settings.at_once.unwrap_or(AT_ONCE)));
    let key_needed = settings.key_needed.unwrap_or(!key_env.is_empty());
    let (provider, key_url) = (Arc::new(provider), settings.key_url);
    Some(Known { provider, pace, key_env, key_url, key_needed, address_env, from_variables })
}

/// Fills region and project into an address; also returns the variables that are missing for that.
fn filled(
    template: &str,
    (region, region_env): (Option<&str>, &[String]),
    (project, project_env): (Option<&str>, &[String]),
) -> (String, Vec<String>) {
    let mut missing = vec![];
    let mut text = template.to_owned();
    for (name, value, variables) in
        [("{region}", region, region_env), ("{project}", project, project_env)]
    {
        match value {
            _ if !text.contains(name) => {}
            Some(value) => text = text.replace(name, value),
            None => missing.extend(variables.first().cloned()),
        }
    }
    // The global endpoint has no region in its host name.
    (text.replace("//global-aiplatform.", "//aiplatform."), missing)
}

/// Trims a key and wipes the original from memory.
fn key(mut value: String) -> Option<SecretString> {
    let trimmed = value.trim();
    let key = (!trimmed.is_empty()).then(|| SecretString::from(trimmed));
    value.zeroize();
    key
}
