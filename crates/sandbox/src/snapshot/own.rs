//! Attributes changes to a call. A call that names its files has changed those and no others, whatever else happened
//! meanwhile; only such a call can change ignored files on record. Any other call, such as a command, has changed
//! whatever differs afterwards, which may include what the user did while it ran.

use std::path::PathBuf;

use types::{Digest, Trees};

use super::diff::{self, Change};
use super::error::SnapshotError;
use super::manifest::{self, Entries, Entry};
use super::{Snapshots, head};

/// The workspace before a call.
#[derive(Debug, Clone)]
pub struct Before {
    tree: Digest,
    /// The files that the call names; a folder stands for everything below it.
    own: Option<Vec<PathBuf>>,
    head: Option<Vec<u8>>,
}

impl Snapshots {
    /// The workspace before a call, with its snapshot if that is known already. `own` are the files that the call
    /// names, if it changes no others.
    pub fn before(
        &self,
        known: Option<Digest>,
        own: Option<Vec<PathBuf>>,
    ) -> Result<Before, SnapshotError> {
        let tree = self.with_own(known, own.as_deref())?;
        let head = if own.is_none() { head::checked_out(&self.root) } else { None };
        Ok(Before { tree, own, head })
    }

    /// What a call has changed; `None` if nothing.
    pub fn after(
        &self,
        before: &Before,
        known: Option<Digest>,
    ) -> Result<Option<Trees>, SnapshotError> {
        let objects = &self.objects;
        let mut after = self.with_own(known, before.own.as_deref())?;
        let mut changes = diff::changes(objects, &before.tree, &after)?;
        let hidden = changes.iter().filter(|change| change.after == Some(Entry::Ignored));
        let hidden: Vec<PathBuf> = hidden.map(|change| change.path.clone()).collect();
        if !hidden.is_empty() {
            // The call has changed the ignore rules, but what it did to known files is seen all the same.
            after = self.with_own(Some(after), Some(&hidden))?;
            changes = diff::changes(objects, &before.tree, &after)?;
        }
        let mut changed = !changes.is_empty();
        if let Some(own) = &before.own {
            let is_own = |change: &Change| own.iter().any(|above| change.path.starts_with(above));
            let own = changes.into_iter().filter(is_own);
            let own: Entries = own.map(|change| (change.path, change.after)).collect();
            changed = !own.is_empty();
            after = manifest::with(objects, &before.tree, &own)?;
        }
        let switched = before.head.as_ref().is_some_and(|before| {
            head::checked_out(&self.root).is_some_and(|after| after != *before)
        });
        Ok(changed.then_some(Trees { before: before.tree, after, switched }))
    }

    /// A snapshot that has these files although they are ignored.
    fn with_own(
        &self,
        known: Option<Digest>,
        own: Option<&[PathBuf]>,
    ) -> Result<Digest, SnapshotError> {
        let tree = match known {
            Some(tree) => tree,
            None => self.take()?.digest,
        };
        let Some(own) = own else { return Ok(tree) };
        let mut files = Entries::new();
        for path in own {
            match self.place().entry(path)? {
                Some(Entry::Ignored | Entry::Folder { .. }) => {}
                entry => {
                    files.insert(path.clone(), entry);
                }
            }
        }
        manifest::with(&self.objects, &tree, &files)
    }
}
