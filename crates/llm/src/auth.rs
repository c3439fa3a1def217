//! How requests show who sends them: a key in a header, a signature (AWS), or a token that is fetched first (Google).
//! Credentials come from variables that the caller hands in; nothing is read from the environment here.

pub(crate) mod aws;
pub(crate) mod google;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use types::{Fault, Timestamp};

use crate::Dialect;
use crate::transport::{Exchange, Transport};

/// How requests are authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `api-key: KEY`, as Azure has it.
    ApiKey,
    /// A signature over the request, or a Bedrock API key as bearer.
    Aws,
    /// An access token of Google Cloud.
    Google,
}

/// The credentials of a provider.
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// The key in the header that the dialect has for it.
    #[default]
    Usual,
    Bearer,
    ApiKey,
    Aws(aws::Signer),
    Google(std::sync::Arc<google::Tokens>),
}

impl Auth {
    /// Adds to a request what shows who sends it.
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
                _ => ("authorization", bearer(key)),
            }),
            (_, Some(key)) => exchange.secrets.push(("authorization", bearer(key))),
            (Self::Usual | Self::Bearer | Self::ApiKey, None) => {}
        }
        Ok(())
    }

    /// The credentials of a kind, from variables.
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

    /// Whether it has something to authenticate with besides a key.
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

/// A key as a header has it. The space is made at once, because text that grows leaves copies of itself behind.
fn bearer(key: &SecretString) -> SecretString {
    const WORD: &str = "Bearer ";
    let mut header = String::with_capacity(WORD.len() + key.expose_secret().len());
    header.push_str(WORD);
    header.push_str(key.expose_secret());
    header.into()
}
