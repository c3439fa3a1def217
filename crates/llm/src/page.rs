//! Fetches one page from the network, one hop at a time: only at addresses checked by the caller, without
//! following redirects, and up to a size limit. Which hosts are allowed is not decided here.

use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt as _;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, LOCATION};

const CONNECT: Duration = Duration::from_secs(10);
/// Total timeout of one hop.
const PATIENCE: Duration = Duration::from_secs(25);

/// A URL that can be fetched.
#[derive(Debug, Clone)]
pub struct PageAddress {
    url: Url,
    host: String,
    port: u16,
}

/// Result of one hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub status: u16,
    pub media_type: String,
    /// Redirect target, as sent by the server.
    pub elsewhere: Option<String>,
    /// Decompressed, if it was compressed.
    pub bytes: Vec<u8>,
    /// The page was longer than the limit.
    pub more: bool,
}

/// Why a page could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error("{url:?} is not an address that can be fetched: {cause}")]
    Address { url: String, cause: &'static str },
    #[error("fetching {url}")]
    Network {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("{url} did not answer in time")]
    TimedOut { url: String },
}

impl PageAddress {
    pub fn parse(text: &str) -> Result<Self, PageError> {
        let bad = |cause| PageError::Address { url: text.chars().take(200).collect(), cause };
        let url = Url::parse(text).map_err(|_| bad("it cannot be read"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("only http and https are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it has a user in it, which may hide the host"));
        }
        let host = url.host_str().ok_or_else(|| bad("it has no host"))?.to_owned();
        let port = url.port_or_known_default().ok_or_else(|| bad("it has no port"))?;
        Ok(Self { url, host, port })
    }

    /// Resolves a redirect target against this address.
    pub fn join(&self, elsewhere: &str) -> Result<Self, PageError> {
        let bad = |cause| PageError::Address { url: elsewhere.chars().take(200).collect(), cause };
        let url = self.url.join(elsewhere).map_err(|_| bad("it cannot be read"))?;
        if self.url.scheme() == "https" && url.scheme() != "https" {
            return Err(bad("it leads from https to http"));
        }
        Self::parse(url.as_str())
    }

    /// Name or address of the host, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }
}

/// Fetches a page at these addresses of its host, and reads at most `max_bytes` of it.
pub async fn hop(
    page: &PageAddress,
    at: &[SocketAddr],
    max_bytes: usize,
) -> Result<Hop, PageError> {
    let url = page.as_str().to_owned();
    match tokio::time::timeout(PATIENCE, ask(page, at, max_bytes)).await {
        Ok(done) => done.map_err(|source| PageError::Network { url, source }),
        Err(_) => Err(PageError::TimedOut { url }),
    }
}

async fn ask(page: &PageAddress, at: &[SocketAddr], max: usize) -> Result<Hop, reqwest::Error> {
    // The crypto provider is chosen once per process; a second choice has no effect.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(&page.host, at)
        .build()?;
    let answer = client.get(page.url.clone()).send().await?;
    let header = |name| {
        let value = answer.headers().get(name)?.to_str().ok()?;
        Some(value.chars().take(2000).collect::<String>())
    };
    let (media_type, elsewhere) = (header(CONTENT_TYPE).unwrap_or_default(), header(LOCATION));
    let status = answer.status();
    let mut hop = Hop {
        status: status.as_u16(),
        media_type,
        elsewhere: elsewhere.filter(|_| status.is_redirection()),
        bytes: Vec::new(),
        more: false,
    };
    if hop.elsewhere.is_some() {
        return Ok(hop);
    }
    let mut pieces = answer.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        let room = max - hop.bytes.len();
        hop.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            hop.more = true;
            break;
        }
    }
    Ok(hop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_its_host_and_hides_nothing() {
        let page = PageAddress::parse("https://Example.org/x").expect("an address");
        assert_eq!((page.host(), page.port()), ("example.org", 443));
        let page = PageAddress::parse("http://[::1]:8080/").expect("an address");
        assert_eq!((page.host(), page.port()), ("::1", 8080));
        for bad in ["http://a@b/", "http://a:b@c/", "file:///etc/passwd", "gopher://x/", "x", ""] {
            assert!(PageAddress::parse(bad).is_err(), "{bad:?} was taken as an address");
        }
    }

    #[test]
    fn a_redirect_is_relative_and_never_leaves_encryption() {
        let page = PageAddress::parse("https://a.test/b/c").expect("an address");
        assert_eq!(page.join("../d").expect("an address").as_str(), "https://a.test/d");
        assert_eq!(page.join("//e.test/").expect("an address").host(), "e.test");
        assert!(page.join("http://a.test/").is_err() && page.join("ftp://a.test/").is_err());
    }
}
