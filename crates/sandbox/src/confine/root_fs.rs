//! The root file system of a command: read-only system folders, a minimal `/dev`, private temporary folders and home,
//! the workspace. Anything not mounted does not exist: keys, sockets of services, other users' files, Bosun's own
//! state. The parts that do not depend on the command are built before there is one.

#![expect(
    clippy::disallowed_methods,
    reason = "the root of a new file system, before any command runs"
)]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::pivot_root;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use types::WorkPath;

use super::error::{SetupError, doing};
use super::machine_paths::{KEYS, SETTINGS, SYSTEM};
use super::masks::{self, mask};
use super::mount::{
    Access, Reach, attach, attribute, beneath, bind, by_number, close, folders_above, open, place,
    tmpfs,
};
use super::private::{OLD_PROCESSES, TEMPORARY};
use super::spec::{Prelude, Spec};
use super::trees::Handed;
use super::{beside, sockets};

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// System files up to this size are copied.
const MAX_COPIED: u64 = 64 * 1024;

/// Locations of the machine's root and of the new one during the setup.
const OLD: &str = "/old";
const NEW: &str = "/new";

/// Builds a root without anything specific to a command, enters it, and detaches the machine's root for good.
pub(super) fn lay_out(prelude: &Prelude) -> Result<(), SetupError> {
    step_aside()?;
    for folder in SYSTEM {
        system(Path::new(folder))?;
    }
    for name in SETTINGS {
        system(&Path::new("/etc").join(name))?;
    }
    devices()?;
    let own = TEMPORARY.iter().chain(&["/proc", OLD_PROCESSES]).map(Path::new);
    for folder in own.chain([prelude.home.as_path()]) {
        place(&new(folder), folder, true)?;
    }
    bind(&old(Path::new("/proc")), &new(Path::new(OLD_PROCESSES)))
        .map_err(doing("looking at /proc"))?;
    std::env::set_current_dir(NEW).map_err(doing("going in"))?;
    pivot_root(".", ".").map_err(doing("going in"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(doing("closing the door"))?;
    std::env::set_current_dir("/").map_err(doing("going in"))
}

/// Mounts the parts specific to this command and enters its folder. Returns the writable paths.
pub(super) fn complete(handed: &Handed, trees: &[OwnedFd]) -> Result<Vec<PathBuf>, SetupError> {
    let spec = &handed.spec;
    let (seen, rest) = trees.split_at(handed.visible.len());
    for ((path, folder), tree) in handed.visible.iter().zip(seen) {
        place(path, path, *folder)?;
        let what = || format!("putting in {}", path.display());
        let at = open(path, OFlags::empty()).map_err(doing(what()))?;
        attach(tree, &at).map_err(doing(what()))?;
    }
    let toolchains = handed.visible.iter().map(|(path, _)| path.clone());
    for place in toolchains.chain([spec.home.join(".cargo"), spec.home.join(".local/share/uv")]) {
        KEYS.iter().try_for_each(|key| mask(&place.join(key)))?;
    }
    spec.bounds.masked.iter().try_for_each(|path| mask(path))?;
    let mut writable = workspace(handed, rest)?;
    let root = open(Path::new("/"), OFlags::DIRECTORY).map_err(doing("closing the root"))?;
    attribute(&root, Access::Read, Reach::This).map_err(doing("closing the root"))?;
    enter(spec)?;
    let own = ["/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full"];
    writable.extend(own.map(PathBuf::from));
    writable.push(spec.home.clone());
    Ok(writable)
}

/// Replaces the root by an empty folder, with the machine's root below it.
fn step_aside() -> Result<(), SetupError> {
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(doing("making our mounts private"))?;
    tmpfs(Path::new("/tmp"), "mode=755").map_err(doing("making room"))?;
    for name in ["/tmp/old", "/tmp/new"] {
        fs::create_dir(name).map_err(doing("making room"))?;
    }
    pivot_root("/tmp", "/tmp/old").map_err(doing("stepping aside"))?;
    std::env::set_current_dir("/").map_err(doing("stepping aside"))?;
    tmpfs(Path::new(NEW), "mode=755").map_err(doing("making the new root"))
}

/// Locations of a path during the setup: in the machine's root, and in the new one.
fn old(path: &Path) -> PathBuf {
    Path::new(OLD).join(path.strip_prefix("/").unwrap_or(path))
}
fn new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// Adds a system file or folder, read-only; symlinks stay symlinks.
fn system(path: &Path) -> Result<(), SetupError> {
    let Ok(found) = fs::symlink_metadata(old(path)) else { return Ok(()) };
    if !found.is_symlink() {
        return visible(path);
    }
    let what = || format!("putting in {}", path.display());
    let to = fs::read_link(old(path)).map_err(doing(what()))?;
    folders_above(&new(path), path)?;
    symlink(to, new(path)).map_err(doing(what()))
}

/// Adds a path of the machine, read-only, at the same location. A missing path is left out.
fn visible(path: &Path) -> Result<(), SetupError> {
    let Ok(found) = fs::metadata(old(path)) else { return Ok(()) };
    if found.is_file() && found.len() <= MAX_COPIED {
        return copy(path);
    }
    place(&new(path), path, found.is_dir())?;
    bind(&old(path), &new(path)).map_err(doing(format!("putting in {}", path.display())))?;
    close(&new(path)).map_err(doing(format!("closing {}", path.display())))
}

/// Copies a small file, which is faster than a mount.
fn copy(path: &Path) -> Result<(), SetupError> {
    folders_above(&new(path), path)?;
    let what = || format!("putting in {}", path.display());
    // A file that this process may not read, a command may not read either.
    let Ok(bytes) = fs::read(old(path)) else { return Ok(()) };
    fs::write(new(path), bytes).map_err(doing(what()))
}

/// Creates a `/dev` with the entries that every program expects and none that reaches hardware or a terminal.
fn devices() -> Result<(), SetupError> {
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        place(&new(&path), &path, false)?;
        bind(&old(&path), &new(&path)).map_err(doing(format!("putting in {}", path.display())))?;
    }
    for (name, to) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
        symlink(format!("/proc/self/fd{to}"), new(&Path::new("/dev").join(name)))
            .map_err(doing("filling /dev"))?;
    }
    Ok(())
}

/// Mounts the workspace at its own path; all of it writable, or only the scope. Git's own files are always read-only
/// and, as a mount point, cannot be moved away either.
fn workspace(handed: &Handed, trees: &[OwnedFd]) -> Result<Vec<PathBuf>, SetupError> {
    let (spec, root) = (&handed.spec, handed.spec.root.as_path());
    let missing = || doing("putting in the workspace")(io::Error::other("it was not handed over"));
    let (tree, scope) = trees.split_first().ok_or_else(missing)?;
    place(root, root, true)?;
    let at = open(root, OFlags::DIRECTORY).map_err(doing("putting in the workspace"))?;
    attach(tree, &at).map_err(doing("putting in the workspace"))?;
    let inside = |path: &WorkPath| {
        if path.is_root() { root.to_owned() } else { root.join(path.as_str()) }
    };
    let mut writable = Vec::new();
    if spec.bounds.scope.is_none() {
        writable.push(root.to_owned());
    }
    let (folders, scope) = scope.split_at(handed.beside.len());
    for (folder, tree) in handed.beside.iter().zip(folders) {
        beside::open_folder(root, folder, tree, &spec.bounds.scope.clone().unwrap_or_default())?;
        writable.push(inside(folder));
    }
    for (artifact, tree) in handed.scope.iter().zip(scope) {
        // Reopened for each, since one path may be inside another.
        let what = || format!("opening {artifact} for writing");
        let target = open(root, OFlags::DIRECTORY).map_err(doing(what()))?;
        let to = beneath(&target, artifact.path.as_str()).map_err(doing(what()))?;
        attach(tree, &to).map_err(doing(what()))?;
        writable.push(inside(&artifact.path));
    }
    let target = open(root, OFlags::DIRECTORY).map_err(doing("opening the workspace"))?;
    masks::hide(spec, &target)?;
    sockets::cover(&handed.sockets)?;
    for path in close_places(spec, root, &target)? {
        writable.push(inside(path));
    }
    if let Ok(git) = beneath(&target, ".git") {
        let git = by_number(&git);
        bind(&git, &git).map_err(doing("closing .git"))?;
        close(&root.join(".git")).map_err(doing("closing .git"))?;
    }
    Ok(writable)
}

/// Makes the closed paths read-only, and the reopened paths in them writable again; returns the latter.
fn close_places<'a>(
    spec: &'a Spec,
    root: &Path,
    target: &OwnedFd,
) -> Result<Vec<&'a WorkPath>, SetupError> {
    // Opened before any path is closed, to keep their previous access.
    let again = spec
        .bounds
        .reopened
        .iter()
        .filter_map(|path| Some((path, beneath(target, path.as_str()).ok()?)));
    let again: Vec<(&WorkPath, OwnedFd)> = again.collect();
    for path in &spec.bounds.closed {
        let Ok(place) = beneath(target, path.as_str()) else { continue };
        let place = by_number(&place);
        bind(&place, &place).map_err(doing(format!("closing {path}")))?;
        close(&root.join(path.as_str())).map_err(doing(format!("closing {path}")))?;
    }
    for (path, from) in &again {
        let what = || format!("opening {path} for writing");
        let root = open(root, OFlags::DIRECTORY).map_err(doing(what()))?;
        let to = beneath(&root, path.as_str()).map_err(doing(what()))?;
        bind(&by_number(from), &by_number(&to)).map_err(doing(what()))?;
    }
    Ok(again.into_iter().map(|(path, _)| path).collect())
}

fn enter(spec: &Spec) -> Result<(), SetupError> {
    let root = open(&spec.root, OFlags::DIRECTORY).map_err(doing("opening the workspace"))?;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat2(&root, spec.folder.as_str(), flags, Mode::empty(), how)
        .map_err(doing(format!("entering {}", spec.folder)))?;
    rustix::process::fchdir(&folder).map_err(doing(format!("entering {}", spec.folder)))
}
