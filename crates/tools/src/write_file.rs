//! `write_file`: creates or replaces a whole file, in one step.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, REDACTED, Repeat, WorkPath};

use crate::typed::{Reply, Typed, facts};
use crate::{ToolContext, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// The file, relative to the workspace.
    path: String,
    /// Everything that the file shall contain.
    content: String,
    /// Whether to create missing folders; true by default.
    create_dirs: Option<bool>,
}

impl Typed for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Creates a file or replaces all of it with the given content. \
        Missing folders are created. A file that exists must have been read before.";

    fn facts(&self) -> Result<CallFacts, String> {
        Ok(facts(Access::Write, vec![schema::file(&self.path)?], Repeat::Safe))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::file(&self.path)?;
        if self.create_dirs == Some(false) {
            refuse_missing_folder(&path, place).await?;
        }
        let (mut content, mut remark, mut replaced_lines) = (self.content, "", None);
        let marked = content.contains(REDACTED);
        if (place.is_guarded() || marked) && place.env.exists(&path).await? {
            let before = place.env.read(&path).await?;
            // Writing identical content changes nothing, for example when a call is repeated after a restart.
            if before != content.as_bytes() {
                place.may_change(&path, &before)?;
                replaced_lines = Some(String::from_utf8_lossy(&before).lines().count() as u64);
            }
            if let Some(shown) = place.shown(&String::from_utf8_lossy(&before))
                && let Some(restored) = shown.restored(&content)?
            {
                (content, remark) = (restored, "; the secrets that were shown as [redacted] stay");
            }
        }
        let (bytes, content) = (content.len(), content.as_bytes());
        let text = if is_there(&path, content, place).await {
            format!("{path} already has this content")
        } else {
            place.env.write(&path, content).await?;
            format!("wrote {bytes} bytes to {path}{remark}")
        };
        place.note(&path, Some(content));
        let metadata = Metadata {
            bytes: Some(bytes as u64),
            path: Some(path),
            replaced_lines,
            ..Metadata::default()
        };
        Ok(Reply::from(text).knowing(metadata))
    }
}

/// Whether a file has this content, and the session knows. If only the file has it, the same call may have been cut off
/// before it was recorded; the second execution gives the result of the first.
async fn is_there(path: &WorkPath, content: &[u8], place: &ToolContext<'_>) -> bool {
    place.has_seen(path, content) && place.env.read(path).await.is_ok_and(|now| now == content)
}

async fn refuse_missing_folder(path: &WorkPath, place: &ToolContext<'_>) -> Result<(), Reply> {
    let Some((folder, _)) = path.as_str().rsplit_once('/') else { return Ok(()) };
    let above = schema::path(folder)?;
    if place.env.exists(&above).await? {
        return Ok(());
    }
    Err(format!("the folder {folder} is not there; set create_dirs to have it made").into())
}
