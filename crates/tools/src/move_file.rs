//! `move_file`: moves a file or a folder. It need not have been read, but a file that it would replace must have
//! been. A folder is named with a trailing slash, so that the check before the call covers everything in it, and
//! not a file of that name.

use sandbox::{Change, EnvError};
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Metadata, Repeat, WorkPath};

use crate::typed::{Reply, Typed, facts};
use crate::{ToolContext, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveFile {
    /// The file, relative to the workspace; a folder has a slash at its end.
    source: String,
    /// Its new path. With a slash at its end it is the folder that a file is moved into.
    destination: String,
}

/// A parsed call.
struct Move {
    from: WorkPath,
    to: WorkPath,
    folder: bool,
}

impl MoveFile {
    fn read(&self) -> Result<Move, String> {
        let folder = self.source.ends_with('/');
        let (from, to) = (schema::path(&self.source)?, schema::path(&self.destination)?);
        if from.is_root() {
            return Err("the workspace itself cannot be moved; name a file in it".to_owned());
        }
        let into = self.destination.ends_with('/') || to.is_root();
        let to = match from.components().last() {
            Some(name) if into && !folder => schema::path(&format!("{to}/{name}"))?,
            _ => to,
        };
        if to == from {
            return Err(format!("{from} is there already; nothing would change"));
        }
        if to.is_root() || to.as_str().starts_with(&format!("{from}/")) {
            return Err(format!("{from} cannot be moved to {to}, which is around or inside it"));
        }
        Ok(Move { from, to, folder })
    }
}

impl Typed for MoveFile {
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = "Moves or renames a file, or a folder with all that is in it. Folders above the \
        new path are made. A file at the new path is replaced only if it was read before.";

    fn facts(&self) -> Result<CallFacts, String> {
        let Move { from, to, folder } = self.read()?;
        // A folder stands for everything below it.
        let below = |path: &WorkPath| schema::path(&format!("{path}/*"));
        let paths = if folder { vec![below(&from)?, below(&to)?] } else { vec![from, to] };
        Ok(facts(Access::Write, paths, Repeat::Unknown))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let Move { from, to, folder } = self.read()?;
        let env = place.env;
        let content = match env.read(&from).await {
            Ok(_) if folder => {
                return Err(format!("{from} is a file; name it without a slash at its end").into());
            }
            Ok(bytes) => Some(bytes),
            Err(EnvError::IsFolder { .. }) if folder => None,
            Err(EnvError::IsFolder { .. }) => {
                let text = format!("{from} is a folder; write {from}/ to move all that is in it");
                return Err(text.into());
            }
            // A file that cannot be read whole can still be moved.
            Err(EnvError::TooLarge { .. } | EnvError::NotRegular { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        refuse_unread(place, &to).await?;
        let known = content.as_deref().filter(|bytes| place.has_seen(&from, bytes));
        let below = place.seen_below(&from);
        env.apply(vec![Change::Move { path: from.clone(), to: to.clone() }]).await?;
        place.note(&from, None);
        if let Some(bytes) = known {
            place.note(&to, Some(bytes));
        }
        for path in below {
            place.note(&path, None);
        }
        let text = format!("moved {from} to {to}");
        let metadata = Metadata { path: Some(to), ..Metadata::default() };
        Ok(Reply::from(text).knowing(metadata))
    }
}

/// Refuses to replace a file that was not read.
async fn refuse_unread(place: &ToolContext<'_>, to: &WorkPath) -> Result<(), Reply> {
    match place.env.read(to).await {
        Ok(bytes) => Ok(place.may_change(to, &bytes)?),
        Err(EnvError::IsFolder { .. }) => {
            Err(format!("{to} is a folder; name the new path itself, such as {to}/NAME").into())
        }
        Err(_) => Ok(()),
    }
}
