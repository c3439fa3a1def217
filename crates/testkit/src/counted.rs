//! Tools that keep a list of what was really executed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use runtime::tools::{Duplicate, Place, Registry, Tool};
use serde_json::Value;
use types::{Inspection, ToolOutput, ToolSpec};

/// Every execution, as tool and arguments.
pub(crate) type Executions = Arc<Mutex<Vec<String>>>;

#[derive(Debug)]
struct Counted {
    tool: Arc<dyn Tool>,
    executions: Executions,
}

/// How an execution is noted down.
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

    async fn run(&self, arguments: &Value, place: &Place<'_>) -> ToolOutput {
        if let Ok(mut executions) = self.executions.lock() {
            executions.push(noted(&self.spec().name, arguments));
        }
        self.tool.run(arguments, place).await
    }
}

/// The standard tools, counted.
pub(crate) fn standard(executions: &Executions) -> Result<Registry, Duplicate> {
    let plain = Registry::standard();
    let mut registry = Registry::empty();
    for tool in plain.names().filter_map(|name| plain.get(name)) {
        let executions = executions.clone();
        registry.register(Arc::new(Counted { tool: tool.clone(), executions }))?;
    }
    Ok(registry)
}
