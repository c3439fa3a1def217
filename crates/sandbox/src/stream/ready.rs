//! Readiness of two pipes by epoll, which reports them in the order in which they became readable.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::epoll;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[derive(Debug)]
pub(super) struct Ready(AsyncFd<OwnedFd>);

impl Ready {
    /// Watches non-blocking pipes, which are identified by their indices from then on.
    #[expect(unsafe_code, reason = "registering a descriptor of ours, which is owned here")]
    pub(super) fn new(pipes: [&File; 2]) -> io::Result<Self> {
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (pipe, key) in pipes.into_iter().zip(0..) {
            epoll::add(&queue, pipe, epoll::EventData::new_u64(key), epoll::EventFlags::IN)?;
        }
        // SAFETY: `AsyncFd` owns the descriptor, hands out only references to it, and closes it after it left the
        // reactor.
        Ok(Self(unsafe { AsyncFd::register(queue) }?))
    }

    /// Waits until a pipe may be readable. Cancel-safe.
    pub(super) async fn wait(&self) -> io::Result<()> {
        drop(self.0.readable().await?);
        Ok(())
    }

    /// The pipe that has been readable for the longest, according to the reactor: if there is none, the next `wait`
    /// blocks.
    pub(super) fn next(&self) -> io::Result<usize> {
        self.0.try_io(Interest::READABLE, first)
    }

    /// The pipe that has been readable for the longest, now.
    pub(super) fn now(&self) -> io::Result<usize> {
        first(self.0.get_ref())
    }

    /// Stops watching a pipe that has reached its end.
    pub(super) fn forget(&mut self, _place: usize, pipe: &File) -> io::Result<()> {
        Ok(epoll::delete(self.0.get_ref(), pipe)?)
    }
}

fn first(queue: &OwnedFd) -> io::Result<usize> {
    let mut found: Vec<epoll::Event> = Vec::with_capacity(1);
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    epoll::wait(queue, rustix::buffer::spare_capacity(&mut found), Some(&now))?;
    let place = found.first().map(|event| usize::from(event.data.u64() == 1));
    place.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}
