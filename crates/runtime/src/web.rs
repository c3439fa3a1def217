//! The network for agents: pages of the hosts that a policy grants. Every hop is checked again, by name and by address,
//! and the checked address is the one that is used.

use async_trait::async_trait;
use llm::{PageAddress, hop};
use sandbox::{Hosts, chain};
use tokio_util::sync::CancellationToken;
use tools::{Page, Web};
use types::{Fault, SandboxPolicy};

/// The most redirects.
const MAX_HOPS: usize = 5;

/// The granted hosts.
#[derive(Debug)]
pub(crate) struct Internet {
    hosts: Hosts,
}

impl Internet {
    /// The hosts that a policy grants; `None` if there are none.
    pub(crate) fn of(policy: &SandboxPolicy) -> Result<Option<Self>, Fault> {
        let hosts = crate::sandbox_factory::hosts(policy)?;
        Ok((!hosts.is_empty()).then_some(Self { hosts }))
    }

    /// The same with these hosts, too.
    pub(crate) fn reaching(policy: &SandboxPolicy, more: &[String]) -> Result<Option<Self>, Fault> {
        let hosts = crate::sandbox_factory::hosts(policy)?.with(more);
        let hosts = hosts.map_err(|error| Fault::structural("policy.broken", error.to_string()))?;
        Ok((!hosts.is_empty()).then_some(Self { hosts }))
    }

    async fn follow(&self, url: &str, max_bytes: usize) -> Result<Page, String> {
        let mut page = PageAddress::parse(url).map_err(|error| chain(&error))?;
        for _ in 0..MAX_HOPS {
            let at = self.hosts.addresses(page.host(), page.port()).await;
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
            page = self.follow(url, max_bytes) => page,
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
        let mut policy =
            SandboxPolicy { network: vec!["allowed.test".into()], ..SandboxPolicy::default() };
        policy.resolve.insert("allowed.test".into(), "127.0.0.1".parse().expect("an address"));
        let web = Internet::of(&policy).expect("hosts").expect("a network");
        let said = web.follow("http://other.test/", 10).await.expect_err("not granted");
        assert!(said.contains("not among the hosts"), "{said}");
        let said = web.follow("http://allowed.test/", 10).await.expect_err("not public");
        assert!(said.contains("not a public address"), "{said}");
        assert!(Internet::of(&SandboxPolicy::default()).expect("hosts").is_none());
        policy.network.push("*".into());
        assert!(Internet::of(&policy).is_err());
    }
}
