//! Processes and workspace files. Everything that a model's call can do to this machine goes through here, and
//! everything here treats what it is given as hostile. It knows no models, runs or policy: it does what it is
//! told, inside the workspace that it was opened on, or says why not.
//!
//! Another place, such as a container, is another [`Environment`], held to the same rules by [`conformance`]. Most of
//! it has defaults; this one keeps files in memory and has no commands:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Mutex;
//!
//! use sandbox::{EnvError, Environment};
//! use tokio_util::sync::CancellationToken;
//! use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};
//!
//! #[derive(Debug, Default)]
//! struct Memory(Mutex<BTreeMap<WorkPath, Vec<u8>>>);
//!
//! #[async_trait::async_trait]
//! impl Environment for Memory {
//!     fn facts(&self) -> Facts {
//!         let word = |text: &str| text.to_owned();
//!         Facts { platform: word("linux"), os_version: word("none"), working_dir: word("/memory") }
//!     }
//!     async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
//!         let files = self.0.lock().expect("no panic");
//!         files.get(path).cloned().ok_or_else(|| EnvError::NotFound { path: path.clone() })
//!     }
//!     async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
//!         self.0.lock().expect("no panic").insert(path.clone(), bytes.to_vec());
//!         Ok(())
//!     }
//!     async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
//!         let gone = self.0.lock().expect("no panic").remove(path);
//!         gone.map(|_| ()).ok_or_else(|| EnvError::NotFound { path: path.clone() })
//!     }
//!     async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
//!         Ok(self.0.lock().expect("no panic").contains_key(path))
//!     }
//!     async fn list(&self, _path: &WorkPath, _depth: u32) -> Result<Vec<DirEntry>, EnvError> {
//!         let files = self.0.lock().expect("no panic");
//!         let entry = |path: &WorkPath| DirEntry {
//!             path: path.clone(),
//!             folder: false,
//!             bytes: None,
//!             unnamed: false,
//!         };
//!         Ok(files.keys().map(entry).collect())
//!     }
//!     async fn exec(
//!         &self,
//!         _request: ExecRequest,
//!         _stop: &CancellationToken,
//!     ) -> Result<ExecResult, EnvError> {
//!         Err(EnvError::Unsupported { what: "commands" })
//!     }
//! }
//! # let _: Box<dyn Environment> = Box::new(Memory::default());
//! ```

mod bring;
mod capture;
mod change;
mod child;
#[cfg(target_os = "linux")]
mod confine;
pub mod conformance;
mod document;
mod durable;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod git;
mod hosts;
mod jail;
mod local;
mod memory;
mod names;
mod process;
mod recent;
mod search;
mod snapshot;
mod ssh_keygen;
mod stream;
mod sweep;
mod temporary;
mod variables;
pub mod venv;
mod wrap;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

#[cfg(not(target_os = "linux"))]
use elsewhere as confine;

pub use bring::{BringError, Brought, Most, Sharing, bring, fingerprint, remove};
pub use change::Change;
pub use confine::{Confine, HelperExe, Limits};
pub use document::{documents, text};
pub use error::{EnvError, chain};
pub use git::{
    Edit, EditTo, GitError, GitRequest, Glance, Merged, Repo, Submodule, Taken, root_of,
};
pub use hosts::{BadHost, HostRefused, Hosts};
pub use local::{IntentLog, LocalEnvironment};
pub use memory::close_memory;
pub use names::folder_name;
pub use recent::changed_since;
pub use search::{Found, GlobRequest, GrepRequest, Hits, Line};
pub use snapshot::{
    Content, Difference, How, LeftAlone, Restored, SnapshotError, Snapshots, Swept, Tree,
};
pub use ssh_keygen::{SignatureError, SshKeygen};
pub use stream::{Listener, Stream};
pub use temporary::sweep_temporary;
pub use variables::{CORE, Variables};
pub use wrap::{ReadOnly, Recorded};

/// A place where files are and commands run. Bytes in, bytes out: nothing is numbered, cut or coloured here.
#[async_trait]
pub trait Environment: Send + Sync + std::fmt::Debug {
    /// What is known of the place: its system, its folder.
    fn facts(&self) -> Facts;

    /// Looks whether the place is there and can be worked in. To be called first; calling it again is harmless.
    async fn initialize(&self) -> Result<(), EnvError> {
        self.list(&WorkPath::root(), 1).await.map(|_| ())
    }

    /// Gives back what the place holds beside its files. Nothing is asked of it afterwards.
    async fn cleanup(&self) -> Result<(), EnvError> {
        Ok(())
    }

    /// The whole of a regular file.
    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError>;

    /// Replaces or creates a file in one step, with the folders above it; an existing file keeps its mode.
    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError>;

    /// Removes a file, a link or an empty folder; what is not there is an error.
    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError>;

    /// Moves a file, or a folder with all that is in it, and makes the folders above its new place. A file that is
    /// there already is replaced by a file and by nothing else. A link is moved, not followed.
    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
        let (bytes, replaces) = (self.read(from).await?, self.exists(to).await?);
        self.write(to, &bytes).await?;
        match self.delete(from).await {
            // It is not in two places.
            Err(cause) if !replaces => match self.delete(to).await {
                Ok(()) => Err(cause),
                Err(_) => Err(EnvError::HalfDone { paths: to.to_string(), cause: Box::new(cause) }),
            },
            done => done,
        }
    }

    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError>;

    /// What is below a folder, sorted by path, `depth` levels deep, [`MAX_ENTRIES`] at most.
    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError>;

    /// Makes several changes, all of them or none. If one fails, those before it are taken back. An environment may know
    /// after a crash what became of them, so a tool that has changed files like this changes nothing more.
    async fn apply(&self, changes: Vec<Change>) -> Result<(), EnvError> {
        change::one_by_one(self, changes).await
    }

    /// Searches the content of files, sorted by path. Ignored files are left out where that is known.
    async fn grep(
        &self,
        request: GrepRequest,
        stop: &CancellationToken,
    ) -> Result<Found<Hits>, EnvError> {
        search::grep_by_listing(self, &request, stop).await
    }

    /// Searches files by name, newest first where times are known, else by path.
    async fn glob(
        &self,
        request: GlobRequest,
        _stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        search::glob_by_listing(self, &request).await
    }

    /// Git in the workspace, without network. An environment that has no git says so.
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

/// The most entries that one listing holds.
pub const MAX_ENTRIES: usize = 10_000;

/// How much of a command's output is held in memory; of more, the beginning and the end.
pub const MAX_OUTPUT: usize = capture::CAP_BYTES;

/// The largest file that is read into memory.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
