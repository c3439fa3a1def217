//! Request authentication: a key in a header, a signature (AWS), or a token fetched beforehand (Google). Credentials
//! come from variables supplied by the caller; this module does not read the environment.

pub(crate) mod aws;
pub(crate) mod google;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use types::{Fault, Timestamp};

use crate::Dialect;
use crate::transport::{Exchange, Transport};

/// Authentication scheme of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `api-key: KEY`, used by Azure.
    ApiKey,
    /// A signature over the request, or a Bedrock API key as bearer token.
    Aws,
    /// A Google Cloud access token.
    Google,
}

/// The credentials of a provider.
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// The key, in the dialect's usual header.
    #[default]
    Usual,
    Bearer,
    ApiKey,
    Aws(aws::Signer),
    Google(std::sync::Arc<google::Tokens>),
}

impl Auth {
    /// Adds the authentication headers to a request.
    pub(crate) async fn authorize(
        &self,
        exchange: &mut Exchange,
        (dialect, key): (Dialect, Option<&SecretString>),
        transport: &dyn Transport,
        now: Timestamp,
    ) -> Result<(), Fault> {
        match (self, key) {
            (Self::Aws(signer), None) => signer.sign(exchange, now),
            (Self::Google(tokens), None) => {
                let token = tokens.token(transport, now).await?;
                exchange.secrets.push(("authorization", bearer(&token)));
            }
            (Self::ApiKey, Some(key)) => exchange.secrets.push(("api-key", key.clone())),
            (Self::Usual, Some(key)) => exchange.secrets.push(match dialect {
                Dialect::Messages => ("x-api-key", key.clone()),
                Dialect::Gemini => ("x-goog-api-key", key.clone()),
                Dialect::Responses | Dialect::Chat | Dialect::Ollama => {
                    ("authorization", bearer(key))
                }
            }),
            (_, Some(key)) => exchange.secrets.push(("authorization", bearer(key))),
            (Self::Usual | Self::Bearer | Self::ApiKey, None) => {}
        }
        Ok(())
    }

    /// Reads the credentials of a kind from variables.
    pub(crate) fn from_variables(
        kind: Option<AuthKind>,
        region: Option<&str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        match kind {
            None => Self::Usual,
            Some(AuthKind::Bearer) => Self::Bearer,
            Some(AuthKind::ApiKey) => Self::ApiKey,
            Some(AuthKind::Aws) => Self::Aws(aws::Signer {
                access_key: set("AWS_ACCESS_KEY_ID").unwrap_or_default(),
                secret_key: set("AWS_SECRET_ACCESS_KEY").unwrap_or_default().into(),
                session_token: set("AWS_SESSION_TOKEN").map(SecretString::from),
                region: region.unwrap_or_default().to_owned(),
                service: "bedrock",
            }),
            Some(AuthKind::Google) => {
                let file = set("GOOGLE_APPLICATION_CREDENTIALS").or_else(|| {
                    let home = set("HOME")?;
                    let usual = ".config/gcloud/application_default_credentials.json";
                    Some(format!("{home}/{usual}"))
                });
                Self::Google(std::sync::Arc::new(google::Tokens::at(file)))
            }
        }
    }

    /// Whether there are credentials other than a key.
    pub(crate) fn has_credentials(&self) -> bool {
        match self {
            Self::Aws(signer) => {
                !signer.access_key.is_empty() && !signer.secret_key.expose_secret().is_empty()
            }
            Self::Google(tokens) => tokens.are_there(),
            Self::Usual | Self::Bearer | Self::ApiKey => false,
        }
    }
}

/// Formats a key as a bearer header. Reserves the capacity up front, because a growing string
/// leaves copies of the key in memory.
fn bearer(key: &SecretString) -> SecretString {
    const WORD: &str = "Bearer ";
    let mut header = String::with_capacity(WORD.len() + key.expose_secret().len());
    header.push_str(WORD);
    header.push_str(key.expose_secret());
    header.into()
}
