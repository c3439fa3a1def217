//! What is known of the workspace's files since the last snapshot, folder by folder, so that only what the file system
//! says was touched is listed, matched or read again. It holds no promise: an empty index gives the same snapshots.

use std::sync::Arc;

use types::Digest;

use super::manifest::Entry;
use super::rules::Rules;
use crate::stamp::Stamp;

/// What is known of the whole workspace.
#[derive(Debug)]
pub(super) struct Index {
    /// The rules that stand over all, and their text.
    pub(super) over_all: (Vec<u8>, Arc<Rules>),
    pub(super) root: Folder,
    /// The snapshot that was taken last; none after one that failed.
    pub(super) last: Option<Digest>,
    /// There was more than snapshots are taken of; it is not counted again.
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
    /// As it was when its names were read; none if they must be read again.
    pub(super) listed: Option<Stamp>,
    /// Whether it has an ignore file, and which; nothing if that must be looked at again.
    pub(super) ignore_file: Option<Option<Stamp>>,
    /// The rules above it, and those that hold in it.
    pub(super) above: Arc<Rules>,
    pub(super) rules: Arc<Rules>,
    /// What is in it and not ignored, sorted by name.
    pub(super) nodes: Vec<Node>,
    /// The digest of its lines, if they are still true.
    pub(super) lines: Option<Digest>,
    /// Whether it cannot be looked into.
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
    /// A file or link; nothing is known of it before it was looked at.
    Leaf(Option<CachedEntry>),
}

/// What is known of a file or link.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedEntry {
    /// As it was when it was read; none if it must be read again.
    pub(super) stamp: Option<Stamp>,
    pub(super) entry: Entry,
}

impl What {
    /// What a snapshot says of it; nothing of what is not there, and of folders without files.
    pub(super) fn entry(&self) -> Option<Entry> {
        match self {
            Self::Leaf(seen) => seen.map(|seen| seen.entry),
            Self::Folder(folder) if folder.shut => Some(Entry::LeftOut),
            Self::Folder(folder) => folder
                .lines
                .filter(|_| folder.nodes.iter().any(|node| node.what.entry().is_some()))
                .map(|lines| Entry::Folder { lines }),
        }
    }

    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }
}

/// A name that was listed, and whether it is a folder's.
pub(super) type Name = (Box<[u8]>, bool);

/// The nodes for a list of names; what is known of those that were there before is kept.
pub(super) fn renew(before: Vec<Node>, names: Vec<Name>, rules: &Arc<Rules>) -> Vec<Node> {
    let mut before = before.into_iter().peekable();
    let node = |(name, folder): Name| {
        while before.next_if(|node| node.name < name).is_some() {}
        let known = before.next_if(|node| node.name == name && node.what.is_folder() == folder);
        known.unwrap_or_else(|| {
            let unseen = || What::Folder(Box::new(Folder::unseen(Arc::clone(rules))));
            Node { name, what: if folder { unseen() } else { What::Leaf(None) } }
        })
    };
    names.into_iter().map(node).collect()
}
