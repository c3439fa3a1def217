//! The network. TLS by rustls, proxies from the usual variables. A redirect is never followed: a server
//! that sends us elsewhere does not get to see our key there.

use std::error::Error;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use types::{Fault, Span};

use crate::faults::Cause;
use crate::transport::{Answer, Exchange, Transport};

/// A client for all providers; connections are kept and shared.
#[derive(Debug, Clone)]
pub struct Http {
    client: reqwest::Client,
}

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("setting up the network client")]
pub struct HttpError(#[source] reqwest::Error);

impl Http {
    /// A client that gives up connecting after a while.
    pub fn new(connect: Span) -> Result<Self, HttpError> {
        // The provider of cryptography is chosen once for the process; a second choice changes nothing.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = reqwest::Client::builder()
            .connect_timeout(connect.duration())
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(Duration::from_secs(90))
            .user_agent(concat!("bosun/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(HttpError)?;
        Ok(Self { client })
    }

    /// Whether a server answers at all, and in which status.
    pub async fn ping(&self, url: &str) -> Result<u16, Fault> {
        let answer = self.client.get(url).send().await;
        answer.map(|answer| answer.status().as_u16()).map_err(|error| fault(&error))
    }
}

impl Transport for Http {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        let client = self.client.clone();
        async move {
            let mut request = client.post(&exchange.url).body(exchange.body.to_string());
            request = request.header("content-type", "application/json");
            for (name, value) in &exchange.headers {
                request = request.header(name, value);
            }
            if let Some((name, secret)) = &exchange.secret {
                let mut value = HeaderValue::from_str(secret.expose_secret()).map_err(|_| {
                    Cause::Authentication.fault("the key has characters that no header can carry")
                })?;
                value.set_sensitive(true);
                request = request.header(HeaderName::from_static(name), value);
            }
            let answer = request.send().await.map_err(|error| fault(&error))?;
            let headers = answer.headers().iter().filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            });
            Ok(Answer {
                status: answer.status().as_u16(),
                headers: headers.collect(),
                bytes: answer.bytes_stream().map(|chunk| chunk.map_err(|e| fault(&e))).boxed(),
            })
        }
        .boxed()
    }
}

/// What an error of the network means. Its address is left out, because it may hold more than a name.
fn fault(error: &reqwest::Error) -> Fault {
    let mut said = vec![];
    let mut next: Option<&dyn Error> = error.source();
    while let Some(cause) = next {
        said.push(cause.to_string());
        next = cause.source();
    }
    let chain = said.join(": ");
    let lower = chain.to_lowercase();
    if lower.contains("dns error") || lower.contains("lookup address") {
        return Cause::Connection.fault(format!("the server's name does not resolve: {chain}"));
    }
    let tls = ["tls", "certificate", "handshake", "corrupt message", "invalidcontenttype"];
    if tls.iter().any(|word| lower.contains(word)) {
        return Cause::Connection.fault(format!("the server does not speak tls with us: {chain}"));
    }
    if error.is_timeout() {
        return Cause::Timeout.fault(format!("no connection in time: {chain}"));
    }
    if error.is_builder() {
        return Cause::InvalidRequest
            .fault(format!("the address cannot be used: {error}: {chain}"));
    }
    if error.is_body() || error.is_decode() {
        return Cause::BrokenStream.fault(format!("the reply broke off: {chain}"));
    }
    Cause::Connection.fault(format!("the server cannot be reached: {chain}"))
}
