//! The network for agents: pages of the hosts that a policy grants. Every hop is checked again, by name and by address,
//! and the checked address is the one that is used.

use async_trait::async_trait;
use llm::{PageAddress, hop};
use sandbox::{Hosts, chain};
use tokio_util::sync::CancellationToken;
use tools::{Page, Web};
use types::{Fault, Policy};

/// The most redirects.
const MAX_HOPS: usize = 5;

/// The placeholder for the query in the address of a search.
const QUERY: &str = "{query}";

/// The granted hosts.
#[derive(Debug)]
pub(crate) struct Internet {
    hosts: Hosts,
    /// The address of the search, and a grant for its host alone.
    search: Option<(String, Hosts)>,
}

impl Internet {
    /// Combines the hosts that a policy grants with `more`; `None` if there are none and no search.
    pub(crate) fn of(policy: &Policy, more: &[String]) -> Result<Option<Self>, Fault> {
        let broken = |cause: String| Fault::structural("policy.broken", cause);
        let hosts = crate::sandbox_factory::hosts(&policy.sandbox)?.with(more);
        let hosts = hosts.map_err(|error| broken(error.to_string()))?;
        let search = policy.tools.search_url.as_deref().map(|url| {
            let page = PageAddress::parse(&url.replace(QUERY, "x"));
            let page = page.map_err(|error| broken(format!("search_url: {}", chain(&error))))?;
            let host = Hosts::parse([page.host()]).map_err(|error| broken(error.to_string()))?;
            // A self-hosted search may be on this machine.
            Ok::<_, Fault>((url.to_owned(), host.allow_private()))
        });
        let search = search.transpose()?;
        let nothing = hosts.is_empty() && search.is_none();
        Ok((!nothing).then_some(Self { hosts, search }))
    }
}

async fn follow(hosts: &Hosts, url: &str, max_bytes: usize) -> Result<Page, String> {
    let mut page = PageAddress::parse(url).map_err(|error| chain(&error))?;
    for _ in 0..MAX_HOPS {
        let at = hosts.addresses(page.host(), page.port()).await;
        let at = at.map_err(|error| chain(&error))?;
        let came = hop(&page, &at, max_bytes).await.map_err(|error| chain(&error))?;
        let Some(elsewhere) = &came.elsewhere else {
            let url = page.as_str().to_owned();
            let (status, media_type) = (came.status, came.media_type);
            return Ok(Page { status, media_type, url, bytes: came.bytes, more: came.more });
        };
        page = page.join(elsewhere).map_err(|error| chain(&error))?;
    }
    Err(format!("{url} leads elsewhere more than {MAX_HOPS} times"))
}

/// Percent-encodes text for an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let one = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[async_trait]
impl Web for Internet {
    async fn fetch(
        &self,
        url: &str,
        max_bytes: usize,
        stop: &CancellationToken,
    ) -> Result<Page, String> {
        tokio::select! {
            page = follow(&self.hosts, url, max_bytes) => page,
            () = stop.cancelled() => Err("it was stopped before it was done".to_owned()),
        }
    }

    async fn search(
        &self,
        query: &str,
        max_bytes: usize,
        stop: &CancellationToken,
    ) -> Result<Page, String> {
        let Some((url, hosts)) = &self.search else {
            return Err(
                "there is no search here: the policy sets no search_url in [tools]".to_owned()
            );
        };
        let url = url.replace(QUERY, &encoded(query));
        tokio::select! {
            page = follow(hosts, &url, max_bytes) => page,
            () = stop.cancelled() => Err("it was stopped before it was done".to_owned()),
        }
    }

    fn grants(&self, host: &str) -> bool {
        self.hosts.permits(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_granted_hosts_at_public_addresses_are_asked() {
        let mut policy = crate::presets::preset("crew").expect("a preset");
        policy.sandbox.network = vec!["allowed.test".into()];
        let here = "127.0.0.1".parse().expect("an address");
        policy.sandbox.resolve.insert("allowed.test".into(), here);
        let web = Internet::of(&policy, &[]).expect("hosts").expect("a network");
        let said = follow(&web.hosts, "http://other.test/", 10).await.expect_err("not granted");
        assert!(said.contains("not among the hosts"), "{said}");
        let said = follow(&web.hosts, "http://allowed.test/", 10).await.expect_err("not public");
        assert!(said.contains("not a public address"), "{said}");
        let said = web.search("x", 10, &CancellationToken::new()).await.expect_err("no search");
        assert!(said.contains("search_url"), "{said}");
        policy.sandbox.network.push("*".into());
        assert!(Internet::of(&policy, &[]).is_err());
        policy.sandbox.network.clear();
        assert!(Internet::of(&policy, &[]).expect("hosts").is_none());
        let more = ["asked.test".to_owned()];
        let web = Internet::of(&policy, &more).expect("hosts").expect("a network");
        assert!(web.grants("asked.test") && !web.grants("allowed.test"));
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a search engine for the test")]
    async fn a_search_asks_the_policys_own_address_and_grants_no_other() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let serving = tokio::spawn(async move {
            let (mut client, _) = listener.accept().await.expect("a client");
            let mut text = [0; 2048];
            let count = client.read(&mut text).await.expect("a request");
            let answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfound";
            client.write_all(answer).await.expect("an answer");
            String::from_utf8_lossy(&text[..count]).into_owned()
        });
        let mut policy = crate::presets::preset("crew").expect("a preset");
        policy.tools.search_url = Some(format!("http://127.0.0.1:{port}/s?q={{query}}&n=5"));
        let web = Internet::of(&policy, &[]).expect("hosts").expect("a network");
        let page = web.search("a & b/ü", 100, &CancellationToken::new()).await.expect("a page");
        assert_eq!((page.status, page.bytes.as_slice()), (200, &b"found"[..]));
        let asked = serving.await.expect("a server");
        assert!(asked.starts_with("GET /s?q=a%20%26%20b%2F%C3%BC&n=5 "), "{asked}");
        assert!(!web.grants("127.0.0.1"), "pages are not granted with it");
    }
}
