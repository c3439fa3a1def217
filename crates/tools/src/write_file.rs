//! `write_file`: a whole file, created or replaced in one step.

use async_trait::async_trait;
use sandbox::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use types::{Access, CallFacts, Repeat};

use crate::schema;
use crate::typed::{Typed, facts};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The file, relative to the workspace. Folders that are missing are made.
    path: String,
    /// Everything that the file shall contain.
    content: String,
}

#[derive(Debug)]
pub(crate) struct WriteFile;

#[async_trait]
impl Typed for WriteFile {
    type Arguments = Arguments;
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str =
        "Creates a file or replaces all of it with the given content.";

    fn facts(&self, args: &Arguments) -> Result<CallFacts, String> {
        Ok(facts(Access::Write, vec![schema::file(&args.path)?], Repeat::Safe))
    }

    async fn act(
        &self,
        args: Arguments,
        env: &dyn Environment,
        _stop: &CancellationToken,
    ) -> Result<String, String> {
        let path = schema::file(&args.path)?;
        env.write(&path, args.content.as_bytes()).await.map_err(|error| error.chain())?;
        Ok(format!("wrote {} bytes to {path}", args.content.len()))
    }
}
