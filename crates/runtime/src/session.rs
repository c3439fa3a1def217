//! An open session: a handle to the loop that drives its log. Every input is logged first; events can be followed,
//! queried, and resumed from after any crash.
//!
//! It contains no rule: model calls, permissions and limits are decided in `engine`.

mod error;
mod follow;
mod open;
mod start;
mod structured;
mod undo;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Attempt;
use futures::Stream;
use store::JournalError;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use types::{
    Command, Effort, Fault, LogId, Message, ModelRef, ModelServer, Policy, RunId, SessionChange,
    SessionState, SessionView, Telling,
};

use undo::{Changes, Wanted};

pub use error::SessionError;
pub use open::NewSession;
pub use structured::{ReplyCheck, SchemaRetries, asking_for};
pub(crate) use undo::UndoStore;
pub use undo::{Conflict, Undone};

use crate::effects::attempt::PartialReplies;
use crate::effects::workspace::ProfiledTools;
use crate::error::Error;
use crate::event_loop::{self, DriveError, Posted};
use crate::hub::{Hub, SessionItem};
use crate::projected::{Projected, Words};
use crate::prompt_facts::PromptSource;
use crate::raise;
use crate::services::Services;

/// The default author of inputs.
const SOMEBODY: &str = "you";

/// Tools that change nothing.
const LOOKS: [&str; 7] =
    ["read_file", "list_dir", "glob", "grep", "git_diff", "web_fetch", "ask_user"];

/// An open session. Cheap to clone; when the last handle is dropped, the work stops, and [`crate::Bosun::reopen`]
/// resumes it.
#[derive(Debug, Clone)]
pub struct Session {
    shared: Arc<Shared>,
    /// The author of what is said through this handle.
    by: String,
}

#[derive(Debug)]
struct Shared {
    run: RunId,
    services: Arc<Services>,
    policy: Arc<Policy>,
    server: Option<Box<ModelServer>>,
    profiled: Arc<ProfiledTools>,
    /// The wanted tools, in base names.
    tools: Mutex<Vec<String>>,
    inbox: mpsc::Sender<Posted>,
    view: watch::Receiver<SessionView>,
    hub: Hub,
    undo_store: Option<Arc<UndoStore>>,
    partial: Arc<PartialReplies>,
    source: Arc<PromptSource>,
    suspend: CancellationToken,
    /// It has no driver any more.
    gone: CancellationToken,
    task: tokio::sync::Mutex<Option<JoinHandle<Result<(), DriveError>>>>,
    _suspends_when_dropped: DropGuard,
}

impl Session {
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.shared.run
    }

    /// Another handle, through which somebody else speaks: their inputs are recorded as theirs.
    #[must_use]
    pub fn said_by(&self, name: &str) -> Self {
        Self { shared: self.shared.clone(), by: name.to_owned() }
    }

    /// The policy that it was opened with.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Submits the next input. Returns as soon as it is recorded; the work continues in the background. Refused while
    /// the session is busy.
    pub async fn submit(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.submit_with_images(text, vec![]).await
    }

    /// The same with images, for models that accept them.
    pub async fn submit_with_images(
        &self,
        text: impl Into<String>,
        images: Vec<types::Source>,
    ) -> Result<(), SessionError> {
        if matches!(self.state(), SessionState::Processing | SessionState::AwaitingInput) {
            return Err(SessionError::Busy);
        }
        let (how, by, text) = (Telling::Submit, self.by.clone(), text.into());
        self.say(Command::Tell { how, by, text, images }).await
    }

    /// A message that the model gets after the running calls.
    pub async fn steer(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.tell(Telling::Steer, text.into()).await
    }

    /// A message that the model gets after the current input.
    pub async fn follow_up(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.tell(Telling::FollowUp, text.into()).await
    }

    async fn tell(&self, how: Telling, text: String) -> Result<(), SessionError> {
        let by = self.by.clone();
        self.say(Command::Tell { how, by, text, images: vec![] }).await
    }

    /// Stops the work on the current input, and everything running for it. The session stays, and so does the partial
    /// reply.
    pub async fn interrupt(&self) -> Result<(), SessionError> {
        let said = self.shared.partial.of(types::SessionId::ROOT);
        self.say(Command::Interrupt { by: self.by.clone(), said }).await
    }

    /// Resumes the last input, if its model was unavailable, or a fault or a limit stopped it. Otherwise does nothing.
    pub async fn go_on(&self) -> Result<(), SessionError> {
        self.say(Command::GoOn { by: self.by.clone() }).await
    }

    /// Raises limits to these totals. Refused if that changes nothing.
    pub async fn raise(&self, to: types::Budget) -> Result<(), SessionError> {
        let view = self.view();
        raise::check(self.id(), (view.budget, view.spent), to)?;
        self.say(Command::Raise { by: self.by.clone(), budget: to }).await
    }

    /// Answers an open question or approval.
    pub async fn answer(&self, question: u32, text: impl Into<String>) -> Result<(), SessionError> {
        let (by, text) = (self.by.clone(), text.into());
        self.say(Command::Answer { by, question, text }).await
    }

    /// Changes model, effort or tools from the next turn on. Another model gets tools, prompt and documents of its
    /// family.
    pub async fn change(
        &self,
        model: Option<ModelRef>,
        effort: Option<Effort>,
        tools: Option<Vec<String>>,
    ) -> Result<(), SessionError> {
        let mut change = SessionChange { effort, ..SessionChange::default() };
        let mut adapted = None;
        if model.is_some() || tools.is_some() {
            let named = model.clone().unwrap_or_else(|| self.view().model);
            if model.is_some() {
                let (shared, server) = (&self.shared, self.shared.server.as_deref());
                shared.services.refuse_remote(&shared.policy, &named, server)?;
                let journal = &*shared.services.journal;
                shared.services.models.find(&named, server, journal).await?;
                change.system = Some(self.system_for(&named).await?);
            }
            let known = &self.shared.tools;
            let wanted = tools
                .unwrap_or_else(|| known.lock().unwrap_or_else(PoisonError::into_inner).clone());
            let (names, specs) = self.shared.profiled.adapt(&named, &wanted)?;
            adapted = Some(wanted);
            let services = &self.shared.services;
            change.window = services.models.window(&named);
            change.max_output = Some(self.shared.profiled.max_output(&named));
            change.price = services.models.price(&named, &*services.journal).await;
            (change.model, change.tools, change.tool_specs) = (model, Some(names), specs);
        }
        self.say(Command::Change { change: Box::new(change) }).await?;
        if let Some(wanted) = adapted {
            *self.shared.tools.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
        }
        Ok(())
    }

    /// Leaves the agent only the tools that change nothing, or gives it all tools of its role again.
    pub async fn read_only(&self, on: bool) -> Result<(), SessionError> {
        let role = self.shared.policy.roles.get(&types::RoleId::solo());
        let all = role.map(|role| role.tools.clone()).unwrap_or_default();
        let looks = |tool: &String| LOOKS.contains(&tool.as_str());
        let tools = if on { all.into_iter().filter(looks).collect() } else { all };
        self.change(None, None, Some(tools)).await
    }

    /// Allows operations from now on that the policy would ask about. Operations that it denies stay denied.
    pub async fn grant(&self, grants: types::Grants) -> Result<(), SessionError> {
        let change = SessionChange { grants: Some(grants), ..SessionChange::default() };
        self.say(Command::Change { change: Box::new(change) }).await
    }

    async fn system_for(&self, model: &ModelRef) -> Result<String, Fault> {
        let Shared { services, profiled, source, .. } = &*self.shared;
        let profile = profiled.profile(model);
        source.prompt(&services.prompts, (model, &profile), services.clock.now()).await
    }

    /// Compacts the conversation now. Only while idle.
    pub async fn compact(&self) -> Result<(), SessionError> {
        if self.state() != SessionState::Idle {
            return Err(SessionError::Busy);
        }
        self.say(Command::Compact { by: self.by.clone() }).await
    }

    /// Undoes the file changes of the last round of calls; `None` if there are none left. Files that something else has
    /// changed since are left alone.
    pub async fn undo(&self) -> Result<Option<Undone>, SessionError> {
        match self.changes().await?.last_round() {
            Some(wanted) => self.put_back(wanted).await.map(Some),
            None => Ok(None),
        }
    }

    /// Undoes the session's file changes after a line of the log. Files that something else has changed since are left
    /// alone, except those to replace; a folder stands for everything below it. Only while idle.
    pub async fn rewind(&self, to: u64, replace: Vec<PathBuf>) -> Result<Undone, SessionError> {
        let wanted = self.changes().await?.after(to, replace)?;
        self.put_back(wanted).await
    }

    async fn changes(&self) -> Result<Changes, JournalError> {
        Changes::read(&*self.shared.services.journal, &self.shared.run).await
    }

    async fn put_back(&self, wanted: Wanted) -> Result<Undone, SessionError> {
        if self.state() != SessionState::Idle {
            return Err(SessionError::Busy);
        }
        let Some(undo_store) = &self.shared.undo_store else {
            let why = "no snapshots are taken here".to_owned();
            return Err(SessionError::NothingToUndo(why));
        };
        let (undone, said) = undo_store.undo(wanted, &self.by).await?;
        self.say(said).await?;
        Ok(undone)
    }

    /// Closes the session: the reply in progress is dropped, commands are ended with all their children, sub-agents are
    /// closed, and the end is recorded before this returns. Idempotent.
    pub async fn abort(&self) -> Result<(), SessionError> {
        let (by, reason) = (self.by.clone(), "closed".to_owned());
        match self.say(Command::Cancel { by, reason }).await {
            Ok(()) | Err(SessionError::Closed) => self.ended().await,
            Err(error) => Err(error),
        }
    }

    /// Stops the work and releases the log, for another process to resume.
    pub async fn suspend(&self) -> Result<(), SessionError> {
        self.shared.suspend.cancel();
        self.ended().await
    }

    /// Waits until the loop and everything it started has ended.
    async fn ended(&self) -> Result<(), SessionError> {
        let task = self.shared.task.lock().await.take();
        let Some(task) = task else { return Ok(()) };
        let run = self.shared.run.clone();
        Ok(task.await.map_err(|source| Error::Broke { run, source })??)
    }

    async fn say(&self, command: Command) -> Result<(), SessionError> {
        let (sender, heard) = oneshot::channel();
        let posted = Posted { heard: Some(sender), ..Posted::new(command) };
        self.shared.inbox.send(posted).await.map_err(|_| SessionError::Closed)?;
        heard.await.map_err(|_| SessionError::Closed)
    }

    #[must_use]
    pub fn state(&self) -> SessionState {
        self.shared.view.borrow().state
    }

    /// Its status: model, effort, usage, open questions.
    #[must_use]
    pub fn view(&self) -> SessionView {
        self.shared.view.borrow().clone()
    }

    /// Waits until it is not processing: it is idle, asks something, or is closed.
    pub async fn rest(&self) -> SessionState {
        let mut view = self.shared.view.clone();
        let rests = |view: &SessionView| view.state != SessionState::Processing;
        match view.wait_for(rests).await {
            Ok(view) => view.state,
            // The loop is gone, so the state is final.
            Err(_) => self.state(),
        }
    }

    /// The history as sent to the model.
    pub async fn history(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.fold().await?.history().to_vec())
    }

    /// The model's last message.
    pub async fn last_words(&self) -> Result<String, SessionError> {
        Ok(self.fold().await?.last_words())
    }

    async fn fold(&self) -> Result<Attempt, JournalError> {
        let Shared { services, policy, run, .. } = &*self.shared;
        folded(services, policy.clone(), run).await
    }

    /// All past and future lines, and live pieces of replies and outputs, in order. Ends with the session.
    pub fn events(&self) -> impl Stream<Item = SessionItem> + Send + 'static {
        self.events_after(0)
    }

    /// The same in another format.
    pub fn events_as(
        &self,
        words: Words,
    ) -> impl Stream<Item = serde_json::Value> + Send + 'static {
        Projected::new(words, self.shared.services.journal.clone()).all(Box::pin(self.events()))
    }

    /// The same as [`Session::events`], starting after a known line.
    pub fn events_after(&self, seq: u64) -> impl Stream<Item = SessionItem> + Send + 'static {
        let log = LogId::run(self.shared.run.clone());
        let (items, gone) = (self.shared.hub.items(), self.shared.gone.clone());
        follow::follow(self.shared.services.journal.clone(), log, items, gone, seq)
    }
}

/// A session folded from its log.
pub(crate) async fn folded(
    services: &Services,
    policy: Arc<Policy>,
    run: &RunId,
) -> Result<Attempt, JournalError> {
    let mut machine = Attempt::new(policy);
    event_loop::fold(&mut machine, &LogId::run(run.clone()), &*services.journal).await?;
    Ok(machine)
}

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod partial_tests;
#[cfg(test)]
mod tests;
