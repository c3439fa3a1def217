//! What a call is made with: the environment, what this attempt has seen of its files, and what else it was granted.
//! Whether a file may be changed unread is answered here, by content and not by time, so that the answer is the
//! same after a restart.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sandbox::{EnvError, Environment};
use tokio_util::sync::CancellationToken;
use types::{Digest, ExecRequest, FileState, Millis, ToolPolicy, WorkPath};

use crate::processes::Processes;
use crate::secrets::{Secrets, ShownText};

/// The longest that a command may have where nothing else is set.
const MAX_COMMAND_TIMEOUT: Millis = Millis::seconds(600);

/// The surroundings of one call.
#[derive(Debug)]
pub struct ToolContext<'a> {
    env: &'a dyn Environment,
    seen: &'a FileReadTracker,
    web: Option<&'a dyn Web>,
    secrets: Option<&'a dyn Secrets>,
    stop: &'a CancellationToken,
    command_timeout: Option<Millis>,
    max_command_timeout: Millis,
    variables: BTreeMap<String, String>,
    hosts: Vec<String>,
    asks_for_hosts: bool,
    processes: Option<&'a dyn Processes>,
    noted: Mutex<Vec<FileState>>,
}

/// The network, as far as it was granted. It says no to whatever was not.
#[async_trait]
pub trait Web: Send + Sync + Debug {
    /// What is at an address; at most `max_bytes` of it, after anything that was packed is unpacked.
    async fn fetch(
        &self,
        url: &str,
        max_bytes: usize,
        stop: &CancellationToken,
    ) -> Result<Page, String>;

    /// What the search of the policy finds for some words.
    async fn search(
        &self,
        _query: &str,
        _max_bytes: usize,
        _stop: &CancellationToken,
    ) -> Result<Page, String> {
        Err("there is no search here: the policy sets no search_url in [tools]".to_owned())
    }

    /// Whether a host was granted.
    fn grants(&self, host: &str) -> bool;
}

/// What came from the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub status: u16,
    pub media_type: String,
    /// Where it was in the end.
    pub url: String,
    pub bytes: Vec<u8>,
    /// There was more than was asked for.
    pub more: bool,
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
            web: None,
            secrets: None,
            stop,
            command_timeout: None,
            max_command_timeout: MAX_COMMAND_TIMEOUT,
            variables: BTreeMap::new(),
            hosts: Vec::new(),
            asks_for_hosts: false,
            processes: None,
            noted: Mutex::default(),
        }
    }

    /// The same place, where this call may reach these hosts, too, and whether others can be asked for.
    #[must_use]
    pub fn with_hosts(mut self, hosts: Vec<String>, asks_for_more: bool) -> Self {
        (self.hosts, self.asks_for_hosts) = (hosts, asks_for_more);
        self
    }

    /// Whether a person may be asked for hosts.
    pub(crate) fn asks_for_hosts(&self) -> bool {
        self.asks_for_hosts
    }

    /// The same place with processes that stay in the background.
    #[must_use]
    pub fn with_processes(mut self, processes: Option<&'a dyn Processes>) -> Self {
        self.processes = processes;
        self
    }

    pub(crate) fn processes(&self) -> Option<&'a dyn Processes> {
        self.processes
    }

    /// The same place with the network in reach.
    #[must_use]
    pub fn with_web(mut self, web: Option<&'a dyn Web>) -> Self {
        self.web = web;
        self
    }

    /// The same place, where a command has this long when the model does not say.
    #[must_use]
    pub fn with_command_timeout(mut self, timeout: Option<Millis>) -> Self {
        self.command_timeout = timeout;
        self
    }

    /// The same place with what a policy says about commands.
    #[must_use]
    pub fn with_tool_policy(mut self, policy: &ToolPolicy) -> Self {
        self.command_timeout = policy.command_timeout_ms;
        self.max_command_timeout = policy.max_command_timeout_ms.unwrap_or(MAX_COMMAND_TIMEOUT);
        self.variables.clone_from(&policy.variables);
        self
    }

    /// The longest that a command may have.
    #[must_use]
    pub fn max_command_timeout(&self) -> Millis {
        self.max_command_timeout
    }

    /// A command in this place, with the variables that were set for it.
    pub(crate) fn command(&self, line: String, folder: WorkPath, timeout: Millis) -> ExecRequest {
        let (variables, hosts) = (self.variables.clone(), self.hosts.clone());
        let timeout = timeout.min(self.max_command_timeout);
        ExecRequest { variables, hosts, ..ExecRequest::new(line, folder, timeout) }
    }

    /// How long a command has when the model does not say, where that was set.
    #[must_use]
    pub fn command_timeout(&self) -> Option<Millis> {
        self.command_timeout
    }

    /// The same place, where secrets in files are kept that the model was shown as redacted.
    #[must_use]
    pub fn keeping(mut self, secrets: &'a dyn Secrets) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// A file's content as the model was shown it.
    pub(crate) fn shown<'t>(&self, text: &'t str) -> Option<ShownText<'t>> {
        self.secrets.and_then(|secrets| ShownText::of(text, secrets))
    }

    #[must_use]
    pub fn env(&self) -> &'a dyn Environment {
        self.env
    }

    #[must_use]
    pub fn stop(&self) -> &'a CancellationToken {
        self.stop
    }

    #[must_use]
    pub fn web(&self) -> Option<&'a dyn Web> {
        self.web
    }

    /// A file, which counts as read from now on.
    pub async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let bytes = self.env.read(path).await?;
        self.note(path, Some(&bytes));
        Ok(bytes)
    }

    /// Whether a file that is there with this content may be changed; if not, what the model is to do.
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

    /// Whether a file was read or written as it is now.
    #[must_use]
    pub fn has_seen(&self, path: &WorkPath, bytes: &[u8]) -> bool {
        self.seen.files().get(path).is_some_and(|digest| *digest == Digest::of(bytes))
    }

    /// The files below a folder that were read or written.
    #[must_use]
    pub(crate) fn seen_below(&self, folder: &WorkPath) -> Vec<WorkPath> {
        let above = format!("{folder}/");
        let files = self.seen.files();
        files.keys().filter(|path| path.as_str().starts_with(&above)).cloned().collect()
    }

    /// Whether anything is to be asked before a file is changed.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        self.seen.guarded
    }

    /// Remembers a file as it is now; nothing if it is gone.
    pub fn note(&self, path: &WorkPath, bytes: Option<&[u8]>) {
        let state = FileState { path: path.clone(), digest: bytes.map(Digest::of) };
        self.seen.take(&state);
        locked(&self.noted).push(state);
    }

    /// What this call has read and written.
    pub(crate) fn take_noted(&self) -> Vec<FileState> {
        std::mem::take(&mut *locked(&self.noted))
    }
}

/// What an attempt has seen of its files.
#[derive(Debug, Default)]
pub struct FileReadTracker {
    files: Mutex<BTreeMap<WorkPath, Digest>>,
    guarded: bool,
}

impl FileReadTracker {
    /// Nothing was seen, and it does not matter.
    #[must_use]
    pub fn unguarded() -> Self {
        Self::default()
    }

    /// These were seen, in this order, and what was not is not changed.
    #[must_use]
    pub fn guarded<'f>(files: impl IntoIterator<Item = &'f FileState>) -> Self {
        let seen = Self { guarded: true, ..Self::default() };
        files.into_iter().for_each(|state| seen.take(state));
        seen
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

/// Nothing that holds these locks can break in the middle.
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
        // What was recorded is enough to know it again after a restart.
        let seen = FileReadTracker::guarded(&noted);
        assert_eq!(ToolContext::new(&env, &seen, &stop).may_change(&a, b"1"), Ok(()));
        let free = FileReadTracker::unguarded();
        assert_eq!(ToolContext::new(&env, &free, &stop).may_change(&a, b"2"), Ok(()));
    }
}
