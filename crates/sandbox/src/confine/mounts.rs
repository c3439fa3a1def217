//! A root in which only what a command needs is there: system folders to read, a `/dev` without devices, private
//! temporary folders and home, the workspace. What is not put in does not exist: keys, sockets of services, other
//! people's files, our own state. Nothing that a path of the workspace could redirect is followed.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::pivot_root;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use types::{Scope, WorkPath};

use super::inside::{Unbuilt, doing};
use super::spec::Spec;

/// Folders of the system that are there to be read.
const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix"];

/// What of `/etc` programs need; passwords, keys and service settings are not among it.
const SETTINGS: [&str; 27] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "java",
    "java-17-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "locale.alias",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki",
    "protocols",
    "services",
    "ssl",
    "timezone",
];

/// Places in a home folder where people keep toolchains.
const TOOLCHAINS: [&str; 15] = [
    ".cargo",
    ".rustup",
    ".pyenv",
    ".nvm",
    ".volta",
    ".asdf",
    ".sdkman",
    ".deno",
    ".bun",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".npm-global",
    "go",
    "sdk",
];

/// Files in those places that hold keys.
const KEYS: [&str; 2] = [".cargo/credentials", ".cargo/credentials.toml"];

const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Where the machine's own root and the new one are while we build.
const OLD: &str = "/old";
const NEW: &str = "/new";

/// Builds the new root, goes into it and into the command's folder. The answer is what may be written to.
pub(super) fn build(spec: &Spec) -> Result<Vec<PathBuf>, Unbuilt> {
    step_aside()?;
    for folder in SYSTEM {
        system(Path::new(folder))?;
    }
    for name in SETTINGS {
        system(&Path::new("/etc").join(name))?;
    }
    devices()?;
    processes(spec)?;
    for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
        temporary(Path::new(folder), 0o1777, spec.limits.temp_bytes)?;
    }
    temporary(&spec.home, 0o700, spec.limits.temp_bytes)?;
    for place in TOOLCHAINS.iter().map(|place| spec.home.join(place)) {
        visible(&place)?;
    }
    for key in KEYS.iter().map(|key| spec.home.join(key)) {
        mask(&key)?;
    }
    for place in &spec.visible {
        visible(place)?;
    }
    let mut writable = workspace(spec)?;
    attribute(Path::new(NEW), Reach::This).map_err(doing("closing the root"))?;
    go_in(spec)?;
    let own = ["/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full"];
    writable.extend(own.map(PathBuf::from));
    writable.push(spec.home.clone());
    Ok(writable)
}

/// Puts an empty folder in place of the root, with the machine's own root below it.
fn step_aside() -> Result<(), Unbuilt> {
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

fn tmpfs(at: &Path, options: &str) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), at, Some("tmpfs"), flags, Some(options))
}

/// Where a path of the machine is while we build, and where it shall be.
fn old(path: &Path) -> PathBuf {
    Path::new(OLD).join(path.strip_prefix("/").unwrap_or(path))
}
fn new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

/// A file or folder of the system, to be read; links stay links.
fn system(path: &Path) -> Result<(), Unbuilt> {
    let Ok(found) = fs::symlink_metadata(old(path)) else { return Ok(()) };
    if !found.is_symlink() {
        return visible(path);
    }
    let what = || format!("putting in {}", path.display());
    let to = fs::read_link(old(path)).map_err(doing(what()))?;
    folders_above(path)?;
    symlink(to, new(path)).map_err(doing(what()))
}

/// A path of the machine, to be read, at its own place. One that is not there is left out.
fn visible(path: &Path) -> Result<(), Unbuilt> {
    let Ok(found) = fs::metadata(old(path)) else { return Ok(()) };
    place(path, found.is_dir())?;
    bind(&old(path), &new(path)).map_err(doing(format!("putting in {}", path.display())))?;
    attribute(&new(path), Reach::Below).map_err(doing(format!("closing {}", path.display())))
}

/// An empty file in place of one that holds keys.
fn mask(path: &Path) -> Result<(), Unbuilt> {
    if !new(path).is_file() {
        return Ok(());
    }
    bind(Path::new("/old/dev/null"), &new(path))
        .map_err(doing(format!("hiding {}", path.display())))
}

fn temporary(path: &Path, mode: u32, bytes: u64) -> Result<(), Unbuilt> {
    place(path, true)?;
    tmpfs(&new(path), &format!("mode={mode:o},size={bytes}"))
        .map_err(doing(format!("making {}", path.display())))
}

/// Makes something to mount on, unless it is there already.
fn place(path: &Path, folder: bool) -> Result<(), Unbuilt> {
    let at = new(path);
    if at.exists() {
        return Ok(());
    }
    folders_above(path)?;
    let made = if folder { fs::create_dir(&at) } else { File::create(&at).map(|_| ()) };
    made.map_err(doing(format!("making a place for {}", path.display())))
}

fn folders_above(path: &Path) -> Result<(), Unbuilt> {
    let above = path.parent().unwrap_or(path);
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o755)
        .create(new(above))
        .map_err(doing(format!("making a place for {}", path.display())))
}

fn bind(from: &Path, to: &Path) -> nix::Result<()> {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
}

/// A `/dev` with what every program expects and nothing that reaches hardware or a terminal.
fn devices() -> Result<(), Unbuilt> {
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        place(&path, false)?;
        bind(&old(&path), &new(&path)).map_err(doing(format!("putting in {}", path.display())))?;
    }
    for (name, to) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
        symlink(format!("/proc/self/fd{to}"), new(&Path::new("/dev").join(name)))
            .map_err(doing("filling /dev"))?;
    }
    Ok(())
}

/// A `/proc` that shows only what is inside, and that nobody can write to.
fn processes(spec: &Spec) -> Result<(), Unbuilt> {
    let path = Path::new("/proc");
    place(path, true)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), &new(path), Some("proc"), flags, None::<&str>)
        .map_err(doing("mounting /proc (in a container, its own /proc must not be masked)"))?;
    // On newer kernels this holds for this sandbox alone, and for root too, whom no other limit binds.
    let most = spec.limits.processes.max(512).to_string();
    fs::write(new(Path::new("/proc/sys/kernel/pid_max")), most).ok();
    attribute(&new(path), Reach::This).map_err(doing("closing /proc"))
}

/// The workspace at its own place; all of it open, or only the scope. Git's own files are closed in any case,
/// and being mounted, cannot be moved away either.
fn workspace(spec: &Spec) -> Result<Vec<PathBuf>, Unbuilt> {
    let root = spec.root.as_path();
    place(root, true)?;
    bind(&old(root), &new(root)).map_err(doing("putting in the workspace"))?;
    let inside = |path: &WorkPath, scope: &Path| {
        if path.is_root() { scope.to_owned() } else { scope.join(path.as_str()) }
    };
    let source = open(&old(root)).map_err(doing("opening the workspace"))?;
    let mut writable = Vec::new();
    match &spec.scope {
        None => writable.push(root.to_owned()),
        Some(scope) => {
            make_folders(scope, &source)?;
            attribute(&new(root), Reach::Below).map_err(doing("closing the workspace"))?;
            let target = open(&new(root)).map_err(doing("opening the workspace"))?;
            for artifact in &scope.0 {
                // What is not there, or is a link, cannot be opened for writing.
                let Ok(from) = beneath(&source, artifact.path.as_str()) else { continue };
                let to = beneath(&target, artifact.path.as_str())
                    .map_err(doing(format!("opening {artifact} for writing")))?;
                bind(&by_number(&from), &by_number(&to))
                    .map_err(doing(format!("opening {artifact} for writing")))?;
                writable.push(inside(&artifact.path, root));
            }
        }
    }
    let target = open(&new(root)).map_err(doing("opening the workspace"))?;
    if let Ok(git) = beneath(&target, ".git") {
        let git = by_number(&git);
        bind(&git, &git).map_err(doing("closing .git"))?;
        attribute(&new(root).join(".git"), Reach::Below).map_err(doing("closing .git"))?;
    }
    Ok(writable)
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

fn open(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Opens what is below a folder without following any link.
fn beneath(folder: impl AsFd, path: &str) -> rustix::io::Result<OwnedFd> {
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(folder, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), how)
}

/// A descriptor as a path that the kernel takes in place of one.
fn by_number(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("{OLD}/proc/self/fd/{}", fd.as_raw_fd()))
}

/// What a change of a mount reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    This,
    /// All mounts below it, too.
    Below,
}

/// Makes a mount read-only, and devices and set-user-id programs on it dead.
#[expect(
    unsafe_code,
    reason = "mount_setattr, which reaches all mounts below, has no wrapper here"
)]
fn attribute(at: &Path, reach: Reach) -> io::Result<()> {
    let path =
        std::ffi::CString::new(at.as_os_str().as_encoded_bytes()).map_err(io::Error::other)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if reach == Reach::Below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the attributes are whole, and outlive the call; the size is that of the attributes.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Leaves the machine's root behind for good, and enters the folder of the command.
fn go_in(spec: &Spec) -> Result<(), Unbuilt> {
    std::env::set_current_dir(NEW).map_err(doing("going in"))?;
    pivot_root(".", ".").map_err(doing("going in"))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(doing("closing the door"))?;
    std::env::set_current_dir("/").map_err(doing("going in"))?;
    let root = open(&spec.root).map_err(doing("opening the workspace"))?;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat2(&root, spec.folder.as_str(), flags, Mode::empty(), how)
        .map_err(doing(format!("entering {}", spec.folder)))?;
    rustix::process::fchdir(&folder).map_err(doing(format!("entering {}", spec.folder)))
}
