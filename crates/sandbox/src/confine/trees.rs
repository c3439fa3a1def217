//! Pieces of the machine's own files, cut out as mounts that can be handed to process 1, which itself has none of
//! the machine left. Whatever goes by a name of the machine is looked up here, and following no link of the workspace.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::path::Arg;
use serde::{Deserialize, Serialize};
use types::{Artifact, Scope, WorkPath};

use super::ORDERED;
use super::inside::{Unbuilt, doing};
use super::mounts::TOOLCHAINS;
use super::sockets::{Finder, Socket};
use super::spec::Spec;

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
        ORDERED + self.visible.len() + 1 + self.beside.len() + self.scope.len()
    }
}

/// What a mount allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Cuts out what the orders name.
pub(super) fn cut(spec: Spec, finder: &mut Finder) -> Result<(Handed, Vec<OwnedFd>), Unbuilt> {
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
fn make_folders(scope: &Scope, root: &OwnedFd) -> Result<(), Unbuilt> {
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

pub(super) fn open(path: &Path, kind: OFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(CWD, path, OFlags::PATH | kind | OFlags::CLOEXEC, Mode::empty())
}

/// Opens what is below a folder without following any link.
pub(super) fn beneath(folder: impl AsFd, path: impl Arg) -> rustix::io::Result<OwnedFd> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)
}

/// What a change of a mount reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    This,
    /// All mounts below it, too.
    Below,
}

/// Makes set-user-id programs on a mount dead, and the mount itself read-only unless it is to be written to.
#[expect(
    unsafe_code,
    reason = "mount_setattr, which reaches all mounts below, has no wrapper here"
)]
pub(super) fn attribute(mount: &OwnedFd, access: Access, reach: Reach) -> io::Result<()> {
    let read_only = if access == Access::Read { libc::MOUNT_ATTR_RDONLY } else { 0 };
    let attributes = libc::mount_attr {
        attr_set: read_only | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if reach == Reach::Below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the empty path and the attributes are whole and outlive the call; the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags | libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
