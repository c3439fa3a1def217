//! Sandbox helpers: processes of ours that set up sandboxes, for one command of a workspace after the other. Each has left our
//! namespaces and laid out a root, and has the next command's own namespaces ready, so that a command pays only for what
//! is its own. When we die, their lines break and they end, with everything inside.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::line;
use super::spec::{Prelude, Report, Spec, WORD};
use crate::child::own_session;

/// How many are kept: more than there are folders worked in at the same time, because whoever takes folders in turn would
/// otherwise find each let go when it is its turn again. An idle one is three processes that wait, of about a megabyte
/// together. Those that worked longest ago are let go when their last command has ended.
const KEPT: usize = 64;

/// How long we listen for the reason of one that is at its end.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The helpers of this process.
#[derive(Debug, Default)]
pub(super) struct SandboxHelpers {
    known: Mutex<Vec<Arc<SandboxHelper>>>,
    ended: Ended,
}

/// Those who were ended, until the kernel has been told that we know.
type Ended = Arc<Mutex<Vec<Child>>>;

/// One of them, and the line to it. Dropping it ends it, with everything that it holds.
#[derive(Debug)]
pub(super) struct SandboxHelper {
    prelude: Prelude,
    line: Mutex<UnixStream>,
    child: Option<Child>,
    ended: Ended,
}

impl SandboxHelpers {
    /// The one for such orders, if it is there.
    pub(super) fn known(&self, prelude: &Prelude) -> Option<Arc<SandboxHelper>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|helper| helper.prelude == *prelude)?;
        let helper = known.remove(place);
        known.push(Arc::clone(&helper));
        Some(helper)
    }

    /// A new one.
    pub(super) fn hire(&self, prelude: &Prelude) -> io::Result<Arc<SandboxHelper>> {
        let dead = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).retain_mut(|child| !dead(child));
        let helper = Arc::new(SandboxHelper::start(prelude.clone(), Arc::clone(&self.ended))?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push(Arc::clone(&helper));
        let gone = (known.len() > KEPT).then(|| known.remove(0));
        drop(known);
        drop(gone);
        Ok(helper)
    }

    /// Does not ask this one again.
    pub(super) fn dismiss(&self, helper: &Arc<SandboxHelper>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|other| !Arc::ptr_eq(other, helper));
    }
}

impl SandboxHelper {
    fn start(prelude: Prelude, ended: Ended) -> io::Result<Self> {
        let (mut line, theirs) = UnixStream::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(WORD).env_clear().current_dir("/");
        command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        own_session(&mut command);
        let child = Some(command.spawn()?);
        line::send(&mut line, &prelude, &[])?;
        Ok(Self { prelude, line: Mutex::new(line), child, ended })
    }

    /// Gives orders for one command, with the line on which its end is told and the pipes for what it says.
    pub(super) fn order(&self, spec: &Spec, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line::send(&mut line, spec, fds)
    }

    /// Why it could not go on, if it says so. May take a moment.
    pub(super) fn last_words(&self) -> Option<String> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.set_read_timeout(Some(LAST_WORDS)).ok()?;
        match line::receive::<Report>(&mut line, |_| 0) {
            Ok((Report::Failed(reason), _)) => Some(reason),
            _ => None,
        }
    }
}

impl Drop for SandboxHelper {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else { return };
        if let Ok(group) = i32::try_from(child.id()) {
            // The only error there is to expect is that nobody is left, which is what was wanted.
            killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
        }
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
}
