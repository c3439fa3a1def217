//! Wrappers around environments: one that is read-only, one that records requests. They compose in any order, since
//! each is an environment itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

use crate::{Change, EnvError, Environment, Found, GitRequest, GlobRequest, GrepRequest, Hits};

/// A read-only environment. Commands count as changes, because their effects are unknown.
#[derive(Debug, Clone)]
pub struct ReadOnly(pub Arc<dyn Environment>);

/// An environment that records the last requests, in words.
#[derive(Debug, Clone)]
pub struct Recorded {
    inner: Arc<dyn Environment>,
    asked: Arc<Mutex<VecDeque<String>>>,
}

/// Maximum number of requests that are recorded.
const MAX_REMEMBERED: usize = 10_000;

impl Recorded {
    #[must_use]
    pub fn new(inner: Arc<dyn Environment>) -> Self {
        Self { inner, asked: Arc::default() }
    }

    /// The recorded requests, oldest first.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn note(&self, what: String) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.len() == MAX_REMEMBERED {
            asked.pop_front();
        }
        asked.push_back(what);
    }
}

#[async_trait]
impl Environment for ReadOnly {
    fn facts(&self) -> Facts {
        self.0.facts()
    }
    async fn initialize(&self) -> Result<(), EnvError> {
        self.0.initialize().await
    }
    async fn cleanup(&self) -> Result<(), EnvError> {
        self.0.cleanup().await
    }
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        self.0.read(path).await
    }
    async fn write(&self, _path: &WorkPath, _bytes: &[u8]) -> Result<(), EnvError> {
        Err(EnvError::ReadOnly)
    }
    async fn delete(&self, _path: &WorkPath) -> Result<(), EnvError> {
        Err(EnvError::ReadOnly)
    }
    async fn rename(&self, _from: &WorkPath, _to: &WorkPath) -> Result<(), EnvError> {
        Err(EnvError::ReadOnly)
    }
    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        self.0.exists(path).await
    }
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        self.0.list(path, depth).await
    }
    async fn apply(&self, _changes: Vec<Change>) -> Result<(), EnvError> {
        Err(EnvError::ReadOnly)
    }
    async fn grep(
        &self,
        request: GrepRequest,
        stop: &CancellationToken,
    ) -> Result<Found<Hits>, EnvError> {
        self.0.grep(request, stop).await
    }
    async fn glob(
        &self,
        request: GlobRequest,
        stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        self.0.glob(request, stop).await
    }
    async fn git(&self, request: GitRequest) -> Result<String, EnvError> {
        match request {
            GitRequest::Diff { .. } => self.0.git(request).await,
            GitRequest::Commit { .. } | GitRequest::Change { .. } | GitRequest::Clone { .. } => {
                Err(EnvError::ReadOnly)
            }
        }
    }
    async fn exec(
        &self,
        _request: ExecRequest,
        _stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        Err(EnvError::ReadOnly)
    }
}

#[async_trait]
impl Environment for Recorded {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }
    async fn initialize(&self) -> Result<(), EnvError> {
        self.note("initialize".to_owned());
        self.inner.initialize().await
    }
    async fn cleanup(&self) -> Result<(), EnvError> {
        self.note("cleanup".to_owned());
        self.inner.cleanup().await
    }
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        self.note(format!("read {path}"));
        self.inner.read(path).await
    }
    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.note(format!("write {path} ({} bytes)", bytes.len()));
        self.inner.write(path, bytes).await
    }
    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        self.note(format!("delete {path}"));
        self.inner.delete(path).await
    }
    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
        self.note(format!("rename {from} to {to}"));
        self.inner.rename(from, to).await
    }
    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        self.note(format!("exists {path}"));
        self.inner.exists(path).await
    }
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        self.note(format!("list {path} depth {depth}"));
        self.inner.list(path, depth).await
    }
    async fn apply(&self, changes: Vec<Change>) -> Result<(), EnvError> {
        for change in &changes {
            self.note(format!("apply {}", change.path()));
        }
        self.inner.apply(changes).await
    }
    async fn grep(
        &self,
        request: GrepRequest,
        stop: &CancellationToken,
    ) -> Result<Found<Hits>, EnvError> {
        self.note(format!("grep {:?} in {}", request.pattern, request.path));
        self.inner.grep(request, stop).await
    }
    async fn glob(
        &self,
        request: GlobRequest,
        stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        self.note(format!("glob {:?} in {}", request.pattern, request.path));
        self.inner.glob(request, stop).await
    }
    async fn git(&self, request: GitRequest) -> Result<String, EnvError> {
        self.note(format!("git {request:?}"));
        self.inner.git(request).await
    }
    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        let ExecRequest { command, folder, timeout, .. } = &request;
        self.note(format!("exec {command:?} in {folder} within {} ms", timeout.0));
        self.inner.exec(request, stop).await
    }
}
