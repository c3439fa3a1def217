//! The connection to a provider, and the URLs of calls, including those of clouds that serve other vendors' models. Azure OpenAI has URLs per deployment;
//! Bedrock and Vertex AI name the model in the URL instead of the body.

use std::collections::BTreeMap;

use bytes::Bytes;
use secrecy::SecretString;
use serde_json::Value;

use crate::auth::aws::encoded;
use crate::transport::Exchange;
use crate::{Auth, Dialect, Quirks};

/// Values of `anthropic_version` in the body of a Messages request, per cloud.
const ON_BEDROCK: &str = "bedrock-2023-05-31";
const ON_VERTEX: &str = "vertex-2023-10-16";

/// Connection settings of a provider.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The part before the slash in a model's name.
    pub name: String,
    pub dialect: Dialect,
    pub base_url: String,
    pub key: Option<SecretString>,
    pub headers: BTreeMap<String, String>,
    pub quirks: Quirks,
    pub auth: Auth,
    /// Azure OpenAI: the dated API version, for URLs per deployment.
    pub api_version: Option<String>,
}

impl Provider {
    /// Sets the URL of a request and adapts its body to the cloud.
    pub(crate) fn addressed(&self, model: &str, path: &str, mut exchange: Exchange) -> Exchange {
        let base = self.base_url.trim().trim_end_matches('/');
        exchange.url = match (&self.auth, self.dialect) {
            (Auth::ApiKey, _) => azure(base, self.api_version.as_deref(), model, path),
            (Auth::Aws(_), Dialect::Messages) => {
                let streamed = named_in_address(&mut exchange, ON_BEDROCK, true);
                let verb = if streamed { "invoke-with-response-stream" } else { "invoke" };
                format!("{base}/model/{}/{verb}", encoded(model))
            }
            (Auth::Google(_), Dialect::Messages) => {
                let streamed = named_in_address(&mut exchange, ON_VERTEX, false);
                let verb = if streamed { "streamRawPredict" } else { "rawPredict" };
                format!("{base}/publishers/anthropic/models/{}:{verb}", encoded(model))
            }
            (Auth::Google(_), Dialect::Gemini) => {
                format!("{base}/publishers/google{}", path.trim_start_matches("/v1beta"))
            }
            (_, dialect) => endpoint(dialect, base, path),
        };
        exchange
    }
}

/// With a dated API version, URLs are per deployment; without one, those of the v1 API.
fn azure(base: &str, version: Option<&str>, deployment: &str, path: &str) -> String {
    let base = match base.split_once("/openai") {
        Some((before, _)) => before,
        None => base,
    };
    match version {
        Some(version) => {
            let deployment = encoded(deployment);
            format!("{base}/openai/deployments/{deployment}{path}?api-version={}", encoded(version))
        }
        None => format!("{base}/openai/v1{path}"),
    }
}

/// Removes the model from a Messages body and adds the cloud's version. Beta features, elsewhere a header, move into
/// the body. Returns whether the answer is to be streamed.
fn named_in_address(exchange: &mut Exchange, version: &str, by_address: bool) -> bool {
    let Ok(Value::Object(mut body)) = serde_json::from_slice(&exchange.body) else { return false };
    let streamed = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    body.remove("model");
    if by_address {
        body.remove("stream");
    }
    body.insert("anthropic_version".to_owned(), version.into());
    let betas: Vec<Value> = exchange
        .headers
        .iter()
        .filter(|(name, _)| name == "anthropic-beta")
        .flat_map(|(_, value)| value.split(',').map(Value::from).collect::<Vec<_>>())
        .collect();
    if !betas.is_empty() {
        body.insert("anthropic_beta".to_owned(), betas.into());
    }
    exchange.headers.retain(|(name, _)| !name.starts_with("anthropic-"));
    exchange.body = Bytes::from(Value::Object(body).to_string());
    streamed
}

/// URL of a call. The base URL may be given with or without the API version.
pub(crate) fn endpoint(dialect: Dialect, base: &str, path: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
    let bare = base.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    match dialect {
        Dialect::Messages => format!("{}{path}", base.trim_end_matches("/v1")),
        Dialect::Ollama => {
            format!("{}{path}", base.trim_end_matches("/v1").trim_end_matches("/api"))
        }
        Dialect::Gemini if base.ends_with("/v1beta") || base.ends_with("/v1") => {
            format!("{base}{}", path.trim_start_matches("/v1beta"))
        }
        Dialect::Chat | Dialect::Responses if bare => format!("{base}/v1{path}"),
        Dialect::Gemini | Dialect::Chat | Dialect::Responses => format!("{base}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azure_has_addresses_by_deployment_or_by_version() {
        for (base, version, url) in [
            ("https://r.openai.azure.com", None, "https://r.openai.azure.com/openai/v1/responses"),
            (
                "https://r.openai.azure.com/openai/v1",
                None,
                "https://r.openai.azure.com/openai/v1/responses",
            ),
            (
                "https://r.openai.azure.com",
                Some("2024-10-21"),
                "https://r.openai.azure.com/openai/deployments/my%20gpt/responses?api-version=2024-10-21",
            ),
        ] {
            assert_eq!(azure(base, version, "my gpt", "/responses"), url);
        }
    }
}
