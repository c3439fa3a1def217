//! `web_search`: searches the web with the search configured in the policy. The answer is shown unchanged; the model
//! cannot choose the search.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed, facts, page_reply};

/// Maximum size of an answer, in bytes.
const MAX_BYTES: usize = 512 * 1024;
const LONGEST_QUERY: usize = 400;

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
        Ok(facts(Access::Network, Vec::new(), Repeat::Safe))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Some(web) = place.web else {
            let why = "there is no search here: the policy sets no search_url in [tools]";
            return Err(why.to_owned().into());
        };
        page_reply(&web.search(self.query.trim(), MAX_BYTES, place.stop).await?)
    }
}
