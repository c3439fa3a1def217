//! Messages between us and a sandbox helper, and between its two halves: a length, JSON, and descriptors that travel with
//! them. Both ends are ours, but what arrives is bounded all the same.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{SetupError, doing};
use super::spec::{ORDERED, Report, Spec};

/// The longest message.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// The kernel takes 253 descriptors at a time.
const MOST_AT_ONCE: usize = 128;

/// A message as bytes.
pub(super) fn packed(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend_from_slice(&text);
    Ok(bytes)
}

/// Sends a message with descriptors; the line must block.
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

/// One byte with descriptors.
pub(super) fn send_fds(line: &UnixStream, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let raw: Vec<i32> = fds.iter().map(|fd| fd.as_raw_fd()).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let byte = [IoSlice::new(b"+")];
    sendmsg::<()>(line.as_raw_fd(), &byte, &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Takes a message, and as many descriptors as it says that there are; the line must block.
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

/// Takes one byte, and the descriptors that come with it.
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
            // SAFETY: the kernel just made these for us; nobody else has them.
            fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok(fds)
}

/// Says it, if somebody still listens.
pub(super) fn say(to: &mut UnixStream, report: &Report) -> i32 {
    i32::from(send(to, report, &[]).is_err())
}

/// The next orders, with what comes with them; nothing when there will be none.
pub(super) fn ordered(ours: &mut UnixStream) -> Result<Option<(Spec, Vec<OwnedFd>)>, SetupError> {
    match receive::<Spec>(ours, |spec| ORDERED + usize::from(spec.joins)) {
        Ok(orders) => Ok(Some(orders)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(doing("waiting for orders")(error)),
    }
}
