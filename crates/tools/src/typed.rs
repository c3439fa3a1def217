//! Tools with typed arguments: the schema is derived from the type, and calls arrive as the type. This is the
//! only place where JSON becomes arguments.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use types::{
    Access, CallFacts, Inspection, Metadata, Repeat, Source, ToolOutput, ToolSpec, WorkPath,
};

use crate::{Tool, ToolContext, schema};

/// A call of a tool: its arguments. Both results are for the model; `Err` is a failed call.
pub(crate) trait Typed:
    DeserializeOwned + JsonSchema + Debug + Send + Sync + 'static
{
    const NAME: &'static str;
    const DESCRIPTION: &'static str;

    fn facts(&self) -> Result<CallFacts, String>;

    fn act(self, place: &ToolContext<'_>) -> impl Future<Output = Result<Reply, Reply>> + Send;
}

/// Output of a tool.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) images: Vec<Source>,
    pub(crate) metadata: Box<Metadata>,
    /// Bytes of the text beyond what is held in memory.
    pub(crate) not_held: u64,
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Error of a file or a command, with its causes.
impl From<sandbox::EnvError> for Reply {
    fn from(error: sandbox::EnvError) -> Self {
        error.chain().into()
    }
}

impl Reply {
    /// Attaches metadata.
    pub(crate) fn knowing(mut self, metadata: Metadata) -> Self {
        self.metadata = Box::new(metadata);
        self
    }
}

/// Adapts a typed tool to the [`Tool`] trait.
#[derive(Debug)]
pub(crate) struct TypedTool<T> {
    spec: ToolSpec,
    call: PhantomData<T>,
}

impl<T: Typed> TypedTool<T> {
    pub(crate) fn shared() -> Arc<dyn Tool> {
        let spec = schema::spec::<T>(T::NAME, T::DESCRIPTION);
        Arc::new(Self { spec, call: PhantomData })
    }
}

#[async_trait]
impl<T: Typed> Tool for TypedTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        match schema::parse(arguments).and_then(|call: T| call.facts()) {
            Ok(facts) => Inspection::Would(facts),
            Err(complaint) if schema::names_outside(arguments) => Inspection::Outside(complaint),
            Err(complaint) => Inspection::Invalid(complaint),
        }
    }

    async fn run(&self, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput {
        let done = match schema::parse::<T>(arguments) {
            Ok(call) => call.act(place).await,
            Err(complaint) => Err(complaint.into()),
        };
        let (output, reply) = match done {
            Ok(reply) => (ToolOutput::ok(""), reply),
            Err(reply) => (ToolOutput::error(""), reply),
        };
        let Reply { text, images, metadata, not_held } = reply;
        ToolOutput { text, images, metadata, not_held, ..output }
    }
}

/// Facts of a call that reads a path.
pub(crate) fn reads(path: &str) -> Result<CallFacts, String> {
    Ok(facts(Access::Read, vec![schema::path(path)?], Repeat::Safe))
}

pub(crate) fn facts(access: Access, paths: Vec<WorkPath>, repeat: Repeat) -> CallFacts {
    CallFacts { paths, ..CallFacts::new(access, repeat) }
}
