//! The operation of a stopped system call and its file, read from its registers and from `/proc`. Only operations on
//! files below one folder count; pipes, sockets and other paths do not.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, Path, PathBuf};

use libc::user_regs_struct;
use nix::unistd::Pid;

use super::point::Kind;

/// A disk operation, before it is performed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// The file, relative to the folder: the written or removed one, or the new name of a rename.
    pub(super) path: PathBuf,
    pub(super) what: What,
}

/// Details for a recording, besides the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// Through a descriptor, at an offset if the call has one.
    Write {
        fd: u64,
        offset: Option<u64>,
    },
    Sync,
    /// All files.
    SyncAll,
    From(PathBuf),
    HardLink(PathBuf),
    SymbolicLink(PathBuf),
    Remove,
    Create {
        empties: bool,
        mode: u32,
    },
    Mkdir,
    Truncate(u64),
}

/// Resolves the paths of a process.
struct Reader<'a> {
    pid: Pid,
    below: &'a Path,
}

/// The operation in these registers, if it is one below the folder.
pub(super) fn operation(pid: Pid, regs: &user_regs_struct, below: &Path) -> Option<Operation> {
    let reader = Reader { pid, below };
    let (a, b, c, d) = (regs.rdi, regs.rsi, regs.rdx, regs.r10);
    let here = AT_FDCWD;
    let number = i64::try_from(regs.orig_rax).ok()?;
    match number {
        libc::SYS_write | libc::SYS_writev => reader.write(a, None),
        libc::SYS_sendfile => reader.write(a, None),
        libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => reader.write(a, Some(d)),
        libc::SYS_copy_file_range => reader.write(c, None),
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_sync_file_range => {
            Some(Operation { kind: Kind::Sync, path: reader.descriptor(a)?, what: What::Sync })
        }
        libc::SYS_sync | libc::SYS_syncfs => {
            Some(Operation { kind: Kind::Sync, path: PathBuf::new(), what: What::SyncAll })
        }
        libc::SYS_rename => reader.rename((here, a), (here, b)),
        libc::SYS_renameat | libc::SYS_renameat2 => reader.rename((a, b), (c, d)),
        libc::SYS_unlink | libc::SYS_rmdir => reader.remove(here, a),
        libc::SYS_unlinkat => reader.remove(a, b),
        libc::SYS_open => reader.create(here, a, b, c),
        libc::SYS_creat => reader.create(here, a, CREATES_EMPTY, b),
        libc::SYS_openat => reader.create(a, b, c, d),
        libc::SYS_openat2 => reader.create(a, b, reader.word(c)?, reader.word(c + 8)?),
        libc::SYS_link => reader.link((here, a), (here, b)),
        libc::SYS_linkat => reader.link((a, b), (c, d)),
        libc::SYS_symlink => reader.symbolic_link(a, (here, b)),
        libc::SYS_symlinkat => reader.symbolic_link(a, (b, c)),
        libc::SYS_mkdir => reader.mkdir(here, a),
        libc::SYS_mkdirat => reader.mkdir(a, b),
        libc::SYS_ftruncate => {
            let (path, what) = (reader.descriptor(a)?, What::Truncate(b));
            Some(Operation { kind: Kind::Truncate, path, what })
        }
        libc::SYS_truncate => {
            let (path, what) = (reader.path(here, a)?, What::Truncate(b));
            Some(Operation { kind: Kind::Truncate, path, what })
        }
        _ => None,
    }
}

/// Whether the third argument of the call is its byte count, so that it can be cut short.
pub(super) fn can_be_torn(regs: &user_regs_struct) -> bool {
    let number = i64::try_from(regs.orig_rax).unwrap_or(-1);
    matches!(number, libc::SYS_write | libc::SYS_pwrite64) && regs.rdx > 1
}

const AT_FDCWD: u64 = libc::AT_FDCWD as u64;
const CREATES: u64 = libc::O_CREAT as u64;
const EMPTIES: u64 = libc::O_TRUNC as u64;
const CREATES_EMPTY: u64 = CREATES | EMPTIES;

impl Reader<'_> {
    fn write(&self, fd: u64, offset: Option<u64>) -> Option<Operation> {
        let path = self.descriptor(fd)?;
        Some(Operation { kind: Kind::Write, path, what: What::Write { fd, offset } })
    }

    fn rename(&self, from: (u64, u64), to: (u64, u64)) -> Option<Operation> {
        let (from, path) = (self.path(from.0, from.1)?, self.path(to.0, to.1)?);
        Some(Operation { kind: Kind::Rename, path, what: What::From(from) })
    }

    fn remove(&self, dir: u64, name: u64) -> Option<Operation> {
        let path = self.path(dir, name)?;
        let there = self.below.join(&path).symlink_metadata().is_ok();
        there.then_some(Operation { kind: Kind::Unlink, path, what: What::Remove })
    }

    /// An open counts if it creates a file or truncates one that is not empty.
    fn create(&self, dir: u64, name: u64, flags: u64, mode: u64) -> Option<Operation> {
        if flags & CREATES_EMPTY == 0 {
            return None;
        }
        let path = self.path(dir, name)?;
        let there = self.below.join(&path).symlink_metadata();
        let empties = flags & EMPTIES != 0 && there.as_ref().is_ok_and(|file| file.len() > 0);
        let makes = flags & CREATES != 0 && there.is_err();
        let mode = u32::try_from(mode & 0o777).unwrap_or(0o644);
        let what = What::Create { empties, mode };
        (makes || empties).then_some(Operation { kind: Kind::Create, path, what })
    }

    fn link(&self, from: (u64, u64), to: (u64, u64)) -> Option<Operation> {
        let (from, path) = (self.path(from.0, from.1)?, self.path(to.0, to.1)?);
        Some(Operation { kind: Kind::Link, path, what: What::HardLink(from) })
    }

    fn symbolic_link(&self, target: u64, to: (u64, u64)) -> Option<Operation> {
        let (target, path) = (PathBuf::from(self.text(target)?), self.path(to.0, to.1)?);
        Some(Operation { kind: Kind::Link, path, what: What::SymbolicLink(target) })
    }

    fn mkdir(&self, dir: u64, name: u64) -> Option<Operation> {
        let path = self.path(dir, name)?;
        let there = self.below.join(&path).symlink_metadata().is_ok();
        (!there).then_some(Operation { kind: Kind::Mkdir, path, what: What::Mkdir })
    }

    /// The file behind a descriptor.
    fn descriptor(&self, fd: u64) -> Option<PathBuf> {
        let link = std::fs::read_link(format!("/proc/{}/fd/{fd}", self.pid)).ok()?;
        let path = link.strip_prefix(self.below).ok()?.to_owned();
        (!path.to_string_lossy().ends_with(" (deleted)")).then_some(path)
    }

    /// A path in the process's memory, relative to one of its folders.
    fn path(&self, dir: u64, name: u64) -> Option<PathBuf> {
        let name = PathBuf::from(self.text(name)?);
        // Only the low half of the register counts.
        let link = if dir & 0xffff_ffff == AT_FDCWD & 0xffff_ffff {
            format!("/proc/{}/cwd", self.pid)
        } else {
            format!("/proc/{}/fd/{}", self.pid, dir & 0xffff_ffff)
        };
        let whole =
            if name.is_absolute() { name } else { std::fs::read_link(link).ok()?.join(name) };
        Some(plain(&whole).strip_prefix(self.below).ok()?.to_owned())
    }

    fn text(&self, at: u64) -> Option<String> {
        let memory = File::open(format!("/proc/{}/mem", self.pid)).ok()?;
        let mut text = vec![];
        // A page at a time, so that the read does not cross the end of the memory.
        while text.len() < 4096 {
            let place = at + u64::try_from(text.len()).ok()?;
            let mut piece = vec![0; usize::try_from(256 - place % 256).ok()?];
            let read = memory.read_at(&mut piece, place).ok()?;
            if read == 0 {
                // The process was killed meanwhile, and has no memory any more.
                return None;
            }
            let piece = piece.get(..read)?;
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(piece.get(..end)?);
                return String::from_utf8(text).ok();
            }
            text.extend_from_slice(piece);
        }
        None
    }

    fn word(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        File::open(format!("/proc/{}/mem", self.pid)).ok()?.read_exact_at(&mut bytes, at).ok()?;
        Some(u64::from_le_bytes(bytes))
    }
}

/// Resolves `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
