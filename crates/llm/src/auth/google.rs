//! Google Cloud access tokens, fetched with a service account or with the credentials saved by `gcloud auth
//! application-default login`, and cached until shortly before they expire. The caller locates the file.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use types::{Fault, Millis, Timestamp};

use crate::faults::Cause;
use crate::transport::{Exchange, Transport, whole};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// Safety margin: a token this close to its expiry is not used any more.
const EARLY: Millis = Millis::seconds(60);
/// Maximum size of a token server's answer, in bytes.
const MOST: usize = 64 * 1024;

/// Contents of a credentials file.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Credentials {
    ServiceAccount {
        client_email: String,
        #[serde(deserialize_with = "secret")]
        private_key: SecretString,
        #[serde(default = "token_url")]
        token_uri: String,
    },
    AuthorizedUser {
        client_id: String,
        #[serde(deserialize_with = "secret")]
        client_secret: SecretString,
        #[serde(deserialize_with = "secret")]
        refresh_token: SecretString,
        #[serde(default = "token_url")]
        token_uri: String,
    },
}

fn secret<'de, D: serde::Deserializer<'de>>(from: D) -> Result<SecretString, D::Error> {
    String::deserialize(from).map(SecretString::from)
}

fn token_url() -> String {
    TOKEN_URL.to_owned()
}

/// Source of tokens, and the cached token.
#[derive(Debug)]
pub struct Tokens {
    credentials: Result<Credentials, String>,
    current: Mutex<Option<(SecretString, Timestamp)>>,
}

#[derive(Deserialize)]
struct Granted {
    #[serde(deserialize_with = "secret")]
    access_token: SecretString,
    #[serde(default)]
    expires_in: u64,
}

impl Tokens {
    /// Reads a credentials file. Errors are reported when a token is needed.
    pub(crate) fn at(file: Option<String>) -> Self {
        let none = || "there are no Google credentials".to_owned();
        let read = file.ok_or_else(none).and_then(|file| {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| format!("reading the Google credentials {file}: {error}"))?;
            // The parser's message may quote the key itself, so it is not included.
            serde_json::from_str(&text).map_err(|error| {
                let line = error.line();
                format!("{file} is no service account or user login of Google (line {line})")
            })
        });
        Self { credentials: read, current: Mutex::new(None) }
    }

    pub(crate) fn are_there(&self) -> bool {
        self.credentials.is_ok()
    }

    /// Returns a token that is valid now, fetching one if necessary.
    pub(crate) async fn token(
        &self,
        transport: &dyn Transport,
        now: Timestamp,
    ) -> Result<SecretString, Fault> {
        let mut current = self.current.lock().await;
        if let Some((token, until)) = &*current
            && now < *until
        {
            return Ok(token.clone());
        }
        let credentials =
            self.credentials.as_ref().map_err(|what| Cause::Authentication.fault(what.clone()))?;
        let granted = fetch(credentials, transport, now).await?;
        let lasts = Millis::seconds(granted.expires_in).0.saturating_sub(EARLY.0);
        *current = Some((granted.access_token.clone(), now.after(Millis(lasts))));
        Ok(granted.access_token)
    }
}

async fn fetch(
    credentials: &Credentials,
    transport: &dyn Transport,
    now: Timestamp,
) -> Result<Granted, Fault> {
    let (url, form) = match credentials {
        Credentials::ServiceAccount { client_email, private_key, token_uri } => {
            let jwt = assertion(client_email, private_key, token_uri, now)?;
            let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
            (token_uri, format!("grant_type={grant}&assertion={jwt}"))
        }
        Credentials::AuthorizedUser { client_id, client_secret, refresh_token, token_uri } => {
            let part = |secret: &SecretString| super::aws::encoded(secret.expose_secret());
            let form = format!(
                "grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                super::aws::encoded(client_id),
                part(client_secret),
                part(refresh_token)
            );
            (token_uri, form)
        }
    };
    let exchange = Exchange {
        url: url.clone(),
        headers: vec![("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())],
        secrets: vec![],
        body: Bytes::from(form),
    };
    let answer = transport.send(exchange).await?;
    let body = whole(answer.bytes, MOST, "the token server's answer is too long").await?;
    if !(200..300).contains(&answer.status) {
        // The body may repeat the credentials, so only the status is reported.
        let what = format!("Google's token server refused the credentials ({})", answer.status);
        return Err(Cause::Authentication.fault(what));
    }
    serde_json::from_slice(&body)
        .map_err(|_| Cause::BadReply.fault("the token server's answer has no access token"))
}

/// A signed JWT that identifies the service account, valid for one hour.
fn assertion(
    email: &str,
    key: &SecretString,
    audience: &str,
    now: Timestamp,
) -> Result<String, Fault> {
    let wrong =
        |what: &str| Cause::Authentication.fault(format!("the service account's key {what}"));
    let pem: String =
        key.expose_secret().lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(pem.trim()).map_err(|_| wrong("is no PEM"))?;
    let pair = RsaKeyPair::from_pkcs8(&der).map_err(|_| wrong("is no RSA key"))?;
    let second = now.millis() / 1_000;
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(json!({ "alg": "RS256", "typ": "JWT" }));
    let claims = part(json!({
        "iss": email, "scope": SCOPE, "aud": audience, "iat": second, "exp": second + 3_600,
    }));
    let text = format!("{head}.{claims}");
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| wrong("cannot sign"))?;
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[cfg(test)]
mod tests {
    use futures::future::BoxFuture;
    use futures::{FutureExt as _, StreamExt as _, stream};
    use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::*;
    use crate::Answer;

    /// A token server that records its requests.
    #[derive(Debug, Default)]
    struct TokenServer {
        asked: std::sync::Mutex<Vec<String>>,
        refuses: bool,
    }

    impl Transport for TokenServer {
        fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
            assert_eq!(exchange.url, "https://token.test/t");
            let form = String::from_utf8(exchange.body.to_vec()).expect("a form");
            let mut asked = self.asked.lock().expect("a lock");
            asked.push(form);
            let body = format!(r#"{{"access_token":"token-{}","expires_in":3600}}"#, asked.len());
            let status = if self.refuses { 401 } else { 200 };
            let bytes = stream::iter([Ok(Bytes::from(body))]).boxed();
            async move { Ok(Answer { status, headers: Default::default(), bytes }) }.boxed()
        }
    }

    fn tokens(json: &serde_json::Value) -> (tempfile::TempDir, Tokens) {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("credentials.json");
        std::fs::write(&file, json.to_string()).expect("a file");
        let tokens = Tokens::at(Some(file.display().to_string()));
        (dir, tokens)
    }

    /// A key generated for this test; it grants access to nothing.
    fn key() -> String {
        include_str!("test_key.txt").to_owned()
    }

    #[tokio::test]
    async fn a_service_account_signs_who_it_is_and_the_token_is_kept_until_it_ends() {
        let (_dir, tokens) = tokens(&json!({
            "type": "service_account", "client_email": "bot@p.test", "private_key": key(),
            "token_uri": "https://token.test/t",
        }));
        assert!(tokens.are_there());
        let server = TokenServer::default();
        let now = Timestamp::from_millis(1_700_000_000_000);
        for (after, expected) in [(0, "token-1"), (3_500_000, "token-1"), (3_600_000, "token-2")] {
            let token = tokens.token(&server, now.after(Millis(after))).await.expect("a token");
            assert_eq!(token.expose_secret(), expected);
        }
        let asked = server.asked.lock().expect("a lock");
        let jwt = asked[0].split_once("assertion=").expect("an assertion").1;
        let (text, signature) = jwt.rsplit_once('.').expect("a signature");
        let claims = URL_SAFE_NO_PAD.decode(text.split_once('.').expect("two parts").1);
        let claims: serde_json::Value =
            serde_json::from_slice(&claims.expect("base64")).expect("claims");
        assert_eq!(claims["iss"], "bot@p.test");
        assert_eq!(claims["exp"].as_i64(), Some(1_700_003_600));
        let der = STANDARD.decode(key().lines().collect::<String>()).expect("base64");
        let pair = RsaKeyPair::from_pkcs8(&der).expect("a key");
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        public.verify(text.as_bytes(), &signature).expect("it is signed by this key");
    }

    #[tokio::test]
    async fn a_login_is_refreshed_and_a_refusal_repeats_no_secret() {
        let login = json!({
            "type": "authorized_user", "client_id": "id", "client_secret": "s&cret",
            "refresh_token": "r/1", "token_uri": "https://token.test/t",
        });
        let (_dir, tokens) = tokens(&login);
        let server = TokenServer { refuses: true, ..TokenServer::default() };
        let fault = tokens.token(&server, Timestamp::default()).await.expect_err("refused");
        assert!(fault.what.contains("401") && !fault.what.contains("cret"), "{}", fault.what);
        let form = server.asked.lock().expect("a lock")[0].clone();
        assert!(form.contains("client_secret=s%26cret&refresh_token=r%2F1"), "{form}");
        let (_dir, broken) = self::tokens(&json!({ "type": "other", "private_key": "hush" }));
        assert!(!broken.are_there());
        let fault = broken.token(&server, Timestamp::default()).await.expect_err("no login");
        assert!(!fault.what.contains("hush"), "{}", fault.what);
    }
}
