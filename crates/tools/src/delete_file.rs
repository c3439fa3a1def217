//! `delete_file`: deletes one file, or an empty folder. It need not have been read; a folder that is not empty is
//! refused, so that nothing is deleted that was not named.

use sandbox::Change;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat, WorkPath};

use crate::typed::{Reply, Typed, facts};
use crate::{ToolContext, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// The file, relative to the workspace.
    path: String,
}

impl DeleteFile {
    fn path(&self) -> Result<WorkPath, String> {
        let path = schema::path(&self.path)?;
        if path.is_root() {
            return Err("the workspace itself cannot be deleted; name a file in it".to_owned());
        }
        Ok(path)
    }
}

impl Typed for DeleteFile {
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = "Deletes a file, or a folder that is empty. A link is deleted itself, not what \
        it leads to.";

    // Not repeated after an interruption: a second call could not tell its own deletion from a wrong path.
    fn facts(&self) -> Result<CallFacts, String> {
        Ok(facts(Access::Write, vec![self.path()?], Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = self.path()?;
        place.env.apply(vec![Change::Delete { path: path.clone() }]).await?;
        place.note(&path, None);
        let text = format!("deleted {path}");
        let metadata = Metadata { path: Some(path), ..Metadata::default() };
        Ok(Reply::from(text).knowing(metadata))
    }
}
