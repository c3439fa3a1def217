//! Unix sockets of this machine's services in paths that a command can see. A network namespace does not isolate those:
//! any process that can name the file can connect. So sockets with a listener at the start of a command appear to it as
//! empty files. A socket created later, while the command runs, is not covered. Sockets without a listener stay as they
//! are, because programs remove and recreate them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::disk;
use super::error::{SetupError, doing};
use super::mount::{beneath, bind, by_number, open};
use super::spec::Spec;

/// Sockets of services in visible system folders.
const SERVICES: [(&str, &str); 1] = [("/nix/var/nix/daemon-socket", "socket")];

/// Search depth outside the workspace: the socket of git's own file monitor is there.
const SHALLOW: usize = 3;

/// Maximum number of folders in the cache.
const MOST_KNOWN: usize = 200_000;

/// A socket to cover, as a visible folder and a path in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Socket {
    folder: PathBuf,
    name: OsString,
}

/// Finds sockets, and caches the content of folders: most are unchanged when the next command comes.
#[derive(Debug, Default)]
pub(super) struct Finder {
    known: HashMap<PathBuf, Known>,
}

/// Content of a folder, valid as long as its change time is the same.
#[derive(Debug)]
struct Known {
    changed: (i64, i64),
    folders: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
}

impl Finder {
    /// All sockets with a listener that the command of this spec could reach.
    pub(super) fn reachable(&mut self, spec: &Spec) -> Vec<Socket> {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let mut found = self.search(&spec.root, usize::MAX);
        for folder in &spec.bounds.visible {
            found.extend(self.search(folder, SHALLOW));
        }
        let services = SERVICES.map(|(folder, name)| (PathBuf::from(folder), OsString::from(name)));
        found.extend(services.map(|(folder, name)| Socket { folder, name }));
        found.retain(Socket::is_live);
        found
    }

    /// Sockets below a folder. Names and types suffice, so only folders are opened.
    fn search(&mut self, folder: &Path, depth: usize) -> Vec<Socket> {
        let now = disk::now();
        let mut found = Vec::new();
        let mut open = vec![(folder.to_owned(), depth)];
        while let Some((at, depth)) = open.pop() {
            let Ok(stat) = fs::symlink_metadata(&at) else { continue };
            let changed = (stat.ctime(), stat.ctime_nsec());
            // A folder that changed just now may change again within the same timestamp.
            let settled = changed.0.saturating_add(1) < now.0;
            let known = self.known.remove(&at).filter(|known| known.changed == changed);
            let known = known.unwrap_or_else(|| Known::read(&at, changed));
            let named = known.sockets.iter().filter_map(|path| path.strip_prefix(folder).ok());
            found.extend(named.map(|name| Socket { folder: folder.to_owned(), name: name.into() }));
            if depth > 1 {
                open.extend(known.folders.iter().map(|path| (path.clone(), depth - 1)));
            }
            if settled {
                self.known.insert(at, known);
            }
        }
        found
    }
}

impl Known {
    fn read(folder: &Path, changed: (i64, i64)) -> Self {
        let mut known = Self { changed, folders: vec![], sockets: vec![] };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => known.folders.push(entry.path()),
                Ok(kind) if kind.is_socket() => known.sockets.push(entry.path()),
                _ => {}
            }
        }
        known
    }
}

impl Socket {
    fn open(&self) -> rustix::io::Result<OwnedFd> {
        beneath(open(&self.folder, OFlags::DIRECTORY)?, &self.name)
    }

    /// Whether the socket has a listener. Connects as a datagram socket: a datagram listener does not notice that, and
    /// any other refuses it, so no listener is disturbed.
    fn is_live(&self) -> bool {
        let Ok(file) = self.open() else { return false };
        let kind = (SockType::Datagram, SockFlag::SOCK_CLOEXEC);
        let tried = socket(AddressFamily::Unix, kind.0, kind.1, None).and_then(|ours| {
            let address = UnixAddr::new(&by_number(&file))?;
            connect(ours.as_raw_fd(), &address)
        });
        tried != Err(Errno::ECONNREFUSED)
    }
}

/// Mounts an empty file over each socket.
pub(super) fn cover(sockets: &[Socket]) -> Result<(), SetupError> {
    for socket in sockets {
        // A socket that no longer exists needs no cover.
        let Ok(file) = socket.open() else { continue };
        bind(Path::new("/dev/null"), &by_number(&file))
            .map_err(doing(format!("covering {}", Path::new(&socket.name).display())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixListener};

    use super::*;

    #[test]
    fn only_sockets_that_somebody_listens_at_are_found_and_nobody_hears_of_it() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("sub")).expect("a folder");
        let stream = UnixListener::bind(dir.path().join("sub/stream")).expect("a socket");
        let _datagram = UnixDatagram::bind(dir.path().join("datagram")).expect("a socket");
        drop(UnixListener::bind(dir.path().join("dead")).expect("a socket"));
        fs::write(dir.path().join("file"), "x").expect("a file");
        let mut found = Finder::default().search(dir.path(), usize::MAX);
        assert_eq!(found.len(), 3);
        found.retain(Socket::is_live);
        let mut names: Vec<_> = found.into_iter().map(|socket| socket.name).collect();
        names.sort();
        assert_eq!(names, ["datagram", "sub/stream"]);
        stream.set_nonblocking(true).expect("a socket");
        assert!(stream.accept().is_err(), "nobody connected");
        assert_eq!(Finder::default().search(dir.path(), 1).len(), 2);
    }

    #[test]
    fn a_socket_in_a_folder_that_is_known_is_found() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        let mut finder = Finder::default();
        assert!(finder.search(dir.path(), usize::MAX).is_empty());
        assert!(finder.known.is_empty(), "all of them are new");
        let began = disk::now();
        while disk::now().0 < began.0 + 3 {
            std::thread::yield_now();
        }
        assert!(finder.search(dir.path(), usize::MAX).is_empty());
        assert_eq!(finder.known.len(), 3);
        let _socket = UnixListener::bind(dir.path().join("a/b/late")).expect("a socket");
        assert_eq!(finder.search(dir.path(), usize::MAX).len(), 1);
    }
}
