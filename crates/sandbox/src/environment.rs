//! The `Environment` trait: a workspace with files and commands. The defaults need nothing but an implementation's own
//! listing and file access; faster searches and crash-safe changes are up to each implementation.

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

use crate::capture;
use crate::change::Change;
use crate::error::EnvError;
use crate::git::GitRequest;
use crate::search::{
    Found, GlobRequest, GrepRequest, Hits, Include, MAX_UNNAMED, below, glob_of, matcher,
    search_slice,
};

/// Maximum number of entries in one listing.
pub const MAX_ENTRIES: usize = 10_000;

/// Maximum output of a command held in memory; of longer output, the beginning and the end are kept.
pub const MAX_OUTPUT: usize = capture::CAP_BYTES;

/// The largest file that is read into memory.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A workspace in which files are accessed and commands run. Content is raw bytes: lines are not numbered, truncated or
/// coloured here.
#[async_trait]
pub trait Environment: Send + Sync + std::fmt::Debug {
    /// Facts about the environment: its system, its folder.
    fn facts(&self) -> Facts;

    /// Checks that the workspace exists and is usable. Must be called first; calling it again is harmless.
    async fn initialize(&self) -> Result<(), EnvError> {
        self.list(&WorkPath::root(), 1).await.map(|_| ())
    }

    /// Releases resources other than files. No calls may follow.
    async fn cleanup(&self) -> Result<(), EnvError> {
        Ok(())
    }

    /// Reads a whole regular file.
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError>;

    /// Replaces or creates a file in one step, with the folders above it; an existing file keeps its mode.
    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError>;

    /// Removes a file, a link or an empty folder. A missing path is an error.
    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError>;

    /// Moves a file, or a folder with its contents, and creates the folders above its new path. A file replaces an
    /// existing file; any other existing target is an error. A link is moved, not followed.
    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
        let (bytes, replaces) = (self.read(from).await?, self.exists(to).await?);
        self.write(to, &bytes).await?;
        match self.delete(from).await {
            // Undo the copy, so that the file is not in two places.
            Err(cause) if !replaces => match self.delete(to).await {
                Ok(()) => Err(cause),
                Err(_) => Err(EnvError::HalfDone { paths: to.to_string(), cause: Box::new(cause) }),
            },
            done => done,
        }
    }

    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError>;

    /// Lists the entries below a folder, sorted by path, `depth` levels deep, at most [`MAX_ENTRIES`].
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError>;

    /// Makes several changes, all or none. If one fails, those before it are undone. An environment may be able to tell
    /// after a crash what became of them, so a tool that has changed files this way must make no further changes.
    async fn apply(&self, changes: Vec<Change>) -> Result<(), EnvError> {
        one_by_one(self, changes).await
    }

    /// Searches file contents, sorted by path. Ignored files are left out where the ignore rules are known.
    async fn grep(
        &self,
        request: GrepRequest,
        stop: &CancellationToken,
    ) -> Result<Found<Hits>, EnvError> {
        grep_by_listing(self, &request, stop).await
    }

    /// Searches files by name, newest first where times are known, else by path.
    async fn glob(
        &self,
        request: GlobRequest,
        _stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        glob_by_listing(self, &request).await
    }

    /// Runs git in the workspace, without network. Environments without git return [`EnvError::Unsupported`].
    async fn git(&self, _request: GitRequest) -> Result<String, EnvError> {
        Err(EnvError::Unsupported { what: "git" })
    }

    /// Runs a command until it ends, its time is up, or `stop` is cancelled.
    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError>;
}

/// Makes the changes in order. If one fails, restores the files changed before it.
pub(crate) async fn one_by_one<E: Environment + ?Sized>(
    env: &E,
    changes: Vec<Change>,
) -> Result<(), EnvError> {
    if let [change] = changes.as_slice() {
        // A single change that fails has changed nothing.
        return make(env, change).await;
    }
    let mut undo: Vec<Change> = Vec::new();
    for change in changes {
        let before = match before(env, &change).await {
            Ok(before) => before,
            Err(error) => return take_back(env, undo, error).await,
        };
        if let Err(error) = make(env, &change).await {
            return take_back(env, undo, error).await;
        }
        undo.push(before);
    }
    Ok(())
}

/// The change that undoes `change`.
async fn before<E: Environment + ?Sized>(env: &E, change: &Change) -> Result<Change, EnvError> {
    let path = change.path().clone();
    if let Change::Move { to, .. } = change {
        return Ok(Change::Move { path: to.clone(), to: path });
    }
    match env.read(&path).await {
        Ok(bytes) => Ok(Change::Write { path, bytes }),
        Err(EnvError::NotFound { .. } | EnvError::NotAFolder { .. }) => Ok(Change::Delete { path }),
        Err(error) => Err(error),
    }
}

async fn make<E: Environment + ?Sized>(env: &E, change: &Change) -> Result<(), EnvError> {
    match change {
        Change::Write { path, bytes } => env.write(path, bytes).await,
        Change::Delete { path } => env.delete(path).await,
        Change::Move { path, to } => env.rename(path, to).await,
    }
}

async fn take_back<E: Environment + ?Sized>(
    env: &E,
    undo: Vec<Change>,
    cause: EnvError,
) -> Result<(), EnvError> {
    let mut stuck = Vec::new();
    for change in undo.iter().rev() {
        if make(env, change).await.is_err() {
            stuck.push(change.path().to_string());
        }
    }
    if stuck.is_empty() {
        return Err(cause);
    }
    Err(EnvError::HalfDone { paths: stuck.join(", "), cause: Box::new(cause) })
}

/// Content search based only on the environment's own listing and files.
async fn grep_by_listing<E: Environment + ?Sized>(
    env: &E,
    request: &GrepRequest,
    stop: &CancellationToken,
) -> Result<Found<Hits>, EnvError> {
    let matcher = matcher(request)?;
    let include = Include::new(request.include.as_deref())?;
    let mut items: Vec<Hits> = Vec::new();
    let mut left = request.max;
    let (files, unnamed) = files(env, &request.path).await?;
    for path in files.into_iter().filter(|path| include.takes(path.as_str())) {
        if stop.is_cancelled() || left == 0 {
            return Ok(Found { items, more: true, unnamed });
        }
        // An unreadable file has no matches; a search does not report it.
        let Ok(bytes) = env.read(&path).await else { continue };
        if let Some(hits) = search_slice(&matcher, request.context, left, path, &bytes) {
            left = left.saturating_sub(usize::try_from(hits.count).unwrap_or(usize::MAX));
            items.push(hits);
        }
    }
    Ok(Found { items, more: left == 0, unnamed })
}

/// Name search based only on the environment's own listing; sorted by path, since a listing has no times.
async fn glob_by_listing<E: Environment + ?Sized>(
    env: &E,
    request: &GlobRequest,
) -> Result<Found<WorkPath>, EnvError> {
    let glob = glob_of(&request.pattern)?;
    let (mut items, unnamed) = files(env, &request.path).await?;
    items.retain(|path| glob.is_match(below(path.as_str(), &request.path)));
    let more = items.len() > request.max;
    items.truncate(request.max);
    Ok(Found { items, more, unnamed })
}

/// The files below a path, and the names that no path can express.
async fn files<E: Environment + ?Sized>(
    env: &E,
    path: &WorkPath,
) -> Result<(Vec<WorkPath>, Vec<String>), EnvError> {
    let entries = match env.list(path, u32::MAX).await {
        Ok(entries) => entries,
        Err(EnvError::NotAFolder { path }) => return Ok((vec![path], vec![])),
        Err(error) => return Err(error),
    };
    let unnamed = entries.iter().filter(|entry| entry.unnamed).take(MAX_UNNAMED);
    let unnamed = unnamed.map(|entry| entry.path.to_string()).collect();
    let files = entries.into_iter().filter(|entry| !entry.folder && !entry.unnamed);
    Ok((files.map(|entry| entry.path).collect(), unnamed))
}
