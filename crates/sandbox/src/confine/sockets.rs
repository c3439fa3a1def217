//! Sockets of services of this machine that lie where a command can see them. A network of one's own does not close
//! those: whoever can name the file can connect. So those at which somebody listens when a command begins look like
//! empty files to it. One that is made later, while the command runs, is not covered. Those that nobody listens at stay
//! as they are, because programs remove and make them again.

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

/// Sockets of services in folders of the system that commands see.
const SERVICES: [(&str, &str); 1] = [("/nix/var/nix/daemon-socket", "socket")];

/// How deep what lies outside of the workspace is searched: the socket of git's own file monitor is there.
const SHALLOW: usize = 3;

/// How many folders are remembered.
const MOST_KNOWN: usize = 200_000;

/// A folder that commands see, and what of it must be covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Socket {
    folder: PathBuf,
    name: OsString,
}

/// Looks for sockets, and remembers what was in which folder: most are as they were when the next command comes.
#[derive(Debug, Default)]
pub(super) struct Finder {
    known: HashMap<PathBuf, Known>,
}

/// What is in a folder, as long as it was last changed at this time.
#[derive(Debug)]
struct Known {
    changed: (i64, i64),
    folders: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
}

impl Finder {
    /// Every socket that the command of these orders could reach and that somebody listens at.
    pub(super) fn reachable(&mut self, spec: &Spec) -> Vec<Socket> {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let mut found = self.search(&spec.root, usize::MAX);
        for folder in &spec.visible {
            found.extend(self.search(folder, SHALLOW));
        }
        let services = SERVICES.map(|(folder, name)| (PathBuf::from(folder), OsString::from(name)));
        found.extend(services.map(|(folder, name)| Socket { folder, name }));
        found.retain(Socket::is_live);
        found
    }

    /// Sockets below a folder. Names and kinds are enough, so nothing but folders is opened.
    fn search(&mut self, folder: &Path, depth: usize) -> Vec<Socket> {
        let now = disk::now();
        let mut found = Vec::new();
        let mut open = vec![(folder.to_owned(), depth)];
        while let Some((at, depth)) = open.pop() {
            let Ok(stat) = fs::symlink_metadata(&at) else { continue };
            let changed = (stat.ctime(), stat.ctime_nsec());
            // One that was changed just now may be changed once more without looking any different.
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

    /// Whether somebody listens. A datagram socket does not notice being connected to, and any other refuses to be
    /// connected to as one, so whoever listens does not hear of it.
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

/// Puts an empty file over each of them.
pub(super) fn cover(sockets: &[Socket]) -> Result<(), SetupError> {
    for socket in sockets {
        // One that is gone by now needs no cover.
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
