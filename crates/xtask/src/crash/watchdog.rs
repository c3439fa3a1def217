//! Kills processes that do not end on their own: a command after its timeout, and its leftover processes after some
//! seconds.

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The timeout of a command.
const LIMIT: Duration = Duration::from_secs(40);
/// How long its processes may outlive it.
const GRACE: Duration = Duration::from_secs(5);
const LOOKS_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct State {
    known: BTreeSet<Pid>,
    over: Option<Instant>,
    hung: bool,
    left: Vec<String>,
}

/// A thread that watches the clock while the tracer waits.
#[derive(Debug)]
pub(super) struct Watchdog {
    state: Arc<Mutex<State>>,
    stop: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Watchdog {
    pub(super) fn start(root: Pid) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = sync_channel::<()>(1);
        let (shared, began) = (state.clone(), Instant::now());
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(LOOKS_EVERY) == Err(RecvTimeoutError::Timeout) {
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                look(&mut state, root, began);
            }
        });
        Self { state, stop, thread }
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn knows(&self, pid: Pid) {
        self.with(|state| state.known.insert(pid));
    }

    pub(super) fn forgets(&self, pid: Pid) {
        self.with(|state| state.known.remove(&pid));
    }

    /// The command itself has ended.
    pub(super) fn is_over(&self) {
        self.with(|state| state.over = Some(Instant::now()));
    }

    /// Whether the command had to be killed, and the processes it left.
    pub(super) fn stop(self) -> (bool, Vec<String>) {
        let found = self.with(|state| (state.hung, std::mem::take(&mut state.left)));
        drop(self.stop);
        self.thread.join().ok();
        found
    }
}

fn look(state: &mut State, root: Pid, began: Instant) {
    match state.over {
        None if began.elapsed() > LIMIT => {
            state.hung = true;
            kill(root, Signal::SIGKILL).ok();
        }
        Some(over) if over.elapsed() > GRACE && state.left.is_empty() => {
            for pid in &state.known {
                let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                state.left.push(words.trim().to_owned());
                kill(*pid, Signal::SIGKILL).ok();
            }
        }
        _ => {}
    }
}
