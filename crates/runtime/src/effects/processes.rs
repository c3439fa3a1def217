//! Background processes of a session, each a command in the session's sandbox. They end when stopped, when the session
//! is left, or with this program. Their unread output is kept up to a limit.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sandbox::Listener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::{ProcessView, Processes};
use types::{Ended, ExecRequest, Message, Millis, Part, Scope};

use super::workspace::Workspace;
use crate::services::Services;

/// The most that may run at a time.
const MOST: usize = 16;
/// The most unread output kept per process, in bytes; beyond it the beginning is dropped.
const MOST_HELD: usize = 64 * 1024;
/// A background process has no timeout: it runs until stopped.
const FOREVER: Millis = Millis::seconds(365 * 24 * 60 * 60);
/// How long to wait for a stopped process to end.
const STOPPING: Millis = Millis::seconds(10);

/// All background processes of a session.
#[derive(Debug)]
pub(crate) struct BackgroundProcesses {
    services: Arc<Services>,
    workspace: Arc<Workspace>,
    all: Mutex<All>,
    stop: CancellationToken,
    _stops_when_dropped: DropGuard,
}

#[derive(Debug, Default)]
struct All {
    last: u32,
    kept: BTreeMap<u32, Kept>,
    /// A notice that the model has not received yet.
    gone: Option<String>,
}

#[derive(Debug)]
struct Kept {
    command: String,
    stop: CancellationToken,
    heard: watch::Sender<Heard>,
    /// Whether the model knows that it has ended.
    told: bool,
}

#[derive(Debug, Default)]
struct Heard {
    output: Vec<u8>,
    left_out: bool,
    ended: Option<String>,
}

/// The processes as seen by one call, with the call's scope.
#[derive(Debug)]
pub(crate) struct OfCall<'a> {
    all: &'a BackgroundProcesses,
    scope: Option<&'a Scope>,
}

impl BackgroundProcesses {
    /// `gone` is the number of processes started before the session was left.
    pub(crate) fn new(services: Arc<Services>, workspace: Arc<Workspace>, gone: u32) -> Self {
        let said = "[background processes do not outlive the session: those that were started before are gone]";
        let gone_now = (gone > 0).then(|| said.to_owned());
        let all = All { last: gone, kept: BTreeMap::new(), gone: gone_now };
        let stop = CancellationToken::new();
        let _stops_when_dropped = stop.clone().drop_guard();
        Self { services, workspace, all: Mutex::new(all), stop, _stops_when_dropped }
    }

    /// Stops all of them, and waits until the settings that they changed are as they were.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        let running: Vec<_> = self.all().kept.values().map(|kept| kept.heard.subscribe()).collect();
        for mut heard in running {
            let end = heard.wait_for(|heard| heard.ended.is_some());
            drop(tokio::time::timeout(STOPPING.duration(), end).await);
        }
    }

    pub(crate) fn of<'a>(&'a self, scope: Option<&'a Scope>) -> OfCall<'a> {
        OfCall { all: self, scope }
    }

    /// News for the model: processes that have ended since.
    pub(crate) fn news(&self) -> Option<String> {
        let mut all = self.all();
        let mut lines: Vec<String> = all.gone.take().into_iter().collect();
        for (id, kept) in &mut all.kept {
            let ended = kept.heard.borrow().ended.clone();
            if let Some(ended) = ended.filter(|_| !kept.told) {
                kept.told = true;
                let command = types::one_line(&kept.command, 80);
                lines.push(format!("[process {id} has ended: {ended}: {command}]"));
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> usize {
        self.all().kept.values().filter(|kept| kept.heard.borrow().ended.is_none()).count()
    }

    /// The output since the last read, which is marked as read.
    fn taken(&self, id: u32) -> Result<ProcessView, String> {
        let mut all = self.all();
        let kept = all.kept.get_mut(&id).ok_or_else(|| unknown(id))?;
        let mut output = String::new();
        let mut ended = None;
        kept.heard.send_if_modified(|heard| {
            if std::mem::take(&mut heard.left_out) {
                output.push_str("[the beginning was left out]\n");
            }
            output.push_str(&String::from_utf8_lossy(&std::mem::take(&mut heard.output)));
            ended.clone_from(&heard.ended);
            false
        });
        kept.told |= ended.is_some();
        Ok(ProcessView { id, command: kept.command.clone(), ended, output })
    }

    fn heard(&self, id: u32) -> Result<watch::Receiver<Heard>, String> {
        self.all().kept.get(&id).map(|kept| kept.heard.subscribe()).ok_or_else(|| unknown(id))
    }
}

#[async_trait]
impl Processes for OfCall<'_> {
    async fn start(&self, request: ExecRequest) -> Result<u32, String> {
        if self.all.running() >= MOST {
            return Err(format!("{MOST} processes run in the background already; stop one first"));
        }
        let heard = watch::Sender::new(Heard::default());
        let listening = heard.clone();
        let listener =
            Listener::new(move |_, piece| listening.send_modify(|heard| heard.take(piece)));
        let opened = self.all.workspace.open(&self.all.services, self.scope, listener, None);
        let env = opened.await.map_err(|fault| fault.what)?;
        let (command, stop) = (request.command.clone(), self.all.stop.child_token());
        let request = ExecRequest { timeout: FOREVER, background: true, ..request };
        let id = {
            let mut all = self.all.all();
            all.last = all.last.saturating_add(1);
            let id = all.last;
            let (stop, heard) = (stop.clone(), heard.clone());
            all.kept.insert(id, Kept { command, stop, heard, told: false });
            id
        };
        // Its token stops it, at the latest when the session is left.
        tokio::spawn(async move {
            let ended = match env.exec(request, &stop).await {
                Ok(result) => ending(result.ended),
                Err(error) => format!("it could not be run: {}", error.chain()),
            };
            heard.send_modify(|heard| heard.ended = Some(ended));
        });
        Ok(id)
    }

    fn list(&self) -> Vec<ProcessView> {
        let all = self.all.all();
        let view = |(id, kept): (&u32, &Kept)| ProcessView {
            id: *id,
            command: kept.command.clone(),
            ended: kept.heard.borrow().ended.clone(),
            output: String::new(),
        };
        all.kept.iter().map(view).collect()
    }

    async fn read(&self, id: u32, wait: Millis) -> Result<ProcessView, String> {
        let mut heard = self.all.heard(id)?;
        let news = heard.wait_for(|heard| !heard.output.is_empty() || heard.ended.is_some());
        // Returns the available output, also after a timeout. The result must be dropped before `taken`: it holds the
        // channel's read lock.
        drop(tokio::time::timeout(wait.duration(), news).await);
        self.all.taken(id)
    }

    async fn stop(&self, id: u32) -> Result<ProcessView, String> {
        let mut heard = self.all.heard(id)?;
        self.all.all().kept.get(&id).ok_or_else(|| unknown(id))?.stop.cancel();
        let end = heard.wait_for(|heard| heard.ended.is_some());
        drop(tokio::time::timeout(STOPPING.duration(), end).await);
        self.all.taken(id)
    }
}

impl Heard {
    fn take(&mut self, piece: &[u8]) {
        self.output.extend_from_slice(piece);
        let surplus = self.output.len().saturating_sub(MOST_HELD);
        if surplus > 0 {
            self.output.drain(..surplus);
            self.left_out = true;
        }
    }
}

fn unknown(id: u32) -> String {
    format!("there is no process {id} in the background; list shows those that there are")
}

/// How a command ended, for models and people.
pub(crate) fn ending(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("exit code {code}"),
        Ended::Signalled(signal) => format!("ended by signal {signal}"),
        Ended::TimedOut => "its time was up".to_owned(),
        Ended::Stopped => "stopped".to_owned(),
    }
}

/// The number of processes that a conversation has started, by its recorded results.
pub(crate) fn started_before(history: &[Arc<Message>]) -> u32 {
    let results = history.iter().filter_map(|message| match &**message {
        Message::Results { results } => Some(results),
        _ => None,
    });
    let started = |part: &Part| match part {
        Part::Text { text } => {
            text.strip_prefix("process ")?.split_once(" started")?.0.parse().ok()
        }
        _ => None,
    };
    let calls = results.flatten().filter(|result| result.tool == "process");
    calls.flat_map(|result| &result.parts).filter_map(started).max().unwrap_or(0)
}
