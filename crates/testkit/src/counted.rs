//! Tools that record their executions. A scenario may have calls that never end; those let time pass.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use runtime::Clock;
use runtime::tools::{Duplicate, Registry, Tool, ToolContext};
use serde_json::Value;
use types::{Inspection, Millis, ToolOutput, ToolSpec};

/// Every execution, as tool and arguments.
pub(crate) type Executions = Arc<Mutex<Vec<String>>>;

/// Calls that never end by themselves: a text in their arguments, and the clock that moves on meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct NeverEnds {
    pub(crate) like: Option<String>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The duration of such a call when it is stopped.
const LONG: Millis = Millis::seconds(900);

#[derive(Debug)]
struct Counted {
    tool: Arc<dyn Tool>,
    executions: Executions,
    never_ends: NeverEnds,
}

/// The record of an execution.
pub(crate) fn noted(tool: &str, arguments: &Value) -> String {
    format!("{tool} {arguments}")
}

#[async_trait]
impl Tool for Counted {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        self.tool.inspect(arguments)
    }

    async fn run(&self, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput {
        if let Ok(mut executions) = self.executions.lock() {
            executions.push(noted(&self.spec().name, arguments));
        }
        let NeverEnds { like, clock } = &self.never_ends;
        if like.as_ref().is_some_and(|like| arguments.to_string().contains(like)) {
            clock.skip_to(clock.now().after(LONG));
            place.stop.cancelled().await;
            return ToolOutput::error("it was stopped");
        }
        self.tool.run(arguments, place).await
    }
}

/// The standard tools, recorded.
pub(crate) fn standard(
    executions: &Executions,
    never_ends: &NeverEnds,
) -> Result<Registry, Duplicate> {
    let plain = Registry::standard();
    let mut registry = Registry::default();
    for tool in plain.names().filter_map(|name| plain.get(name)) {
        let (executions, never_ends) = (executions.clone(), never_ends.clone());
        registry.register(Arc::new(Counted { tool: tool.clone(), executions, never_ends }))?;
    }
    Ok(registry)
}
