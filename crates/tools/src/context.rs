//! Context of a tool call: the environment, the files that this attempt has seen, and further grants. Decides
//! whether a file may be changed unread, by content and not by time, so that the answer is the same after a restart.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sandbox::{EnvError, Environment};
use tokio_util::sync::CancellationToken;
use types::{Digest, ExecRequest, FileState, Millis, ToolPolicy, WorkPath};

use crate::secrets::{Secrets, ShownText};

/// Default limit on the timeout of a command.
const MAX_COMMAND_TIMEOUT: Millis = Millis::seconds(600);

/// Context of one call.
#[derive(Debug)]
pub struct ToolContext<'a> {
    pub env: &'a dyn Environment,
    seen: &'a FileReadTracker,
    pub stop: &'a CancellationToken,
    pub web: Option<&'a dyn Web>,
    /// Detects secrets that were shown to the model as redacted, to preserve them in files.
    pub secrets: Option<&'a dyn Secrets>,
    /// Settings for commands.
    pub policy: ToolPolicy,
    /// Hosts that this call is granted besides those of the policy.
    pub hosts: Vec<String>,
    /// Whether the user may be asked for hosts.
    pub asks_for_hosts: bool,
    /// Background processes.
    pub processes: Option<&'a dyn Processes>,
    noted: Mutex<Vec<FileState>>,
}

/// Network access, as far as it was granted. Refuses everything else.
#[async_trait]
pub trait Web: Send + Sync + Debug {
    /// Fetches a URL; at most `max_bytes` of it, after decompression.
    async fn fetch(
        &self,
        url: &str,
        max_bytes: usize,
        stop: &CancellationToken,
    ) -> Result<Page, String>;

    /// Runs a query on the search configured in the policy.
    async fn search(
        &self,
        _query: &str,
        _max_bytes: usize,
        _stop: &CancellationToken,
    ) -> Result<Page, String> {
        Err("there is no search here: the policy sets no search_url in [tools]".to_owned())
    }

    /// Whether access to a host was granted.
    fn grants(&self, host: &str) -> bool;
}

/// A response from the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    pub media_type: String,
    /// Final URL, after redirects.
    pub url: String,
    pub bytes: Vec<u8>,
    /// The response was longer than the limit.
    pub more: bool,
}

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
pub trait Processes: Send + Sync + Debug {
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

impl<'a> ToolContext<'a> {
    #[must_use]
    pub fn new(
        env: &'a dyn Environment,
        seen: &'a FileReadTracker,
        stop: &'a CancellationToken,
    ) -> Self {
        Self {
            env,
            seen,
            stop,
            web: None,
            secrets: None,
            policy: ToolPolicy::default(),
            hosts: Vec::new(),
            asks_for_hosts: false,
            processes: None,
            noted: Mutex::default(),
        }
    }

    /// Maximum timeout of a command.
    #[must_use]
    pub fn max_command_timeout(&self) -> Millis {
        self.policy.max_command_timeout_ms.unwrap_or(MAX_COMMAND_TIMEOUT)
    }

    /// Builds a command with the configured variables.
    pub(crate) fn command(&self, line: String, folder: WorkPath, timeout: Millis) -> ExecRequest {
        let (variables, hosts) = (self.policy.variables.clone(), self.hosts.clone());
        let timeout = timeout.min(self.max_command_timeout());
        ExecRequest { variables, hosts, ..ExecRequest::new(line, folder, timeout) }
    }

    /// A file's content as it was shown to the model.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Option<ShownText<'t>> {
        self.secrets.and_then(|secrets| ShownText::of(text, secrets))
    }

    /// Reads a file, which counts as read from now on.
    pub async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let bytes = self.env.read(path).await?;
        self.note(path, Some(&bytes));
        Ok(bytes)
    }

    /// Whether an existing file with this content may be changed; the error tells the model what to do.
    pub fn may_change(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), String> {
        if !self.seen.guarded {
            return Ok(());
        }
        match self.seen.files().get(path) {
            Some(digest) if *digest == Digest::of(bytes) => Ok(()),
            Some(_) => Err(format!(
                "{path} has changed since it was last read; read it again before changing it"
            )),
            None => Err(format!("{path} exists and was not read yet; read it before changing it")),
        }
    }

    /// Whether a file was read or written in its current state.
    #[must_use]
    pub fn has_seen(&self, path: &WorkPath, bytes: &[u8]) -> bool {
        self.seen.files().get(path).is_some_and(|digest| *digest == Digest::of(bytes))
    }

    /// Files below a folder that were read or written.
    #[must_use]
    pub(crate) fn seen_below(&self, folder: &WorkPath) -> Vec<WorkPath> {
        let above = format!("{folder}/");
        let files = self.seen.files();
        files.keys().filter(|path| path.as_str().starts_with(&above)).cloned().collect()
    }

    /// Whether files must be read before they are changed.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.seen.guarded
    }

    /// Records the current state of a file; `None` if it is gone.
    pub fn note(&self, path: &WorkPath, bytes: Option<&[u8]>) {
        let state = FileState { path: path.clone(), digest: bytes.map(Digest::of) };
        self.seen.take(&state);
        locked(&self.noted).push(state);
    }

    /// Drains the states of the files that this call has read and written.
    pub(crate) fn take_noted(&self) -> Vec<FileState> {
        std::mem::take(&mut *locked(&self.noted))
    }
}

/// Files that an attempt has seen.
#[derive(Debug, Default)]
pub struct FileReadTracker {
    files: Mutex<BTreeMap<WorkPath, Digest>>,
    guarded: bool,
}

impl FileReadTracker {
    /// A tracker without the guard: files may be changed unread.
    #[must_use]
    pub fn unguarded() -> Self {
        Self::default()
    }

    /// The same, after these files were seen, in this order.
    #[must_use]
    pub fn having_seen<'f>(self, files: impl IntoIterator<Item = &'f FileState>) -> Self {
        files.into_iter().for_each(|state| self.take(state));
        self
    }

    /// A tracker with the guard: these files were seen, in this order, and unseen files must not be changed.
    #[must_use]
    pub fn guarded<'f>(files: impl IntoIterator<Item = &'f FileState>) -> Self {
        Self { guarded: true, ..Self::default() }.having_seen(files)
    }

    fn take(&self, state: &FileState) {
        let mut files = self.files();
        match state.digest {
            Some(digest) => files.insert(state.path.clone(), digest),
            None => files.remove(&state.path),
        };
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<WorkPath, Digest>> {
        locked(&self.files)
    }
}

/// Code that holds these locks cannot panic midway, so a poisoned lock is still consistent.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use sandbox::LocalEnvironment;

    use super::*;

    #[tokio::test]
    async fn a_file_may_be_changed_by_who_has_read_it_as_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("a"), "1").expect("a file");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let (stop, seen) = (CancellationToken::new(), FileReadTracker::guarded([]));
        let place = ToolContext::new(&env, &seen, &stop);
        let a: WorkPath = "a".parse().expect("a path");
        assert!(place.may_change(&a, b"1").expect_err("unread").contains("was not read yet"));
        place.read(&a).await.expect("a file");
        assert_eq!(place.may_change(&a, b"1"), Ok(()));
        assert!(place.may_change(&a, b"2").expect_err("changed").contains("has changed since"));
        let noted = place.take_noted();
        assert_eq!(noted.len(), 1);
        // The recorded states suffice to recognize the file after a restart.
        let seen = FileReadTracker::guarded(&noted);
        assert_eq!(ToolContext::new(&env, &seen, &stop).may_change(&a, b"1"), Ok(()));
        let free = FileReadTracker::unguarded();
        assert_eq!(ToolContext::new(&env, &free, &stop).may_change(&a, b"2"), Ok(()));
    }
}
