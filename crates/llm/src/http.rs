//! Network transport. TLS by rustls, proxies from the usual variables. Redirects are never followed, so that a server
//! cannot forward our key to another host.

use std::error::Error;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::ExposeSecret;
use types::{Fault, Millis};

use crate::faults::Cause;
use crate::transport::{Answer, Exchange, Transport, whole};

/// HTTP client for all providers; connections are pooled and shared.
#[derive(Debug, Clone)]
pub struct Http {
    clients: Arc<[OnceLock<reqwest::Client>; 3]>,
    connect: Millis,
}

/// Location of a server, as far as it matters to the client. Each kind has its own client, built on first use: reading
/// the machine's certificates takes longer than everything else before a first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientKind {
    Remote,
    /// On this machine, which no proxy can reach.
    Local,
    /// On this machine and without TLS, so that no certificates are needed.
    LocalPlain,
}

impl ClientKind {
    fn of(url: &str) -> Self {
        match is_here(url) {
            false => Self::Remote,
            true if url.starts_with("http://") => Self::LocalPlain,
            true => Self::Local,
        }
    }

    fn build(self, connect: Millis) -> reqwest::Result<reqwest::Client> {
        let builder = reqwest::Client::builder()
            .connect_timeout(connect.duration())
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(Duration::from_secs(90))
            .user_agent(concat!("bosun/", env!("CARGO_PKG_VERSION")));
        match self {
            Self::Remote => builder.build(),
            Self::Local => builder.no_proxy().build(),
            Self::LocalPlain => builder.no_proxy().tls_certs_only([]).build(),
        }
    }
}

impl Http {
    /// Creates a client with this connect timeout.
    #[must_use]
    pub fn new(connect: Millis) -> Self {
        // The crypto provider is chosen once per process; a second choice has no effect.
        rustls::crypto::ring::default_provider().install_default().ok();
        Self { clients: Arc::default(), connect }
    }

    fn client(&self, url: &str) -> Result<reqwest::Client, Fault> {
        let kind = ClientKind::of(url);
        let known = &self.clients[kind as usize];
        if let Some(client) = known.get() {
            return Ok(client.clone());
        }
        let made = kind.build(self.connect).map_err(|error| {
            Cause::Connection.fault(format!("setting up the network client: {error}"))
        })?;
        Ok(known.get_or_init(|| made).clone())
    }

    /// Sends a GET request and returns the status, to find out whether a server answers at all.
    pub async fn ping(&self, url: &str) -> Result<u16, Fault> {
        let answer = self.client(url)?.get(url).send().await;
        answer.map(|answer| answer.status().as_u16()).map_err(|error| fault(&error))
    }

    /// Fetches a small document of at most `most` bytes.
    pub async fn get(&self, url: &str, most: usize) -> Result<Vec<u8>, Fault> {
        let answer = self.client(url)?.get(url).send().await.map_err(|error| fault(&error))?;
        if !answer.status().is_success() {
            let what = format!("the server answered {}", answer.status().as_u16());
            return Err(Cause::NotFound.fault(what));
        }
        let too_long = "the answer is too long";
        whole(answer.bytes_stream().map(|chunk| chunk.map_err(|e| fault(&e))), most, too_long).await
    }
}

impl Transport for Http {
    fn send(&self, exchange: Exchange) -> BoxFuture<'static, Result<Answer, Fault>> {
        let client = self.client(&exchange.url);
        async move {
            let mut request = client?.post(&exchange.url).body(exchange.body);
            if !exchange.headers.iter().any(|(name, _)| name == "content-type") {
                request = request.header("content-type", "application/json");
            }
            for (name, value) in &exchange.headers {
                request = request.header(name, value);
            }
            for (name, secret) in &exchange.secrets {
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

/// Whether a server runs on this machine.
pub(crate) fn is_here(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let name = host.strip_prefix('[').and_then(|v6| v6.split(']').next());
    let name = name.unwrap_or_else(|| host.split(':').next().unwrap_or_default());
    let named = name.eq_ignore_ascii_case("localhost");
    named || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Maps a network error to a fault, without the path and query of its URL.
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
    // Only the origin: path and query may hold a key.
    let address = error.url().map(|url| url.origin().ascii_serialization());
    let at = address.map(|address| format!(" at {address}")).unwrap_or_default();
    Cause::Connection.fault(format!("the server{at} cannot be reached: {chain}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_speaks_tls_has_certificates_read_for_it() {
        assert_eq!(ClientKind::of("http://127.0.0.1:1/v1"), ClientKind::LocalPlain);
        assert_eq!(ClientKind::of("https://localhost/v1"), ClientKind::Local);
        assert_eq!(ClientKind::of("http://10.0.0.1"), ClientKind::Remote);
        let http = Http::new(Millis::seconds(1));
        assert!(http.client("http://127.0.0.1:1/v1").is_ok());
        for kind in [ClientKind::Remote, ClientKind::Local, ClientKind::LocalPlain] {
            assert!(kind.build(Millis::seconds(1)).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn servers_on_this_machine_are_told_from_others() {
        for here in
            ["http://127.0.0.1:1/v1", "http://localhost", "http://[::1]:80/x", "127.9.9.9:1"]
        {
            assert!(is_here(here), "{here}");
        }
        for there in
            ["https://api.openai.com/v1", "http://localhost.evil.org", "http://10.0.0.1/127.0.0.1"]
        {
            assert!(!is_here(there), "{there}");
        }
    }
}
