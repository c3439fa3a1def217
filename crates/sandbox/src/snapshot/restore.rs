//! Plans the restoration of a snapshot: the steps from the current state to the snapshot's. Everything that would be
//! lost is stored before anything is touched. The steps are carried out in `carry.rs`. Files that are ignored, or too
//! large to be stored, are never removed.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use types::Digest;

use super::Snapshots;
use super::carry::{LeftAlone, Plan, Restored, carry_out, parent};
use super::content;
use super::error::SnapshotError;
use super::index::Index;
use super::manifest::{self, Entry, Flat};
use super::objects::Objects;
use super::rules::{self, Rules};
use super::walk::{Tree, Walk};
use crate::jail::Missing;

impl Snapshots {
    /// Restores the workspace's files to a snapshot: writes files that differ, removes files that are not in it, keeps
    /// ignored files. The previous state is stored as a snapshot first. An interrupted restoration can be repeated.
    pub fn restore(&self, tree: &Digest) -> Result<Restored, SnapshotError> {
        let mut index = self.index();
        let plan = self.plan(&mut index, tree)?;
        carry_out(&self.jail, &self.objects, plan)
    }

    /// Plans a restoration, and stores everything that it would destroy.
    pub(super) fn plan(&self, index: &mut Index, tree: &Digest) -> Result<Plan, SnapshotError> {
        let wanted = manifest::flat(&self.objects, tree)?;
        let mut before = self.walk(index)?;
        let mut there = manifest::flat(&self.objects, &before.digest)?;
        let mut visible = there.clone();
        if ignore_files(&wanted).ne(ignore_files(&there)) {
            // Other rules applied then. The snapshot covers the files that are visible under those rules.
            let objects = &self.objects;
            let then = |folder: &OwnedFd, path: &[u8]| rules_then(&wanted, objects, folder, path);
            let (root, mut index) = (self.jail.root(), Index::empty());
            let tree = Walk::take(objects, self.limits, Some(&then), root, &mut index)?;
            visible = manifest::flat(objects, &tree.digest)?;
            there.extend(visible.clone());
        }
        for path in wanted.keys().filter(|path| !there.contains_key(*path)).collect::<Vec<_>>() {
            if let Some(entry) = self.hidden(path)? {
                there.insert(path.clone(), entry);
            }
        }
        let digest = manifest::keep(&self.objects, &there)?;
        let left_out = there.values().filter(|entry| **entry == Entry::LeftOut).count();
        before = Tree { digest, files: there.len() as u64, left_out: left_out as u64 };
        let plan = steps(before, &wanted, &there, &visible);
        // Either every content that is needed is there and intact, or nothing is touched.
        for (_, entry) in &plan.write {
            if let Entry::File { content, .. } | Entry::Link { content } = entry {
                self.objects.get(content)?;
            }
        }
        Ok(plan)
    }

    /// Entry of a path that the walk does not show.
    fn hidden(&self, path: &Path) -> Result<Option<Entry>, SnapshotError> {
        let Ok((folder, name)) = parent(&self.jail, path, Missing::Refuse) else { return Ok(None) };
        let Ok(stamp) = content::stamp(&folder, name) else { return Ok(None) };
        let left_out = Ok(Some(Entry::LeftOut));
        match stamp.kind() {
            FileType::RegularFile => {
                let Ok((bytes, _)) = content::read(&folder, name, self.limits.file) else {
                    return left_out;
                };
                let content = self.objects.put(&bytes)?;
                Ok(Some(Entry::File { mode: stamp.permissions(), content }))
            }
            FileType::Symlink => {
                let Ok(target) = content::target(&folder, name.as_bytes()) else { return left_out };
                Ok(Some(Entry::Link { content: self.objects.put(&target)? }))
            }
            _ => Ok(None),
        }
    }
}

/// The steps from the current state to the wanted one.
fn steps(before: Tree, wanted: &Flat, there: &Flat, visible: &Flat) -> Plan {
    let mut plan = Plan { before, remove: vec![], write: vec![], left_alone: vec![] };
    let too_large = |path: &PathBuf| LeftAlone {
        path: path.clone(),
        why: "too large to be kept in snapshots, or cannot be read".to_owned(),
    };
    for (path, entry) in visible.iter().filter(|(path, _)| !wanted.contains_key(*path)) {
        match entry {
            Entry::LeftOut => plan.left_alone.push(too_large(path)),
            _ => plan.remove.push(path.clone()),
        }
    }
    for (path, entry) in wanted {
        match (entry, there.get(path)) {
            (Entry::LeftOut, _) | (_, Some(Entry::LeftOut)) => {
                plan.left_alone.push(too_large(path));
            }
            (entry, found) if found != Some(entry) => plan.write.push((path.clone(), *entry)),
            _ => {}
        }
    }
    plan
}

fn ignore_files(all: &Flat) -> impl Iterator<Item = (&PathBuf, &Entry)> {
    all.iter().filter(|(path, _)| path.file_name() == Some(OsStr::new(rules::FILE)))
}

/// The rules of a folder in a snapshot.
fn rules_then(
    wanted: &Flat,
    objects: &Objects,
    folder: &OwnedFd,
    path: &[u8],
) -> Result<Option<Vec<u8>>, SnapshotError> {
    let file = Path::new(OsStr::from_bytes(path)).join(rules::FILE);
    if let Some(Entry::File { content, .. }) = wanted.get(&file) {
        return objects.get(content).map(Some);
    }
    // A file that ignores itself, as in caches, is never in a snapshot; others are new, and will be removed.
    let text = rules::text(folder, rules::FILE);
    let itself = |text: &Vec<u8>| Rules::over_all(text).ignore(rules::FILE.as_bytes(), false);
    Ok(text.filter(itself))
}
