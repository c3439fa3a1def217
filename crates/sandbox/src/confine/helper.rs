//! Sandbox helpers: child processes that set up sandboxes for the commands of a workspace, one after another. Each has
//! left the machine's namespaces, laid out a root, and prepared the namespaces of the next command, so that a command
//! pays only for its own part. If this process dies, their sockets close and they end, with everything inside.

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

/// Number of helpers kept: more than the folders in use at the same time, because a caller that cycles through folders
/// would otherwise find each helper evicted when its turn comes again. An idle helper is three waiting processes, of
/// about a megabyte together. The least recently used helpers are dropped once their last command has ended.
const KEPT: usize = 64;

/// How long to wait for the reason of a terminating helper.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The helpers of this process.
#[derive(Debug, Default)]
pub(super) struct SandboxHelpers {
    known: Mutex<Vec<Arc<SandboxHelper>>>,
    ended: Ended,
}

/// Killed helpers that are not reaped yet.
type Ended = Arc<Mutex<Vec<Child>>>;

/// A helper and the socket to it. Dropping it kills the helper, with everything inside.
#[derive(Debug)]
pub(super) struct SandboxHelper {
    prelude: Prelude,
    line: Mutex<UnixStream>,
    child: Option<Child>,
    ended: Ended,
}

impl SandboxHelpers {
    /// The running helper for this prelude, if there is one.
    pub(super) fn known(&self, prelude: &Prelude) -> Option<Arc<SandboxHelper>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|helper| helper.prelude == *prelude)?;
        let helper = known.remove(place);
        known.push(Arc::clone(&helper));
        Some(helper)
    }

    /// Starts a new helper.
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

    /// Removes a helper from the pool.
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

    /// Sends the spec of one command, with the socket for its report and the pipes for its output.
    pub(super) fn order(&self, spec: &Spec, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        line::send(&mut line, spec, fds)
    }

    /// Reason for the helper's failure, if it reports one. May block briefly.
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
            // The only expected error is that no process is left.
            killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
        }
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
}
