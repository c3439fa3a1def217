//! Errors of snapshots.

use std::io;

use nix::errno::Errno;
use types::Digest;

use crate::error::chain;

/// Why a snapshot could not be taken, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("opening the workspace {root} for snapshots")]
    Root {
        root: String,
        #[source]
        source: io::Error,
    },
    #[error("the snapshot folder is inside the workspace; name one outside it")]
    Inside,
    #[error("{doing} the snapshot folder")]
    Store {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "the snapshot folder is in use; try again when nothing else is working in this workspace"
    )]
    InUse,
    #[error("{doing} {path:?} for a snapshot")]
    Workspace {
        doing: &'static str,
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("keeping a copy of the files to be restored in {folder}; nothing was changed")]
    Aside {
        folder: String,
        #[source]
        source: io::Error,
    },
    #[error("the workspace has more than {most} files, too many for snapshots")]
    TooMany { most: usize },
    #[error("snapshot {} no longer exists", digest.short())]
    Gone { digest: Digest },
    #[error("stored content {} is damaged; nothing that needs it can be restored", digest.short())]
    Damaged { digest: Digest },
}

impl SnapshotError {
    /// The cause in the words of the system, if it has any.
    pub(super) fn why(&self) -> String {
        let cause = match self {
            Self::Workspace { source, .. } => source.raw_os_error(),
            _ => None,
        };
        cause.map_or_else(|| chain(self), |errno| Errno::from_raw(errno).desc().to_owned())
    }
}
