//! A change to a file, as data. Environments decide how to apply several changes atomically.

use types::WorkPath;

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Write {
        path: WorkPath,
        bytes: Vec<u8>,
    },
    Delete {
        path: WorkPath,
    },
    /// A file replaces an existing file at `to`; any other existing target is an error.
    Move {
        path: WorkPath,
        to: WorkPath,
    },
}

impl Change {
    #[must_use]
    pub fn path(&self) -> &WorkPath {
        match self {
            Self::Write { path, .. } | Self::Delete { path } | Self::Move { path, .. } => path,
        }
    }

    /// All paths that the change affects.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkPath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            Self::Write { .. } | Self::Delete { .. } => None,
        };
        std::iter::once(self.path()).chain(to)
    }
}
