//! An agent in your own program: open a session, send an input, follow it. Runs offline, with a script as the model:
//!
//! ```text
//! cargo run -p runtime --example embed
//! ```

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::sync::Arc;

use futures::StreamExt as _;
use runtime::store::MemoryJournal;
use runtime::{Bosun, Config, NewSession, Words};

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
say = "Let me look."
call = { tool = "read_file", path = "greeting.txt" }
[[attempt.reply]]
say = "It says hello."
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let workspace = folder.path().join("work");
    std::fs::create_dir(&workspace)?;
    std::fs::write(workspace.join("greeting.txt"), "hello\n")?;

    let setup = Config::new(Arc::new(MemoryJournal::new()), folder.path().join("state"));
    let bosun = Bosun::new(setup);
    // With a key in the environment: "anthropic/claude-sonnet-4-5".parse()?, and Models::with_registry in the config.
    let model = bosun.keep_script(SCRIPT).await?;
    let session = bosun.open(NewSession::new(&workspace, model)?).await?;

    let mut events = Box::pin(session.events_as(Words::Session));
    session.submit("What does greeting.txt say?").await?;
    session.rest().await;
    session.abort().await?;
    while let Some(event) = events.next().await {
        println!("{event}");
    }
    println!("{}", session.last_words().await?);
    Ok(())
}
