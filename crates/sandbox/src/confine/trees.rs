//! Pieces of the machine's own files, cut out as mounts that can be handed to process 1, which itself has none of
//! the machine left. Whatever goes by a name of the machine is looked up here, and following no link of the workspace.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{OpenTreeFlags, open_tree};
use serde::{Deserialize, Serialize};
use types::{Artifact, Scope, WorkPath};

use super::error::{SetupError, doing};
use super::machine_paths::TOOLCHAINS;
use super::mount::{Access, Reach, attribute, beneath, open};
use super::sockets::{Finder, Socket};
use super::spec::{ORDERED, Spec};

/// Orders for process 1, and which mounts come with them, in this order, after what came with the orders themselves.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Handed {
    pub(super) spec: Spec,
    /// Paths to be read, and whether each is a folder.
    pub(super) visible: Vec<(PathBuf, bool)>,
    /// Folders of the workspace in which files may be replaced. The workspace itself comes before them.
    pub(super) beside: Vec<WorkPath>,
    /// Places in the workspace to be written to.
    pub(super) scope: Vec<Artifact>,
    /// What must be covered, because somebody of the machine listens there.
    pub(super) sockets: Vec<Socket>,
}

impl Handed {
    /// How many descriptors come with it.
    pub(super) fn count(&self) -> usize {
        ORDERED
            + usize::from(self.spec.joins)
            + self.visible.len()
            + 1
            + self.beside.len()
            + self.scope.len()
    }
}

/// Cuts out what the orders name.
pub(super) fn cut(spec: Spec, finder: &mut Finder) -> Result<(Handed, Vec<OwnedFd>), SetupError> {
    let (mut visible, mut scope, mut trees) = (Vec::new(), Vec::new(), Vec::new());
    let places = TOOLCHAINS.iter().map(|place| spec.home.join(place));
    let places = places.filter(|place| !spec.visible.contains(place));
    for path in spec.visible.iter().cloned().chain(places) {
        // What is not there cannot be seen.
        let Ok(found) = fs::metadata(&path) else { continue };
        let what = || format!("putting in {}", path.display());
        let from = open(&path, OFlags::empty()).map_err(doing(what()))?;
        trees.push(tree(&from, Access::Read).map_err(doing(what()))?);
        visible.push((path, found.is_dir()));
    }
    let root = open(&spec.root, OFlags::DIRECTORY).map_err(doing("opening the workspace"))?;
    let access = if spec.scope.is_some() { Access::Read } else { Access::Write };
    if let Some(places) = &spec.scope {
        make_folders(places, &root)?;
    }
    trees.push(tree(&root, access).map_err(doing("putting in the workspace"))?);
    let mut beside = Vec::new();
    for folder in &spec.beside {
        // Where a folder is gone, its files are written in place or not at all.
        let Ok(from) = beneath(&root, folder.as_str()) else { continue };
        let what = || format!("opening {folder} for new files");
        trees.push(tree(&from, Access::Write).map_err(doing(what()))?);
        beside.push(folder.clone());
    }
    let in_open_folder = |artifact: &Artifact| {
        let above = artifact.path.as_str().rsplit_once('/').map_or(".", |(above, _)| above);
        !artifact.whole_folder && beside.iter().any(|folder| folder.as_str() == above)
    };
    let places = spec.scope.iter().flat_map(|scope| &scope.0);
    for artifact in places.filter(|artifact| !in_open_folder(artifact)) {
        // What is not there, or is a link, cannot be opened for writing.
        let Ok(from) = beneath(&root, artifact.path.as_str()) else { continue };
        let what = || format!("opening {artifact} for writing");
        trees.push(tree(&from, Access::Write).map_err(doing(what()))?);
        scope.push(artifact.clone());
    }
    let sockets = finder.reachable(&spec);
    Ok((Handed { spec, visible, beside, scope, sockets }, trees))
}

/// A copy of the mounts from here on down, attached to nothing yet.
fn tree(from: &OwnedFd, access: Access) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(from, "", flags)?;
    attribute(&tree, access, Reach::Below)?;
    Ok(tree)
}

/// Folders of the scope that are missing are made first, by way of descriptors, following no link.
fn make_folders(scope: &Scope, root: &OwnedFd) -> Result<(), SetupError> {
    for artifact in scope.0.iter().filter(|artifact| artifact.whole_folder) {
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
