//! `glob`: finds files by name, newest first.

use sandbox::GlobRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use types::CallFacts;

use crate::typed::{Reply, Typed, reads};
use crate::{ToolContext, UNNAMED, schema};

/// Maximum number of files listed by one call.
const MAX_FILES: usize = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// Such as `**/*.rs` or `src/*.{ts,tsx}`, relative to the folder.
    #[schemars(length(min = 1))]
    pattern: String,
    /// The folder to look in, relative to the workspace (the default).
    path: Option<String>,
}

impl Typed for Glob {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern over their paths, the most recently changed first. Ignored files are left out.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::path(self.path.as_deref().unwrap_or("."))?;
        let request = GlobRequest { pattern: self.pattern, path, max: MAX_FILES };
        let found = place.env.glob(request, place.stop).await?;
        if found.items.is_empty() && found.unnamed.is_empty() {
            return Ok("[no file fits]".to_owned().into());
        }
        let mut text = String::new();
        for path in &found.items {
            text.push_str(path.as_str());
            text.push('\n');
        }
        if found.more {
            text.push_str("[there are more; use a narrower pattern]\n");
        }
        if !found.unnamed.is_empty() {
            let names = found.unnamed.join(", ");
            text.push_str(&format!("[not matched, as their names {UNNAMED}: {names}]\n"));
        }
        Ok(text.into())
    }
}
