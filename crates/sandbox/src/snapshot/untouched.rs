//! Checks whether anything was touched since the last snapshot, by the metadata of each name only. No file of the
//! workspace is read, nothing is listed or cached, and in doubt it counts as touched.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use types::Digest;

use super::index::{CachedEntry, Folder, Index, Node, What};
use super::rules::{self, Rules};
use crate::content;
use crate::jail::open_folder;
use crate::stamp::Stamp;

/// The last snapshot, if nothing has changed since and there are at most `most` names.
pub(super) fn last(root: impl AsFd, index: &Index, most: usize) -> Option<Digest> {
    let exclude = rules::exclude_text(root.as_fd()).unwrap_or_default();
    let mut left = most;
    let same =
        exclude == index.over_all.0 && is_same(root, &index.root, &index.over_all.1, &mut left);
    index.last.filter(|_| same)
}

fn is_same(fd: impl AsFd, folder: &Folder, above: &Arc<Rules>, left: &mut usize) -> bool {
    let listed =
        rustix::fs::fstat(fd.as_fd()).is_ok_and(|stat| folder.listed == Some(Stamp::of(&stat)));
    let ignores = folder.ignore_file == Some(content::stamp(fd.as_fd(), rules::FILE).ok());
    let known = listed && ignores && !folder.shut && Arc::ptr_eq(above, &folder.above);
    if !known || *left < folder.nodes.len() {
        return false;
    }
    *left -= folder.nodes.len();
    folder.nodes.iter().all(|node| is_same_node(fd.as_fd(), node, &folder.rules, left))
}

fn is_same_node(fd: impl AsFd, node: &Node, rules: &Arc<Rules>, left: &mut usize) -> bool {
    let name = OsStr::from_bytes(&node.name);
    match &node.what {
        What::Leaf(Some(CachedEntry { stamp: Some(stamp), .. })) => {
            content::stamp(fd, name).is_ok_and(|now| now == *stamp)
        }
        What::Leaf(_) => false,
        What::Ignored => true,
        What::Folder(below) => {
            open_folder(fd, name).is_ok_and(|inner| is_same(inner, below, rules, left))
        }
    }
}
