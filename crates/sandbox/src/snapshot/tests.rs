//! Snapshots of a workspace on disk. Tests change files as an agent's command could: by any means.

#[cfg(target_os = "linux")]
mod full;
mod hostile;
mod laws;
mod restoring;
mod taking;
mod undoing;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use types::Digest;

use super::*;

/// A workspace, and beside it a folder for snapshots.
struct Fixture {
    place: tempfile::TempDir,
    snapshots: Snapshots,
}

impl Fixture {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(place.path().join("work")).expect("a folder");
        let snapshots = open(place.path());
        Self { place, snapshots }
    }

    fn with_limits(file: u64, total: u64) -> Self {
        let mut fixture = Self::new();
        fixture.snapshots.limits = Limits { file, total, files: 1000 };
        fixture
    }

    /// The same workspace, as seen by another process, with an empty index.
    fn reopen(&mut self) {
        self.snapshots = open(self.place.path());
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("work")
    }

    fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root().join(path)
    }

    fn put(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("a folder above")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.at(path)).expect("a link");
    }

    fn mode(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(mode))
            .expect("a mode");
    }

    fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.at(path)).ok()
    }

    fn take(&self) -> Digest {
        self.snapshots.take().expect("a snapshot").digest
    }

    /// A snapshot that is older than the file system's clock, so that all of it is known by its timestamps.
    fn settled(&self) -> Digest {
        let known = |_| {
            let tree = self.take();
            self.snapshots.untouched(1000).map(|same| (tree, same))
        };
        let (tree, same) = (0..100_000).find_map(known).expect("time goes on");
        assert_eq!(tree, same);
        tree
    }

    /// Undoes everything that differs from a snapshot, as if one call had changed it.
    fn restore(&self, tree: &Digest) -> Restored {
        self.try_restore(tree).expect("a restoration")
    }

    fn try_restore(&self, tree: &Digest) -> Result<Restored, SnapshotError> {
        self.undo(&[(*tree, self.take())], &[])
    }

    /// Undoes changes, the latest first.
    fn undo(
        &self,
        changes: &[(Digest, Digest)],
        replace: &[&str],
    ) -> Result<Restored, SnapshotError> {
        let trees = |(before, after): &(Digest, Digest)| types::Trees {
            before: *before,
            after: *after,
            switched: false,
        };
        let changes: Vec<types::Trees> = changes.iter().map(trees).collect();
        let replace: Vec<PathBuf> = replace.iter().map(PathBuf::from).collect();
        let aside = self.place.path().join("aside");
        self.snapshots.undo(Undo { changes: &changes, replace: &replace, aside: &aside })
    }

    fn diff(&self, before: &Digest, after: &Digest) -> Vec<(String, How)> {
        let all = self.snapshots.diff(before, after).expect("a comparison");
        all.into_iter().map(|one| (one.path.display().to_string(), one.how)).collect()
    }

    /// Everything in the workspace, as it is on disk.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        picture(&self.root(), &mut all);
        all
    }
}

/// Location of a content in the packs of the store.
fn kept_at(place: &Path, content: &[u8]) -> Option<(PathBuf, usize)> {
    let packs = std::fs::read_dir(place.join("store")).expect("the store");
    packs.map(|pack| pack.expect("a file").path()).find_map(|pack| {
        let record =
            [format!("{} {:>10}\n", Digest::of(content), content.len()).as_bytes(), content]
                .concat();
        let bytes = std::fs::read(&pack).expect("bytes");
        let at = bytes.windows(record.len()).position(|window| window == record)?;
        Some((pack, at + record.len() - content.len()))
    })
}

fn open(place: &Path) -> Snapshots {
    Snapshots::new(&place.join("work"), &place.join("store")).expect("snapshots")
}

fn picture(folder: &Path, all: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let found = path.symlink_metadata().expect("something");
        let mode = found.permissions().mode() & 0o777;
        if found.is_dir() {
            picture(&path, all);
        } else if found.is_symlink() {
            all.insert(path.clone(), format!("-> {:?}", path.read_link().expect("a target")));
        } else {
            let bytes = std::fs::read(&path).expect("bytes");
            all.insert(path, format!("{mode:o} {:?}", String::from_utf8_lossy(&bytes)));
        }
    }
}

fn bytes(content: Option<Content>) -> Vec<u8> {
    match content {
        Some(Content::File { bytes, .. }) => bytes,
        other => panic!("no file: {other:?}"),
    }
}

fn paths(found: &[PathBuf]) -> Vec<&str> {
    found.iter().map(|path| path.to_str().expect("text")).collect()
}

fn alone(restored: &Restored) -> Vec<&str> {
    restored.left_alone.iter().map(|one| one.path.to_str().expect("text")).collect()
}

fn odd_name() -> &'static OsStr {
    OsStr::from_bytes(b"odd\xff\xfe \n\t name")
}
