//! `web_search`: looks for words on the web, by the search that the policy names. What it answers is shown as it is; which
//! search that is, and where, is not the model's to say.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed, facts, page_reply};

/// The most of an answer that is taken in.
const MAX_BYTES: usize = 512 * 1024;
const LONGEST_QUERY: usize = 400;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The words to look for.
    #[schemars(length(min = 1))]
    query: String,
}

#[derive(Debug)]
pub(crate) struct WebSearch;

#[async_trait]
impl Typed for WebSearch {
    type Arguments = Arguments;
    const NAME: &'static str = "web_search";
    const DESCRIPTION: &'static str = "Looks for words on the web.";

    fn facts(&self, args: &Arguments) -> Result<CallFacts, String> {
        if args.query.trim().is_empty() || args.query.chars().count() > LONGEST_QUERY {
            return Err(format!("a query has 1 to {LONGEST_QUERY} characters"));
        }
        Ok(facts(Access::Network, Vec::new(), Repeat::Safe))
    }

    async fn act(&self, args: Arguments, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Some(web) = place.web() else {
            let why = "there is no search here: the policy sets no search_url in [tools]";
            return Err(why.to_owned().into());
        };
        page_reply(&web.search(args.query.trim(), MAX_BYTES, place.stop()).await?)
    }
}
