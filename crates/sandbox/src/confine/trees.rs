//! Clones of the machine's mounts that are handed to process 1, which itself has no access to the machine's files. All
//! paths of the machine are resolved here, without following symlinks of the workspace.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, open_tree,
};
use serde::{Deserialize, Serialize};
use types::{Artifact, Scope, WorkPath};

use super::error::{SetupError, doing};
use super::machine_paths::TOOLCHAINS;
use super::mount::{Access, Reach, attribute, beneath, by_number, open};
use super::sockets::{Finder, Socket};
use super::spec::{ORDERED, Spec};
use crate::bounds::Layers;

/// Spec for process 1, and the mounts sent with it, in this order, after the descriptors of the spec itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handed {
    pub(super) spec: Spec,
    /// Readable paths, and whether each is a folder.
    pub(super) visible: Vec<(PathBuf, bool)>,
    /// Folders of the workspace in which files may be replaced. The workspace itself precedes them.
    pub(super) beside: Vec<WorkPath>,
    /// Writable paths of the workspace.
    pub(super) scope: Vec<Artifact>,
    /// Sockets to cover, because a process of the machine listens on them.
    pub(super) sockets: Vec<Socket>,
}

impl Handed {
    /// Number of descriptors sent with it.
    pub(super) fn count(&self) -> usize {
        ORDERED
            + usize::from(self.spec.joins)
            + self.visible.len()
            + 1
            + self.beside.len()
            + self.scope.len()
    }
}

/// Clones the mounts that a spec names.
pub(super) fn cut(spec: Spec, finder: &mut Finder) -> Result<(Handed, Vec<OwnedFd>), SetupError> {
    let (mut visible, mut scope, mut trees) = (Vec::new(), Vec::new(), Vec::new());
    let places = TOOLCHAINS.iter().map(|place| spec.home.join(place));
    let places = places.filter(|place| !spec.bounds.visible.contains(place));
    let same = spec.bounds.visible.iter().cloned().chain(places).map(|path| (path.clone(), path));
    let objects =
        spec.bounds.objects.iter().map(|objects| (objects.from.clone(), objects.at.clone()));
    for (from, path) in same.chain(objects) {
        // A missing path cannot be visible.
        let Ok(found) = fs::metadata(&from) else { continue };
        let what = || format!("putting in {}", path.display());
        let from = open(&from, OFlags::empty()).map_err(doing(what()))?;
        trees.push(tree(&from, Access::Read).map_err(doing(what()))?);
        visible.push((path, found.is_dir()));
    }
    let layers = spec.bounds.layers.as_ref();
    let own = layers.map_or(&spec.root, |layers| &layers.upper);
    let root = open(own, OFlags::DIRECTORY).map_err(doing("opening the workspace"))?;
    let access = if spec.bounds.scope.is_some() { Access::Read } else { Access::Write };
    if let Some(places) = &spec.bounds.scope {
        make_folders(places, &spec.bounds.builds, &root)?;
    }
    let whole = match layers {
        Some(layers) => stack(layers).map_err(doing("stacking the workspace"))?,
        None => tree(&root, access).map_err(doing("putting in the workspace"))?,
    };
    trees.push(whole);
    let mut beside = Vec::new();
    for folder in &spec.beside {
        // If a folder no longer exists, its files are written in place or not at all.
        let Ok(from) = beneath(&root, folder.as_str()) else { continue };
        let what = || format!("opening {folder} for new files");
        trees.push(tree(&from, Access::Write).map_err(doing(what()))?);
        beside.push(folder.clone());
    }
    let in_open_folder = |artifact: &Artifact| {
        let above = artifact.path.as_str().rsplit_once('/').map_or(".", |(above, _)| above);
        let replaced = !artifact.whole_folder || spec.bounds.builds.contains(&artifact.path);
        replaced && beside.iter().any(|folder| folder.as_str() == above)
    };
    let places = spec.bounds.scope.iter().flat_map(|scope| &scope.0);
    for artifact in places.filter(|artifact| !in_open_folder(artifact)) {
        // A path that is missing or a symlink cannot be made writable.
        let Ok(from) = beneath(&root, artifact.path.as_str()) else { continue };
        let what = || format!("opening {artifact} for writing");
        trees.push(tree(&from, Access::Write).map_err(doing(what()))?);
        scope.push(artifact.clone());
    }
    let sockets = finder.reachable(&spec);
    Ok((Handed { spec, visible, beside, scope, sockets }, trees))
}

/// Clones the mounts at and below this path, detached.
fn tree(from: &OwnedFd, access: Access) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(from, "", flags)?;
    attribute(&tree, access, Reach::Below)?;
    Ok(tree)
}

/// Mounts folders as one, detached. They are named by descriptors, so their names may be anything.
fn stack(layers: &Layers) -> io::Result<OwnedFd> {
    let folder = |path: &PathBuf| open(path, OFlags::DIRECTORY | OFlags::NOFOLLOW);
    let lower = layers.lower.iter().map(folder).collect::<Result<Vec<_>, _>>()?;
    let (upper, work) = (folder(&layers.upper)?, folder(&layers.work)?);
    let names: Vec<String> = lower.iter().map(|fd| by_number(fd).display().to_string()).collect();
    let kernel = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&kernel, "lowerdir", names.join(":"))?;
    fsconfig_set_string(&kernel, "upperdir", by_number(&upper))?;
    fsconfig_set_string(&kernel, "workdir", by_number(&work))?;
    fsconfig_set_string(&kernel, "index", "off")?;
    // Attributes that an ordinary user may set mark what is gone.
    fsconfig_set_flag(&kernel, "userxattr")?;
    // What is written is thrown away, or not trusted after a power failure: nothing waits for the disk.
    fsconfig_set_flag(&kernel, "volatile")?;
    fsconfig_create(&kernel)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&kernel, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Creates missing folders of the scope, except for builds, through descriptors, without following symlinks.
fn make_folders(scope: &Scope, builds: &[WorkPath], root: &OwnedFd) -> Result<(), SetupError> {
    let wanted = |artifact: &&Artifact| artifact.whole_folder && !builds.contains(&artifact.path);
    for artifact in scope.0.iter().filter(wanted) {
        let what = || format!("making {artifact}");
        let mut folder = root.try_clone().map_err(doing(what()))?;
        for name in artifact.path.components() {
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(errno) => return Err(doing(what())(errno)),
            }
            folder = beneath(&folder, name).map_err(doing(what()))?;
        }
    }
    Ok(())
}
