//! Background processes of a session, as a tool sees them. Running and ending them is up to the implementation.

use async_trait::async_trait;
use types::{ExecRequest, Millis};

/// State of a background process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessView {
    pub id: u32,
    pub command: String,
    /// How it ended, if it has.
    pub ended: Option<String>,
    /// Output since the last read; of long output, only the end.
    pub output: String,
}

/// Background processes of a session.
#[async_trait]
pub trait Processes: Send + Sync + std::fmt::Debug {
    /// Starts a process and returns its id.
    async fn start(&self, request: ExecRequest) -> Result<u32, String>;

    /// All processes, without their output.
    fn list(&self) -> Vec<ProcessView>;

    /// A process, with its output since the last read. Waits until there is output, the
    /// process ends, or the time is up.
    async fn read(&self, id: u32, wait: Millis) -> Result<ProcessView, String>;

    /// Stops a process and everything that it has started.
    async fn stop(&self, id: u32) -> Result<ProcessView, String>;
}
