//! Helpers that stand ready. Each is a process of its own that has built everything that does not depend on a command
//! and waits for orders; it is used once. When we die, their lines break and they end.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::line;
use super::spec::Prelude;
use crate::process::own_session;

/// How many stand ready.
const KEPT: usize = 3;

/// The helpers of this process.
#[derive(Debug, Default)]
pub(super) struct Spares {
    ready: Mutex<Vec<Spare>>,
    /// Those that are done, until the kernel has been told that we know.
    done: Mutex<Vec<Child>>,
}

/// A helper, and the line to it. Dropping it ends it, with everything that it holds.
#[derive(Debug)]
pub(super) struct Spare {
    prelude: Prelude,
    pub(super) line: UnixStream,
    child: Option<Child>,
}

impl Spares {
    /// A helper for such orders that stands ready, if there is one. The one that has stood the longest is taken.
    pub(super) fn ready(&self, prelude: &Prelude) -> Option<Spare> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let place = ready.iter().position(|spare| spare.prelude == *prelude)?;
        Some(ready.remove(place))
    }

    /// A new one.
    pub(super) fn start(&self, prelude: &Prelude) -> io::Result<Spare> {
        Spare::start(prelude.clone())
    }

    /// Sees to it that the next one finds a helper. Nothing depends on it.
    fn refill(self: &Arc<Self>, prelude: Prelude) {
        let spares = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            spares.collect();
            while let Some(old) = spares.wanting(&prelude) {
                // Those for other orders are from another time, or another policy.
                drop(old);
                let Ok(spare) = Spare::start(prelude.clone()) else { return };
                spares.ready.lock().unwrap_or_else(PoisonError::into_inner).push(spare);
            }
        });
    }

    /// Whether there are too few for such orders, and those that nobody will want any more.
    fn wanting(&self, prelude: &Prelude) -> Option<Vec<Spare>> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |spare: &Spare| spare.prelude == *prelude;
        let few = ready.iter().filter(|spare| fits(spare)).count() < KEPT;
        few.then(|| ready.extract_if(.., |spare| !fits(spare)).collect())
    }

    /// Takes back one that has said its last word, and sees to it that there is one for the next command. That is done
    /// now rather than when it was taken, so that nobody's command competes with it.
    pub(super) fn give_back(self: &Arc<Self>, mut spare: Spare) {
        self.refill(spare.prelude.clone());
        if let Some(child) = spare.child.take() {
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        }
    }

    fn collect(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

impl Spare {
    fn start(prelude: Prelude) -> io::Result<Self> {
        let (mut line, theirs) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(super::WORD).env_clear().current_dir("/");
        command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        own_session(&mut command);
        let child = Some(command.spawn()?);
        line::send(&mut line, &prelude, &[])?;
        Ok(Self { prelude, line, child })
    }

    /// Ends it and everything that it holds, at once.
    pub(super) fn kill(&self) {
        let group = self.child.as_ref().and_then(|child| i32::try_from(child.id()).ok());
        if let Some(group) = group {
            // The only error there is to expect is that nobody is left, which is what was wanted.
            killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.kill();
        if let Some(mut child) = self.child.take() {
            // It was just killed; if it is not dead yet, whoever collects our own end collects it.
            child.try_wait().ok();
        }
    }
}
