//! User settings for models, in TOML:
//!
//! ```toml
//! default = "anthropic/claude-sonnet-4-5"
//! [providers.vllm]                      # a further compatible server, or changes to a known one
//! dialect = "chat"
//! base_url = "http://10.0.0.5:8000/v1"
//! key_env = ["VLLM_API_KEY"]            # the key itself is never written into a file
//! key_needed = false
//! [chains]                              # who is asked when one cannot answer
//! "anthropic/claude-sonnet-4-5" = ["openai/gpt-5", "ollama/qwen3"]
//! [models."vllm/qwen3-coder"]           # what is known about a model
//! window = 262144
//! [retry]
//! max_tries = 3
//! [deadlines]
//! idle_ms = 60000
//! [breaker]
//! failures = 5
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use types::ModelRef;

use crate::auth::AuthKind;
use crate::{BreakerPolicy, Deadlines, Dialect, Entry, Quirks, RetryPolicy};

const SHIPPED: &str = include_str!("providers.toml");

/// User settings; anything not set keeps its shipped value.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub default: Option<ModelRef>,
    pub providers: BTreeMap<String, ProviderSettings>,
    pub chains: BTreeMap<ModelRef, Vec<ModelRef>>,
    pub models: BTreeMap<String, Entry>,
    pub retry: RetryPolicy,
    pub deadlines: Deadlines,
    pub breaker: BreakerPolicy,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    pub dialect: Option<Dialect>,
    pub base_url: Option<String>,
    /// Variables that may hold the key; the first one that is set is used.
    pub key_env: Option<Vec<String>>,
    pub base_url_env: Vec<String>,
    /// Where users get a key.
    pub key_url: Option<String>,
    pub key_needed: Option<bool>,
    /// Authentication scheme, if not the dialect's default.
    pub auth: Option<AuthKind>,
    /// Region of a cloud provider; replaces `{region}` in the address.
    pub region: Option<String>,
    pub region_env: Vec<String>,
    /// Project of a cloud provider; replaces `{project}` in the address.
    pub project: Option<String>,
    pub project_env: Vec<String>,
    /// Azure OpenAI: the dated API version, for URLs per deployment.
    pub api_version: Option<String>,
    pub api_version_env: Vec<String>,
    pub headers: BTreeMap<String, String>,
    /// Headers whose values come from variables; unset ones are not sent.
    pub header_env: BTreeMap<String, String>,
    pub quirks: Option<Quirks>,
    /// Maximum number of concurrent calls.
    pub at_once: Option<usize>,
}

/// Settings that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("reading the settings for models")]
pub struct SettingsError(#[from] toml::de::Error);

impl Settings {
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        Ok(toml::from_str(text)?)
    }

    /// The shipped providers, overlaid with the user's own.
    pub(crate) fn all_providers(
        &self,
    ) -> Result<BTreeMap<String, ProviderSettings>, SettingsError> {
        let mut all: BTreeMap<String, ProviderSettings> = toml::from_str(SHIPPED)?;
        for (name, own) in &self.providers {
            let merged = all.remove(name).unwrap_or_default().overlaid(own.clone());
            all.insert(name.clone(), merged);
        }
        Ok(all)
    }
}

impl ProviderSettings {
    fn overlaid(mut self, own: Self) -> Self {
        // An address set by the user takes precedence; a variable must not silently redirect requests.
        if own.base_url.is_some() {
            self.base_url_env = own.base_url_env.clone();
            self.header_env.clear();
        }
        self.header_env.extend(own.header_env);
        self.headers.extend(own.headers);
        Self {
            dialect: own.dialect.or(self.dialect),
            base_url: own.base_url.or(self.base_url),
            key_env: own.key_env.or(self.key_env),
            key_url: own.key_url.or(self.key_url),
            auth: own.auth.or(self.auth),
            region: own.region.or(self.region),
            region_env: or(own.region_env, self.region_env),
            project: own.project.or(self.project),
            project_env: or(own.project_env, self.project_env),
            api_version: own.api_version.or(self.api_version),
            api_version_env: or(own.api_version_env, self.api_version_env),
            base_url_env: self.base_url_env,
            key_needed: own.key_needed.or(self.key_needed),
            headers: self.headers,
            header_env: self.header_env,
            quirks: own.quirks.or(self.quirks),
            at_once: own.at_once.or(self.at_once),
        }
    }
}

/// The first list, unless it is empty.
fn or(own: Vec<String>, other: Vec<String>) -> Vec<String> {
    if own.is_empty() { other } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_valid_and_unknown_keys_are_refused() {
        let source = include_str!("settings.rs");
        let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_start);
        let lines = lines.skip_while(|line| *line != "```toml").skip(1);
        let example = lines.take_while(|line| *line != "```").collect::<Vec<_>>().join("\n");
        let settings = Settings::parse(&example).expect("valid");
        assert_eq!(settings.chains.len(), 1);
        let all = settings.all_providers().expect("valid");
        assert_eq!(all["vllm"].dialect, Some(Dialect::Chat));
        assert!(all.len() > 10);
        assert!(Settings::parse("[retry]\nmax_trys = 1\n").is_err());
    }

    #[test]
    fn a_few_lines_change_a_known_provider_and_leave_the_rest() {
        let text = "[providers.anthropic]\nbase_url = \"http://127.0.0.1:1\"\n";
        let all = Settings::parse(text).expect("valid").all_providers().expect("valid");
        let anthropic = &all["anthropic"];
        assert_eq!(anthropic.base_url.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(anthropic.dialect, Some(Dialect::Messages));
        assert!(anthropic.base_url_env.is_empty());
    }
}
