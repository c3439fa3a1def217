//! A change to a file, as data. How changes are made, all of them or none, is up to the environment.

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
    /// Nothing but a file is at the new place, which a file replaces.
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

    /// Every place that it changes.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkPath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            Self::Write { .. } | Self::Delete { .. } => None,
        };
        std::iter::once(self.path()).chain(to)
    }
}
