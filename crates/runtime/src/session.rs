//! An open session: a handle to the loop that drives its log. Every input is logged first; events can be followed,
//! looked up, and resumed from after any crash.
//!
//! It contains no rule: model calls, permissions and limits are decided in `engine`.

mod error;
mod follow;
mod open;
mod start;
mod structured;
mod undo;

use std::sync::{Arc, Mutex, PoisonError};

use engine::Attempt;
use futures::Stream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use types::{
    Command, Digest, Effort, LogId, Message, ModelRef, Policy, RunId, SessionChange, SessionState,
    SessionView, Telling,
};

use undo::Changes;

pub use error::SessionError;
pub use open::NewSession;
pub use structured::{ReplyCheck, SchemaRetries, asking_for};
pub(crate) use undo::UndoStore;
pub use undo::Undone;

use crate::effects::attempt::PartialReplies;
use crate::effects::workspace::ProfiledTools;
use crate::error::Error;
use crate::event_loop::{self, DriveError, Posted};
use crate::hub::{Hub, SessionItem};
use crate::projected::{Projected, Words};
use crate::prompt_facts::PromptSource;
use crate::services::Services;

/// Who speaks to a conversation when nothing else is said.
const SOMEBODY: &str = "you";

/// Tools that change nothing.
const LOOKS: [&str; 7] =
    ["read_file", "list_dir", "glob", "grep", "git_diff", "web_fetch", "ask_user"];

/// An open conversation. Cheap to clone; when the last handle is gone, the work stops where it is, and
/// [`crate::Bosun::reopen`] goes on with it.
#[derive(Debug, Clone)]
pub struct Session {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    run: RunId,
    by: String,
    services: Arc<Services>,
    policy: Arc<Policy>,
    profiled: Arc<ProfiledTools>,
    /// The tools that are wanted, whatever the current model's family calls them.
    tools: Mutex<Vec<String>>,
    inbox: mpsc::Sender<Posted>,
    view: watch::Receiver<SessionView>,
    hub: Hub,
    undo_store: Option<Arc<UndoStore>>,
    partial: Arc<PartialReplies>,
    source: Arc<PromptSource>,
    suspend: CancellationToken,
    /// Nobody drives it any more.
    gone: CancellationToken,
    task: tokio::sync::Mutex<Option<JoinHandle<Result<(), DriveError>>>>,
    _suspends_when_dropped: DropGuard,
}

impl Session {
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.shared.run
    }

    /// The policy that it was opened with.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// The next input. Comes back as soon as it is on record; the work on it goes on. Refused while there is work.
    pub async fn submit(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.submit_with_images(text, vec![]).await
    }

    /// The same with pictures, for models that take them.
    pub async fn submit_with_images(
        &self,
        text: impl Into<String>,
        images: Vec<types::Source>,
    ) -> Result<(), SessionError> {
        if matches!(self.state(), SessionState::Processing | SessionState::AwaitingInput) {
            return Err(SessionError::Busy);
        }
        let (how, by, text) = (Telling::Submit, self.shared.by.clone(), text.into());
        self.say(Command::Tell { how, by, text, images }).await
    }

    /// Something that the model hears after the calls that are under way.
    pub async fn steer(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.tell(Telling::Steer, text.into()).await
    }

    /// Something that the model hears when it is done with the current input.
    pub async fn follow_up(&self, text: impl Into<String>) -> Result<(), SessionError> {
        self.tell(Telling::FollowUp, text.into()).await
    }

    async fn tell(&self, how: Telling, text: String) -> Result<(), SessionError> {
        let by = self.shared.by.clone();
        self.say(Command::Tell { how, by, text, images: vec![] }).await
    }

    /// Stops the work on the current input, and whatever runs for it. The session stays, and so does what was seen of
    /// the reply that was on its way.
    pub async fn interrupt(&self) -> Result<(), SessionError> {
        let said = self.shared.partial.of(types::SessionId::ROOT);
        self.say(Command::Interrupt { by: self.shared.by.clone(), said }).await
    }

    /// Goes on with the last input, if its model could not be reached, or a fault or a limit stopped the work on it. Nothing
    /// happens where there is none.
    pub async fn go_on(&self) -> Result<(), SessionError> {
        self.say(Command::GoOn { by: self.shared.by.clone() }).await
    }

    /// Answers a question or an approval that is open.
    pub async fn answer(&self, question: u32, text: impl Into<String>) -> Result<(), SessionError> {
        let (by, text) = (self.shared.by.clone(), text.into());
        self.say(Command::Answer { by, question, text }).await
    }

    /// Another model, another effort, other tools, from the next turn on. Another model is told of its tools, of the
    /// project and of itself in the words and by the documents of its family.
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
                self.shared.services.refuse_remote(&self.shared.policy, &named)?;
                let found =
                    self.shared.services.models.find(&named, &*self.shared.services.journal).await;
                found.map_err(SessionError::Fault)?;
                change.system = Some(self.system_for(&named).await?);
            }
            let known = &self.shared.tools;
            let wanted = tools
                .unwrap_or_else(|| known.lock().unwrap_or_else(PoisonError::into_inner).clone());
            let (names, specs) =
                self.shared.profiled.adapt(&named, &wanted).map_err(SessionError::Fault)?;
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

    /// Allows something from now on that the policy would ask about. What it denies stays denied.
    pub async fn grant(&self, grants: types::Grants) -> Result<(), SessionError> {
        let change = SessionChange { grants: Some(grants), ..SessionChange::default() };
        self.say(Command::Change { change: Box::new(change) }).await
    }

    async fn system_for(&self, model: &ModelRef) -> Result<String, SessionError> {
        let Shared { services, profiled, source, .. } = &*self.shared;
        let profile = profiled.profile(model);
        let prompt = source.prompt(&services.prompts, (model, &profile), services.clock.now());
        prompt.await.map_err(SessionError::Fault)
    }

    /// Makes room in the conversation now. Only while nothing else is going on.
    pub async fn compact(&self) -> Result<(), SessionError> {
        if self.state() != SessionState::Idle {
            return Err(SessionError::Busy);
        }
        self.say(Command::Compact { by: self.shared.by.clone() }).await
    }

    /// Takes back what the last round of calls did to files; nothing, if none is left that did something.
    pub async fn undo(&self) -> Result<Option<Undone>, SessionError> {
        let changes = self.changes().await?;
        match changes.last_round() {
            Some((to, tree)) => self.put_back(to, tree).await.map(Some),
            None => Ok(None),
        }
    }

    /// Puts the files back to what they were after a line of the log. Only while nothing is going on.
    pub async fn rewind(&self, to: u64) -> Result<Undone, SessionError> {
        let tree = self.changes().await?.after(to)?;
        self.put_back(to, tree).await
    }

    async fn changes(&self) -> Result<Changes, SessionError> {
        let log = LogId::run(self.shared.run.clone());
        let changes = Changes::read(&*self.shared.services.journal, &log).await;
        Ok(changes.map_err(Error::from)?)
    }

    async fn put_back(&self, to: u64, tree: Digest) -> Result<Undone, SessionError> {
        if self.state() != SessionState::Idle {
            return Err(SessionError::Busy);
        }
        let Some(undo_store) = &self.shared.undo_store else {
            let why = "no snapshots are taken here".to_owned();
            return Err(SessionError::NothingToUndo(why));
        };
        let (undone, said) = undo_store.put_back(to, tree, &self.shared.by).await?;
        self.say(said).await?;
        Ok(undone)
    }

    /// Closes the session: the reply on its way is dropped, commands are ended with everything they started,
    /// sub-agents are closed, and the end is on record before this comes back. Doing it twice is harmless.
    pub async fn abort(&self) -> Result<(), SessionError> {
        let (by, reason) = (self.shared.by.clone(), "closed".to_owned());
        match self.say(Command::Cancel { by, reason }).await {
            Ok(()) | Err(SessionError::Closed) => self.ended().await,
            Err(error) => Err(error),
        }
    }

    /// Stops the work where it is and lets go of the log, for somebody else to go on with.
    pub async fn suspend(&self) -> Result<(), SessionError> {
        self.shared.suspend.cancel();
        self.ended().await
    }

    /// Waits until the loop has ended, with everything that it started.
    async fn ended(&self) -> Result<(), SessionError> {
        let task = self.shared.task.lock().await.take();
        let Some(task) = task else { return Ok(()) };
        let run = self.shared.run.clone();
        let ended = task.await.map_err(|source| Error::Broke { run, source })?;
        Ok(ended.map_err(Error::from)?)
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

    /// How it stands: model, effort, what was used, what waits for a person.
    #[must_use]
    pub fn view(&self) -> SessionView {
        self.shared.view.borrow().clone()
    }

    /// Waits until it is not processing any more: it is idle, asks something, or is closed.
    pub async fn rest(&self) -> SessionState {
        let mut view = self.shared.view.clone();
        let rests = |view: &SessionView| view.state != SessionState::Processing;
        match view.wait_for(rests).await {
            Ok(view) => view.state,
            // The loop is gone, and with it whoever could change this.
            Err(_) => self.state(),
        }
    }

    /// The conversation as the model knows it.
    pub async fn history(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.fold().await?.history().to_vec())
    }

    /// What the model said last.
    pub async fn last_words(&self) -> Result<String, SessionError> {
        Ok(self.fold().await?.last_words())
    }

    async fn fold(&self) -> Result<Attempt, SessionError> {
        let Shared { services, policy, run, .. } = &*self.shared;
        folded(services, policy.clone(), run).await
    }

    /// Everything that was and will be recorded, and the pieces of replies and outputs on their way, in order. Ends
    /// with the session.
    pub fn events(&self) -> impl Stream<Item = SessionItem> + Send + 'static {
        self.events_after(0)
    }

    /// The same in the words of one of the documents, for programs that expect them.
    pub fn events_as(
        &self,
        words: Words,
    ) -> impl Stream<Item = serde_json::Value> + Send + 'static {
        Projected::new(words, self.shared.services.journal.clone()).all(Box::pin(self.events()))
    }

    /// The same as [`Session::events`], beginning after a line that is known already.
    pub fn events_after(&self, seq: u64) -> impl Stream<Item = SessionItem> + Send + 'static {
        let log = LogId::run(self.shared.run.clone());
        let (items, gone) = (self.shared.hub.items(), self.shared.gone.clone());
        follow::follow(self.shared.services.journal.clone(), log, items, gone, seq)
    }
}

/// A conversation as it stands in its log.
async fn folded(
    services: &Services,
    policy: Arc<Policy>,
    run: &RunId,
) -> Result<Attempt, SessionError> {
    let mut machine = Attempt::new(policy);
    let log = LogId::run(run.clone());
    event_loop::fold(&mut machine, &log, &*services.journal).await.map_err(Error::from)?;
    Ok(machine)
}

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod partial_tests;
#[cfg(test)]
mod tests;
