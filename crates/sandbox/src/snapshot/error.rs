//! Errors of snapshots.

use std::io;

use types::Digest;

/// Why a snapshot could not be taken, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("opening the workspace {root} for snapshots")]
    Root {
        root: String,
        #[source]
        source: io::Error,
    },
    #[error("the folder for snapshots is inside of the workspace; give one outside of it")]
    Inside,
    #[error("{doing} the folder for snapshots")]
    Store {
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "the folder for snapshots is in use elsewhere; try again when nothing else works in this workspace"
    )]
    InUse,
    #[error("{doing} {path:?} for a snapshot")]
    Workspace {
        doing: &'static str,
        path: String,
        #[source]
        source: io::Error,
    },
    #[error("the workspace has more than {most} files; no snapshots are taken of it")]
    TooMany { most: usize },
    #[error("the snapshot {} is not kept any more", digest.short())]
    Gone { digest: Digest },
    #[error("the kept content {} is damaged; nothing that needs it can be restored", digest.short())]
    Damaged { digest: Digest },
}
