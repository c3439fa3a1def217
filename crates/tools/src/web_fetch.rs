//! `web_fetch`: fetches a page from the network, as text. The environment decides which hosts may be reached; without
//! a grant, there is no network.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed, facts, page_reply};
pub(crate) use crate::web_search::WebSearch;

/// Maximum size of a page, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;
const MAX_URL_BYTES: usize = 4096;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebFetch {
    /// With http:// or https://.
    url: String,
}

impl Typed for WebFetch {
    const NAME: &'static str = "web_fetch";
    const DESCRIPTION: &'static str = "Fetches a page by its address and shows it as text. \
        Only hosts that the policy grants can be asked.";

    fn facts(&self) -> Result<CallFacts, String> {
        let strange = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        let scheme = ["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme));
        if !scheme || self.url.len() > MAX_URL_BYTES || self.url.chars().any(strange) {
            let shown: String = self.url.chars().take(120).collect();
            return Err(format!("{shown:?} is not an address that can be fetched"));
        }
        let hosts = host(&self.url).into_iter().collect();
        Ok(CallFacts { hosts, ..facts(Access::Network, Vec::new(), Repeat::Safe) })
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Some(web) = place.web else {
            return Err("there is no network here: the policy grants no hosts".to_owned().into());
        };
        let page = web.fetch(&self.url, MAX_BYTES, place.stop).await?;
        page_reply(&page)
    }
}

/// Host of a URL, as written in a list of hosts; `None` if there is none that can be granted.
fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1;
    let place = rest.split(['/', '?', '#']).next()?;
    let place = place.rsplit('@').next()?;
    let host = match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => place.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    sandbox::Hosts::parse([&host]).is_ok().then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_what_is_asked_for() {
        for (url, wanted) in [
            ("https://Example.org/a?b", Some("example.org")),
            ("http://u:p@example.org:8080/x", Some("example.org")),
            ("https://[2606:4700::1]/", Some("2606:4700::1")),
            ("https:///x", None),
        ] {
            assert_eq!(host(url).as_deref(), wanted, "{url}");
        }
    }
}
