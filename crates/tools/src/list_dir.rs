//! `list_dir`: lists a folder, one entry per line, to the requested depth.

use sandbox::MAX_ENTRIES;
use schemars::JsonSchema;
use serde::Deserialize;
use types::CallFacts;

use crate::typed::{Reply, Typed, reads};
use crate::{ToolContext, UNNAMED, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDir {
    /// The folder, relative to the workspace (the default).
    path: Option<String>,
    /// How many levels of folders to show; 1 by default.
    #[schemars(range(min = 1, max = 10))]
    depth: Option<u32>,
}

impl Typed for ListDir {
    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str =
        "Lists a folder. Folders end with a slash; files have their size in bytes.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::path(self.path.as_deref().unwrap_or("."))?;
        let entries = place.env.list(&path, self.depth.unwrap_or(1)).await?;
        if entries.is_empty() {
            return Ok(format!("[{path} is empty]").into());
        }
        let mut text = String::new();
        for entry in &entries {
            match entry.bytes {
                Some(bytes) => text.push_str(&format!("{}\t{bytes}", entry.path)),
                None => text.push_str(&format!("{}/", entry.path)),
            }
            text.push_str(if entry.unnamed { "\t[escaped]\n" } else { "\n" });
        }
        if entries.iter().any(|entry| entry.unnamed) {
            text.push_str(&format!("[the names that are marked as escaped {UNNAMED}]\n"));
        }
        if entries.len() == MAX_ENTRIES {
            text.push_str(&format!("[only the first {MAX_ENTRIES} entries are shown]\n"));
        }
        Ok(text.into())
    }
}
