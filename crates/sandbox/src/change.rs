//! Several changes to files as one step: all of them, or none.

use types::WorkPath;

use crate::{EnvError, Environment};

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
}

impl Change {
    /// Every place that it changes.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &WorkPath> {
        let to = match self {
            Self::Move { to, .. } => Some(to),
            Self::Write { .. } | Self::Delete { .. } => None,
        };
        std::iter::once(self.path()).chain(to)
    }
}

/// Makes the changes in order. When one fails, the files before it get back what they had.
pub(crate) async fn one_by_one<E: Environment + ?Sized>(
    env: &E,
    changes: Vec<Change>,
) -> Result<(), EnvError> {
    if let [change] = changes.as_slice() {
        // One that fails has changed nothing.
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

/// What takes a change back.
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
