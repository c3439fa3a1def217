//! Cached state of the workspace's files since the last snapshot, folder by folder, so that only entries that the file
//! system reports as touched are listed, matched or read again. It is only an optimization: an empty index gives the
//! same snapshots.

use std::sync::Arc;

use types::Digest;

use super::manifest::Entry;
use super::rules::Rules;
use crate::stamp::Stamp;

/// Cached state of the whole workspace.
#[derive(Debug)]
pub(super) struct Index {
    /// The rules that apply to all folders, and their text.
    pub(super) over_all: (Vec<u8>, Arc<Rules>),
    pub(super) root: Folder,
    /// The last snapshot; `None` after a failed one.
    pub(super) last: Option<Digest>,
    /// The workspace exceeds the limit for snapshots; it is not counted again.
    pub(super) too_many: bool,
}

impl Index {
    pub(super) fn empty() -> Self {
        let rules = Arc::new(Rules::over_all(b""));
        let root = Folder::unseen(Arc::clone(&rules));
        Self { over_all: (Vec::new(), rules), root, last: None, too_many: false }
    }
}

#[derive(Debug)]
pub(super) struct Folder {
    /// Stamp from when its names were read; `None` if they must be read again.
    pub(super) listed: Option<Stamp>,
    /// Stamp of its ignore file, if it has one; the outer `None` means that this must be checked again.
    pub(super) ignore_file: Option<Option<Stamp>>,
    /// The rules above it, and those that apply in it.
    pub(super) above: Arc<Rules>,
    pub(super) rules: Arc<Rules>,
    /// Its entries, sorted by name.
    pub(super) nodes: Vec<Node>,
    /// Digest of its lines, if they are still valid.
    pub(super) lines: Option<Digest>,
    /// Whether it cannot be entered.
    pub(super) shut: bool,
}

impl Folder {
    pub(super) fn unseen(above: Arc<Rules>) -> Self {
        Self {
            listed: None,
            ignore_file: None,
            rules: Arc::clone(&above),
            above,
            nodes: Vec::new(),
            lines: None,
            shut: false,
        }
    }
}

/// One name in a folder.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Box<[u8]>,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Folder(Box<Folder>),
    /// A file or link; `None` until it was inspected.
    Leaf(Option<CachedEntry>),
    Ignored,
}

/// Cached state of a file or link.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedEntry {
    /// Stamp from when it was read; `None` if it must be read again.
    pub(super) stamp: Option<Stamp>,
    pub(super) entry: Entry,
}

impl What {
    /// Its entry in a snapshot; `None` if it does not exist.
    pub(super) fn entry(&self) -> Option<Entry> {
        match self {
            Self::Leaf(seen) => seen.map(|seen| seen.entry),
            Self::Folder(folder) if folder.shut => Some(Entry::LeftOut { stamp: Digest::ZERO }),
            Self::Folder(folder) => folder.lines.map(|lines| Entry::Folder { lines }),
            Self::Ignored => Some(Entry::Ignored),
        }
    }

    fn listed(&self) -> Listed {
        match self {
            Self::Folder(_) => Listed::Folder,
            Self::Leaf(_) => Listed::Leaf,
            Self::Ignored => Listed::Ignored,
        }
    }
}

/// What the listing of a folder says about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Listed {
    Folder,
    Leaf,
    Ignored,
}

/// A listed name.
pub(super) type Name = (Box<[u8]>, Listed);

/// The nodes for a list of names; keeps the cached state of those that existed before.
pub(super) fn renew(before: Vec<Node>, names: Vec<Name>, rules: &Arc<Rules>) -> Vec<Node> {
    let mut before = before.into_iter().peekable();
    let node = |(name, listed): Name| {
        while before.next_if(|node| node.name < name).is_some() {}
        let known = before.next_if(|node| node.name == name && node.what.listed() == listed);
        known.unwrap_or_else(|| {
            let what = match listed {
                Listed::Folder => What::Folder(Box::new(Folder::unseen(Arc::clone(rules)))),
                Listed::Leaf => What::Leaf(None),
                Listed::Ignored => What::Ignored,
            };
            Node { name, what }
        })
    };
    names.into_iter().map(node).collect()
}
