//! Sockets of services of this machine that lie where a command can see them. A network of one's own does not close
//! those: whoever can name the file can connect. So those at which somebody listens when a command begins look like
//! empty files to it. One that is made later, while the command runs, is not covered. Those that nobody listens at stay
//! as they are, because programs remove and make them again.

use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::inside::{Unbuilt, doing};
use super::mounts::{bind, by_number};
use super::spec::Spec;
use super::trees::{beneath, open};

/// Sockets of services in folders of the system that commands see.
const SERVICES: [(&str, &str); 1] = [("/nix/var/nix/daemon-socket", "socket")];

/// How deep what lies outside of the workspace is searched: the socket of git's own file monitor is there.
const SHALLOW: usize = 3;

/// A folder that commands see, and what of it must be covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Socket {
    folder: PathBuf,
    name: OsString,
}

/// Every socket that the command of these orders could reach and that somebody listens at.
pub(super) fn reachable(spec: &Spec) -> Vec<Socket> {
    let mut found = Vec::new();
    search(&spec.root, usize::MAX, &mut found);
    for folder in &spec.visible {
        search(folder, SHALLOW, &mut found);
    }
    let services = SERVICES.map(|(folder, name)| (PathBuf::from(folder), OsString::from(name)));
    found.extend(services.map(|(folder, name)| Socket { folder, name }));
    found.retain(Socket::is_live);
    found
}

/// Looks for sockets below a folder. Names and kinds are enough, so nothing but folders is opened.
fn search(folder: &Path, depth: usize, found: &mut Vec<Socket>) {
    let mut open = vec![(folder.to_owned(), depth)];
    while let Some((at, depth)) = open.pop() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth > 1 {
                open.push((path, depth - 1));
            } else if kind.is_socket()
                && let Ok(name) = path.strip_prefix(folder)
            {
                found.push(Socket { folder: folder.to_owned(), name: name.into() });
            }
        }
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
pub(super) fn cover(sockets: &[Socket]) -> Result<(), Unbuilt> {
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
        let mut found = Vec::new();
        search(dir.path(), usize::MAX, &mut found);
        assert_eq!(found.len(), 3);
        found.retain(Socket::is_live);
        let mut names: Vec<_> = found.into_iter().map(|socket| socket.name).collect();
        names.sort();
        assert_eq!(names, ["datagram", "sub/stream"]);
        stream.set_nonblocking(true).expect("a socket");
        assert!(stream.accept().is_err(), "nobody connected");
        let mut shallow = Vec::new();
        search(dir.path(), 1, &mut shallow);
        assert_eq!(shallow.len(), 2);
    }
}
