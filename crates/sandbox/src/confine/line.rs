//! Messages between the main process and a sandbox helper, and between the helper's two processes: a length, JSON, and
//! file descriptors sent along. Both ends are trusted, but message sizes are bounded all the same.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{SetupError, doing};
use super::spec::{ORDERED, Report, Spec};

/// Maximum length of a message in bytes.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// Maximum number of descriptors sent at once; the kernel accepts 253.
const MOST_AT_ONCE: usize = 128;

/// Encodes a message.
pub(super) fn packed(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend_from_slice(&text);
    Ok(bytes)
}

/// Sends a message with descriptors; the socket must be blocking.
pub(super) fn send(
    line: &mut UnixStream,
    message: &impl Serialize,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    line.write_all(&packed(message)?)?;
    for some in fds.chunks(MOST_AT_ONCE) {
        send_fds(line, some)?;
    }
    Ok(())
}

/// Sends one byte with descriptors.
pub(super) fn send_fds(line: &UnixStream, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let raw: Vec<i32> = fds.iter().map(|fd| fd.as_raw_fd()).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let byte = [IoSlice::new(b"+")];
    sendmsg::<()>(line.as_raw_fd(), &byte, &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives a message, and as many descriptors as `count` expects for it; the socket must be blocking.
pub(super) fn receive<T: DeserializeOwned>(
    line: &mut UnixStream,
    count: impl FnOnce(&T) -> usize,
) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    line.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE {
        return Err(io::Error::other("the message is too long"));
    }
    let mut text = vec![0; length];
    line.read_exact(&mut text)?;
    let message: T = serde_json::from_slice(&text)?;
    let (count, mut fds) = (count(&message), Vec::new());
    while fds.len() < count {
        let some = receive_fds(line)?;
        if some.is_empty() {
            return Err(io::Error::other("descriptors are missing"));
        }
        fds.extend(some);
    }
    Ok((message, fds))
}

/// Receives one byte and the descriptors sent with it.
#[expect(unsafe_code, reason = "the kernel hands descriptors over as numbers")]
pub(super) fn receive_fds(line: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = cmsg_space!([i32; MOST_AT_ONCE]);
    let mut byte = [0];
    let mut bytes = [IoSliceMut::new(&mut byte)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(line.as_raw_fd(), &mut bytes, Some(&mut space), flags)?;
    let mut fds = Vec::new();
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = part {
            // SAFETY: the kernel just created these for this process; nothing else owns them.
            fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok(fds)
}

/// Sends a report; returns exit code 1 if the peer is gone.
pub(super) fn say(to: &mut UnixStream, report: &Report) -> i32 {
    i32::from(send(to, report, &[]).is_err())
}

/// The next spec with its descriptors; `None` once the peer has closed the socket.
pub(super) fn ordered(ours: &mut UnixStream) -> Result<Option<(Spec, Vec<OwnedFd>)>, SetupError> {
    match receive::<Spec>(ours, |spec| ORDERED + usize::from(spec.joins)) {
        Ok(orders) => Ok(Some(orders)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(doing("waiting for orders")(error)),
    }
}
