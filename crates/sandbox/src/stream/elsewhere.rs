//! Readiness of two pipes on systems without epoll: each is watched separately, and the first that is found readable
//! comes first, which is the order of arrival only as far as it is read fast enough.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::unix::AsyncFd;

#[derive(Debug)]
pub(super) struct Ready {
    pipes: [Option<AsyncFd<OwnedFd>>; 2],
}

impl Ready {
    /// Watches non-blocking pipes, which are identified by their indices from then on.
    #[expect(unsafe_code, reason = "registering descriptors of ours, which are owned here")]
    pub(super) fn new(pipes: [&File; 2]) -> io::Result<Self> {
        let [out, err] = pipes;
        let watch = |pipe: &File| -> io::Result<_> {
            // SAFETY: `AsyncFd` owns the copy, hands out only references to it, and closes it after it left the
            // reactor.
            Ok(Some(unsafe { AsyncFd::register(pipe.as_fd().try_clone_to_owned()?) }?))
        };
        Ok(Self { pipes: [watch(out)?, watch(err)?] })
    }

    /// Waits until a pipe may be readable. Cancel-safe.
    pub(super) async fn wait(&self) -> io::Result<()> {
        let [out, err] = self.pipes.each_ref().map(|pipe| async move {
            match pipe {
                Some(pipe) => pipe.readable().await.map(drop),
                None => std::future::pending().await,
            }
        });
        tokio::select! {
            ready = out => ready,
            ready = err => ready,
        }
    }

    /// A readable pipe, according to the reactor: if there is none, the next `wait` blocks.
    pub(super) fn next(&self) -> io::Result<usize> {
        for (place, pipe) in self.pipes.iter().enumerate() {
            let Some(pipe) = pipe else { continue };
            let look = |fd: &OwnedFd| has_something(fd)?.then_some(()).ok_or_else(would_block);
            match pipe.try_io(tokio::io::Interest::READABLE, look) {
                Ok(()) => return Ok(place),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Err(would_block())
    }

    /// A pipe that is readable now.
    pub(super) fn now(&self) -> io::Result<usize> {
        for (place, pipe) in self.pipes.iter().enumerate() {
            if let Some(pipe) = pipe
                && has_something(pipe.get_ref())?
            {
                return Ok(place);
            }
        }
        Err(would_block())
    }

    /// Stops watching a pipe that has reached its end.
    pub(super) fn forget(&mut self, place: usize, _pipe: &File) -> io::Result<()> {
        self.pipes[place] = None;
        Ok(())
    }
}

fn would_block() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// Whether there is data to read, or the end of the stream.
fn has_something(fd: &OwnedFd) -> io::Result<bool> {
    let mut all = [PollFd::new(fd, PollFlags::IN)];
    Ok(poll(&mut all, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? > 0)
}
