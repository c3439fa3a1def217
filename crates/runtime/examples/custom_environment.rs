//! A custom environment: files in memory, no commands. A container or another machine works the same way;
//! `testkit::environments` tests any of them against the same rules.
//!
//! ```text
//! cargo run -p runtime --example custom_environment
//! ```

#![expect(clippy::print_stdout, reason = "it talks to the person who started it")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use runtime::sandbox::{EnvError, Environment};
use runtime::store::MemoryJournal;
use runtime::{Bosun, Config, NewSession};
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

#[derive(Debug, Default)]
struct Memory(Mutex<BTreeMap<WorkPath, Vec<u8>>>);

impl Memory {
    fn files(&self) -> MutexGuard<'_, BTreeMap<WorkPath, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Environment for Memory {
    fn facts(&self) -> Facts {
        let word = |text: &str| text.to_owned();
        Facts { platform: word("linux"), os_version: word("none"), working_dir: word("/memory") }
    }

    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let found = self.files().get(path).cloned();
        found.ok_or_else(|| EnvError::NotFound { path: path.clone() })
    }

    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.files().insert(path.clone(), bytes.to_vec());
        Ok(())
    }

    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        let gone = self.files().remove(path);
        gone.map(|_| ()).ok_or_else(|| EnvError::NotFound { path: path.clone() })
    }

    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        Ok(self.files().contains_key(path))
    }

    async fn list(&self, _path: &WorkPath, _depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        let files = self.files();
        let entry = |(path, bytes): (&WorkPath, &Vec<u8>)| DirEntry {
            path: path.clone(),
            folder: false,
            bytes: Some(bytes.len() as u64),
            unnamed: false,
        };
        Ok(files.iter().map(entry).collect())
    }

    async fn exec(
        &self,
        _request: ExecRequest,
        _stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        Err(EnvError::Unsupported { what: "commands" })
    }
}

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "write_file", path = "notes/today.md", content = "High water at 04:12.\n" }
[[attempt.reply]]
say = "It is written down."
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let setup = Config::new(Arc::new(MemoryJournal::new()), folder.path().join("state"));
    let bosun = Bosun::new(setup);
    let model = bosun.keep_script(SCRIPT).await?;
    let memory = Arc::new(Memory::default());
    let mut new = NewSession::new("/memory", model)?;
    new.environment = Some(memory.clone());
    let session = bosun.open(new).await?;
    session.submit("Write down when high water is.").await?;
    session.rest().await;
    session.abort().await?;
    println!("{}", session.last_words().await?);
    for (path, bytes) in memory.files().iter() {
        println!("{path}: {}", String::from_utf8_lossy(bytes).trim_end());
    }
    Ok(())
}
