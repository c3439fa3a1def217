//! The runs and sessions that this process drives: kept until they end or wait, parked when the server stops, and
//! resumed when it starts. It makes no decisions about a run. A paused run stays paused across restarts, by a file
//! beside the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::sandbox::chain;
use runtime::{Bosun, Clock, Delivered, Entry, Error, Found, Handle, Left, Session};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::{Command, RunId, Status};

/// Delay between the expiry of a question and the resumption of its run.
const GRACE: Duration = Duration::from_millis(200);

/// Registry of the runs and sessions driven here. Clones share state.
#[derive(Debug, Clone)]
pub(crate) struct Drivers {
    bosun: Bosun,
    clock: Arc<dyn Clock>,
    shared: Arc<Mutex<Shared>>,
    tasks: TaskTracker,
    /// Incremented whenever a run is left.
    left: Arc<watch::Sender<u64>>,
    stopping: CancellationToken,
    /// File that stores the paused runs.
    paused_file: PathBuf,
}

#[derive(Debug, Default)]
struct Shared {
    runs: BTreeMap<RunId, CancellationToken>,
    sessions: BTreeMap<RunId, Arc<Session>>,
    paused: BTreeSet<RunId>,
}

impl Drivers {
    pub(crate) fn new(
        bosun: Bosun,
        clock: Arc<dyn Clock>,
        home: &Path,
        stopping: CancellationToken,
    ) -> Self {
        let paused_file = home.join("paused");
        let text = std::fs::read_to_string(&paused_file).unwrap_or_default();
        let paused = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let shared = Arc::new(Mutex::new(Shared { paused, ..Shared::default() }));
        Self {
            bosun,
            clock,
            shared,
            tasks: TaskTracker::new(),
            left: Arc::default(),
            stopping,
            paused_file,
        }
    }

    /// The runs driven here now.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        self.lock().runs.keys().cloned().collect()
    }

    pub(crate) fn is_paused(&self, run: &RunId) -> bool {
        self.lock().paused.contains(run)
    }

    /// Drives a run until it ends or waits.
    pub(crate) fn keep(&self, handle: Handle) {
        let run = handle.run().clone();
        if self.stopping.is_cancelled() {
            handle.suspend();
        }
        self.lock().runs.insert(run.clone(), handle.suspender());
        let drivers = self.clone();
        self.tasks.spawn(async move {
            let left = handle.finished().await;
            drivers.lock().runs.remove(&run);
            drivers.left.send_modify(|count| *count += 1);
            match left {
                Ok(left) => drivers.look_after(&run, &left),
                Err(error) => {
                    tracing::error!(%run, error = %chain(&error), "a run broke off");
                }
            }
        });
    }

    /// Schedules the next resumption of a waiting run, at the earliest expiry of an open question.
    fn look_after(&self, run: &RunId, left: &Left) {
        if let Some(fault) = &left.away {
            tracing::warn!(%run, fault = %fault.what, "a model was unavailable; resume the run later");
        }
        let open = left.view.questions.iter().filter(|asked| asked.answer.is_none());
        let expiry = open.filter_map(|asked| asked.terms.as_ref()?.expires).min();
        let (Status::Waiting, Some(expiry)) = (left.view.status, expiry) else { return };
        let wait = u64::try_from(expiry.millis() - self.clock.now().millis()).unwrap_or(0);
        let (drivers, run) = (self.clone(), run.clone());
        self.tasks.spawn(async move {
            let due = tokio::time::sleep(Duration::from_millis(wait) + GRACE);
            if drivers.stopping.run_until_cancelled(due).await.is_some() {
                drivers.resume(&run).await;
            }
        });
    }

    /// Drives a run, unless another process does or it has ended.
    pub(crate) async fn resume(&self, run: &RunId) {
        match Box::pin(self.bosun.resume(run)).await {
            Ok(handle) => self.keep(handle),
            Err(Error::Over { .. }) => {}
            Err(error) if error.is_busy() => {}
            Err(error) => {
                tracing::warn!(%run, error = %chain(&error), "a run cannot be resumed");
            }
        }
    }

    /// Delivers a command to a run, and drives the run if no process does.
    pub(crate) async fn deliver(&self, run: &RunId, command: &Command) -> Result<(), Error> {
        self.unpause(run);
        match Box::pin(self.bosun.deliver(run, command)).await? {
            Delivered::Taken => {}
            Delivered::Here(handle) => self.keep(handle),
        }
        Ok(())
    }

    /// Parks a run. Returns whether it was driven here.
    pub(crate) fn pause(&self, run: &RunId) -> bool {
        let driven = self.lock().runs.get(run).cloned();
        if let Some(suspend) = &driven {
            self.change_paused(|paused| paused.insert(run.clone()));
            suspend.cancel();
        }
        driven.is_some()
    }

    /// Waits until a run is no longer driven here.
    pub(crate) async fn until_left(&self, run: &RunId) {
        let mut changes = self.left.subscribe();
        while self.lock().runs.contains_key(run) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn unpause(&self, run: &RunId) {
        self.change_paused(|paused| paused.remove(run));
    }

    fn change_paused(&self, change: impl FnOnce(&mut BTreeSet<RunId>) -> bool) {
        let mut shared = self.lock();
        if change(&mut shared.paused) {
            let text: String = shared.paused.iter().map(|run| format!("{run}\n")).collect();
            if let Err(error) = std::fs::write(&self.paused_file, text) {
                tracing::warn!(%error, "cannot save which runs are paused");
            }
        }
    }

    /// The session, if it is driven here.
    pub(crate) fn session(&self, run: &RunId) -> Option<Arc<Session>> {
        self.lock().sessions.get(run).cloned()
    }

    pub(crate) fn keep_session(&self, session: Session) -> Arc<Session> {
        let (run, session) = (session.id().clone(), Arc::new(session));
        self.lock().sessions.insert(run, session.clone());
        session
    }

    pub(crate) fn forget_session(&self, run: &RunId) {
        self.lock().sessions.remove(run);
    }

    /// Resumes every unfinished run that is not paused and that no process drives, including waiting runs, whose
    /// questions may expire.
    pub(crate) async fn resume_all(&self, entries: impl Iterator<Item = &Entry>) {
        for entry in entries {
            let Found::Run { listed, .. } = &entry.found else { continue };
            let unfinished = listed.ended.is_none() && !self.is_paused(&entry.run);
            if unfinished && !self.bosun.is_driven(&entry.run).await.unwrap_or(true) {
                tracing::info!(run = %entry.run, "resumed");
                self.resume(&entry.run).await;
            }
        }
    }

    /// Parks all runs and sessions, and waits until their logs are complete.
    pub(crate) async fn stop(&self) {
        let (runs, sessions) = {
            let mut shared = self.lock();
            (shared.runs.clone(), std::mem::take(&mut shared.sessions))
        };
        for suspend in runs.values() {
            suspend.cancel();
        }
        for (run, session) in sessions {
            if let Err(error) = session.suspend().await {
                tracing::debug!(%run, %error, "parking a session");
            }
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
