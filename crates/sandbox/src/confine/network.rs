//! The loopback interface of an empty network namespace: tests can talk to themselves and to nothing else, except
//! through a listener of the proxy.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// Brings up `lo` in the network namespace of this process.
#[expect(unsafe_code, reason = "interface flags are set by an ioctl that no crate here wraps")]
pub(super) fn loopback_up() -> io::Result<()> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: the arguments are plain numbers, and the result is checked before it is used.
    let raw = unsafe { libc::socket(libc::AF_INET, kind, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: all zeroes is a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = (*from).cast_signed();
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: the request is initialized and outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Port of the proxy inside, if there is one. It is free, because the network is empty, unless that is shared.
pub(super) const PROXY_PORT: u16 = 3128;

/// A listener in this network namespace; any holder of its descriptor can accept connections from any namespace.
pub(super) fn listen(port: u16) -> io::Result<TcpListener> {
    // The interface may not be up yet; process 1 brings it up as well.
    loopback_up()?;
    TcpListener::bind(("127.0.0.1", port))
}
