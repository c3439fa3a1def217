//! A session with a model at a given address and without a sandbox. `bosun` never works like that if the machine has
//! one; `cargo xtask bench session` uses it to measure the cost of the sandbox:
//!
//! ```text
//! cargo run -p runtime --example bare -- http://127.0.0.1:8080 FOLDER STATE
//! ```

#![expect(clippy::disallowed_methods, reason = "it is a program of its own, with words of its own")]

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use runtime::llm::{Http, Registry, Settings};
use runtime::store::SqliteJournal;
use runtime::{Bosun, Config, Models, NewSession};
use types::{IsolationLevel, Millis};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().context("an address, a folder and a place for the journal");
    let (address, folder, state) = (next()?, PathBuf::from(next()?), PathBuf::from(next()?));
    let settings = format!(
        "[providers.anthropic]\nbase_url = {address:?}\nkey_env = []\nkey_needed = false\n"
    );
    let transport = Arc::new(Http::new(Millis::seconds(10)));
    let registry = Registry::new(Settings::parse(&settings)?, |_| None, transport)?;
    let journal = SqliteJournal::open(&state.join("journal.db")).await?;
    let mut setup = Config::new(Arc::new(journal), state);
    setup.models = Models::default().with_registry(Arc::new(registry));

    let mut new = NewSession::new(&folder, "anthropic/claude-sonnet-4-5".parse()?)?;
    new.policy.headless = true;
    new.policy.sandbox.require = IsolationLevel::None;
    new.policy.session.max_rounds = 0;
    let session = Bosun::new(setup).open(new).await?;
    session.submit("Say how the tide is.").await?;
    session.rest().await;
    session.suspend().await?;
    Ok(())
}
