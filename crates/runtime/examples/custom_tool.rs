//! A custom tool beside the shipped ones: it declares what a call would touch, for the rules, and returns a text for
//! the model. Failures are texts for the model too.
//!
//! ```text
//! cargo run -p runtime --example custom_tool
//! ```

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::sync::Arc;

use async_trait::async_trait;
use runtime::store::MemoryJournal;
use runtime::tools::{Tool, ToolContext};
use runtime::{Bosun, Config, NewSession};
use serde_json::{Value, json};
use types::{Access, CallFacts, Inspection, Repeat, ToolOutput, ToolSpec};

/// The time of high water.
#[derive(Debug)]
struct Tide {
    spec: ToolSpec,
}

impl Tide {
    fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "harbour": { "type": "string" } },
            "required": ["harbour"],
            "additionalProperties": false,
        });
        let (name, description) = ("tide".to_owned(), "When it is high water.".to_owned());
        Self { spec: ToolSpec { name, description, schema } }
    }
}

#[async_trait]
impl Tool for Tide {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, _arguments: &Value) -> Inspection {
        // It reads, touches no file, and can be repeated after a crash.
        Inspection::Would(CallFacts::new(Access::Read, Repeat::Safe))
    }

    async fn run(&self, arguments: &Value, _place: &ToolContext<'_>) -> ToolOutput {
        match arguments["harbour"].as_str() {
            Some("Brest") => ToolOutput::ok("04:12 and 16:37"),
            _ => ToolOutput::error("only Brest is known; ask for that"),
        }
    }
}

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "tide", harbour = "Brest" }
[[attempt.reply]]
say = "High water in Brest is at 04:12 and 16:37."
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut setup = Config::new(Arc::new(MemoryJournal::new()), folder.path().join("state"));
    setup.registry.register(Arc::new(Tide::new()))?;
    let bosun = Bosun::new(setup);
    let model = bosun.keep_script(SCRIPT).await?;
    let mut new = NewSession::new(folder.path(), model)?;
    for role in new.policy.roles.values_mut() {
        role.tools.push("tide".to_owned());
    }
    let session = bosun.open(new).await?;
    session.submit("When is high water in Brest?").await?;
    session.rest().await;
    println!("{}", session.last_words().await?);
    session.abort().await?;
    Ok(())
}
