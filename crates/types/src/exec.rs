//! Commands and files as an environment sees them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Digest, Millis, WorkPath};

/// A large text or file, stored under its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    pub digest: Digest,
    pub bytes: u64,
}

/// A command to run in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// A shell command line.
    pub command: String,
    /// Its working folder, inside the workspace.
    pub folder: WorkPath,
    pub timeout: Millis,
    /// Variables for this command alone. An environment drops those that make programs load code.
    pub variables: BTreeMap<String, String>,
    /// Hosts that this command may reach in addition to those of its environment.
    pub hosts: Vec<String>,
    /// Whether it stays in the background: later commands share its network, so that they can reach its servers.
    pub background: bool,
}

impl ExecRequest {
    /// A command without variables of its own.
    #[must_use]
    pub fn new(command: String, folder: WorkPath, timeout: Millis) -> Self {
        let (variables, hosts, background) = (BTreeMap::new(), vec![], false);
        Self { command, folder, timeout, variables, hosts, background }
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecResult {
    pub ended: Ended,
    /// Standard output and standard error interleaved as they arrived, up to the cap.
    pub output: String,
    /// Standard output alone, and standard error alone, each up to the cap.
    pub stdout: String,
    pub stderr: String,
    /// The bytes beyond the cap.
    pub dropped: u64,
    pub elapsed: Millis,
}

impl ExecResult {
    #[must_use]
    pub fn passed(&self) -> bool {
        self.ended == Ended::Exited(0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Stopped,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit {code}"),
            Self::Signalled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

/// Facts about the environment of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// `linux`, `darwin` or `win32`.
    pub platform: String,
    /// As the system reports it.
    pub os_version: String,
    /// The folder that paths are relative to.
    pub working_dir: String,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirEntry {
    pub path: WorkPath,
    pub folder: bool,
    /// `None` for a folder.
    pub bytes: Option<u64>,
    /// Whether no path can name it, for example because of control characters or invalid UTF-8; the path then shows it
    /// escaped, in quotes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unnamed: bool,
}
