//! The processes that a session keeps in the background, as a tool sees them. Who runs them, and when they end, is not known
//! here.

use async_trait::async_trait;
use types::{ExecRequest, Millis};

/// A process in the background, as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessView {
    pub id: u32,
    pub command: String,
    /// How it ended, if it has.
    pub ended: Option<String>,
    /// What it has said since it was last read, of much only the end.
    pub output: String,
}

/// The processes that a session keeps in the background.
#[async_trait]
pub trait Processes: Send + Sync + std::fmt::Debug {
    /// Starts one; its number.
    async fn start(&self, request: ExecRequest) -> Result<u32, String>;

    /// All of them, without what they said.
    fn list(&self) -> Vec<ProcessView>;

    /// One of them with what it has said since it was last read. Waits until it says something or ends, or the time is up.
    async fn read(&self, id: u32, wait: Millis) -> Result<ProcessView, String>;

    /// Ends one, with everything that it has started.
    async fn stop(&self, id: u32) -> Result<ProcessView, String>;
}
