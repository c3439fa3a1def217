//! Processes and workspace files. Every effect of a model's call on this machine goes through this crate, which treats
//! all input as hostile. It knows nothing of models, runs or policy: it carries out requests inside the workspace that
//! it was opened on, or reports why it did not.
//!
//! Other backends, such as a container, implement [`Environment`] and must pass `testkit::environments`. Most methods have
//! defaults; this example keeps files in memory and has no commands:
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

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests make the trees of agents by hand")
)]

mod bounds;
mod bring;
mod by_person;
mod capture;
mod change;
mod child;
#[cfg(target_os = "linux")]
mod confine;
mod content;
mod descriptors;
mod document;
mod durable;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
mod environment;
mod error;
mod free_space;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod git;
mod hook;
mod hosts;
mod jail;
mod job_control;
mod local;
mod memory;
mod mounts;
mod names;
mod output;
mod person_program;
mod placing;
mod process;
mod programs;
mod recent;
mod removal;
mod repository;
mod search;
mod snapshot;
mod ssh_keygen;
mod staging;
mod stamp;
mod stream;
mod sweep;
mod temporary;
mod user;
mod variables;
pub mod venv;
mod wrap;
mod writing;

#[cfg(not(target_os = "linux"))]
use elsewhere as confine;

pub use bounds::{Bounds, Layers, Limits, Objects};
pub use bring::{BringError, Brought, Most, bring, fingerprint};
pub use by_person::{edit_for_person, run_for_person};
pub use change::Change;
pub use confine::{Confine, HelperExe};
pub use descriptors::{is_out_of_descriptors, out_of_descriptors, raise_descriptors};
pub use document::{documents, text};
pub use environment::{Environment, MAX_ENTRIES, MAX_FILE_BYTES, MAX_OUTPUT};
pub use error::{EnvError, chain};
pub use free_space::free_bytes;
pub use git::{
    Author, Edit, EditTo, GitError, GitRequest, Glance, LaidOut, Merged, Repo, Seen, Submodule,
    Taken, is_root, root_of, sweep_history, unsupported_git,
};
pub use hook::{Hook, run_hook};
pub use hosts::{BadHost, HostRefused, Hosts};
pub use job_control::{is_in_foreground, stop_job};
pub use local::{IntentLog, LocalEnvironment};
pub use memory::close_memory;
pub use mounts::mounted_below;
pub use names::folder_name;
pub use output::hand_out;
pub use person_program::{PersonProgram, ProgramOutput};
pub use placing::Placing;
pub use programs::judge_path;
pub use recent::changed_since;
pub use removal::remove;
pub use search::{Found, GlobRequest, GrepRequest, Hits, Line};
pub use snapshot::{
    Before, Content, Difference, How, LeftAlone, Restored, SnapshotError, Snapshots, Swept, Tree,
    Undo,
};
pub use ssh_keygen::{SignatureError, SshKeygen};
pub use stream::{Listener, Stream};
pub use temporary::sweep_temporary;
pub use user::{narrow_umask, user_name};
pub use variables::Variables;
pub use wrap::{ReadOnly, Recorded};
