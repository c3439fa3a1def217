//! `write_file`: a whole file, created or replaced in one step.

use async_trait::async_trait;
use sandbox::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{Access, CallFacts, Inspection, Repeat, ToolOutput, ToolSpec};

use crate::{Tool, schema};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file, relative to the workspace. Folders that are missing are made.
    path: String,
    /// Everything that the file shall contain.
    content: String,
}

#[derive(Debug)]
pub(crate) struct WriteFile {
    spec: ToolSpec,
}

impl WriteFile {
    pub(crate) fn new() -> Self {
        let description = "Creates a file or replaces all of it with the given content.";
        Self { spec: schema::spec::<Arguments>("write_file", description) }
    }
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        let path = schema::parse::<Arguments>(arguments).and_then(|args| schema::path(&args.path));
        match path {
            Ok(path) => Inspection::Would(CallFacts {
                access: Access::Write,
                paths: vec![path],
                command: None,
                repeat: Repeat::Safe,
            }),
            Err(complaint) => Inspection::Invalid(complaint),
        }
    }

    async fn run(
        &self,
        arguments: &Value,
        env: &dyn Environment,
        _stop: &CancellationToken,
    ) -> ToolOutput {
        let args = match schema::parse::<Arguments>(arguments) {
            Ok(args) => args,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        let path = match schema::path(&args.path) {
            Ok(path) => path,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        match env.write(&path, args.content.as_bytes()).await {
            Ok(()) => ToolOutput::ok(format!("wrote {} bytes to {path}", args.content.len())),
            Err(error) => ToolOutput::error(error.chain()),
        }
    }
}
