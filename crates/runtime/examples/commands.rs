//! An agent that runs a command in the sandbox that the shipped policies require. The program re-executes itself as the
//! sandbox helper, so `HelperExe::enter` comes first in `main`.
//!
//! ```text
//! cargo run -p runtime --example commands
//! ```

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::sync::Arc;

use runtime::sandbox::HelperExe;
use runtime::store::MemoryJournal;
use runtime::types::{Event, LogId};
use runtime::{Bosun, Config, NewSession};

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "shell", command = "echo high water at 04:12" }
[[attempt.reply]]
say = "I have looked."
"#;

fn main() -> anyhow::Result<()> {
    let helper_exe = HelperExe::enter();
    tokio::runtime::Runtime::new()?.block_on(talk(helper_exe))
}

async fn talk(helper_exe: HelperExe) -> anyhow::Result<()> {
    let (folder, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let setup = Config::walled(Arc::new(MemoryJournal::new()), state.path(), helper_exe);
    let bosun = Bosun::new(setup);
    let model = bosun.keep_script(SCRIPT).await?;
    let session = bosun.open(NewSession::new(folder.path(), model)?).await?;
    session.submit("When is high water?").await?;
    session.rest().await;
    let log = LogId::run(session.id().clone());
    for line in bosun.journal().read(&log, 0, 1_000).await? {
        match line.event {
            Event::SandboxProbed { proof, .. } => println!("held by {}", proof.level.as_str()),
            Event::ToolFinished { output, .. } => println!("{}", output.text.trim_end()),
            Event::ToolRefused { decision, .. } => println!("refused: {}", decision.reason),
            _ => {}
        }
    }
    println!("{}", session.last_words().await?);
    session.abort().await?;
    Ok(())
}
