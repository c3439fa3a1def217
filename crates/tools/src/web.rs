//! `web_fetch`: fetches a page from the network, as text. The environment decides which hosts may be reached; without
//! a grant, there is no network. `web_search`: searches the web with the search configured in the policy. The answer is
//! shown unchanged; the model cannot choose the search.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat};

use crate::typed::{Reply, Typed};
use crate::{Page, ToolContext};

/// Maximum size of a page, in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;
const MAX_URL_BYTES: usize = 4096;
/// Maximum size of a search's answer, in bytes.
const MAX_RESULT_BYTES: usize = 512 * 1024;
const LONGEST_QUERY: usize = 400;

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
        Ok(CallFacts { hosts, ..CallFacts::new(Access::Network, Repeat::Safe) })
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebSearch {
    /// The words to look for.
    #[schemars(length(min = 1))]
    query: String,
}

impl Typed for WebSearch {
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str = "Looks for words on the web.";

    fn facts(&self) -> Result<CallFacts, String> {
        if self.query.trim().is_empty() || self.query.chars().count() > LONGEST_QUERY {
            return Err(format!("a query has 1 to {LONGEST_QUERY} characters"));
        }
        Ok(CallFacts::new(Access::Network, Repeat::Safe))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Some(web) = place.web else {
            let why = "there is no search here: the policy sets no search_url in [tools]";
            return Err(why.to_owned().into());
        };
        page_reply(&web.search(self.query.trim(), MAX_RESULT_BYTES, place.stop).await?)
    }
}

/// A page as text; a page with an error status, or without text, is a failed call.
fn page_reply(page: &Page) -> Result<Reply, Reply> {
    let metadata = Metadata {
        bytes: Some(page.bytes.len() as u64),
        status: Some(page.status),
        ..Metadata::default()
    };
    if page.bytes.iter().take(8192).any(|byte| *byte == 0) {
        let text = format!("{} is not text but {}", page.url, page.media_type);
        return Err(Reply::from(text).knowing(metadata));
    }
    let mut text = format!("[{} {} {}]\n", page.status, page.media_type, page.url);
    text.push_str(&String::from_utf8_lossy(&page.bytes));
    if page.more {
        text.push_str(&format!(
            "\n[there is more; only {} bytes were fetched]\n",
            page.bytes.len()
        ));
    }
    let reply = Reply::from(text).knowing(metadata);
    if (200..300).contains(&page.status) { Ok(reply) } else { Err(reply) }
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
