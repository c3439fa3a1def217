//! How a conversation comes to be: begun in a folder, or gone on with from where its log ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{Attempt, Machine as _};
use sandbox::{Environment, Repo};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use types::{
    AttemptId, Brief, Budget, CommitId, Effort, Ending, Envelope, Event, Fault, FaultClass, Input,
    LogId, ModelRef, Policy, RoleId, RunId, Rung, Scope, SessionView, TaskId,
};

use super::undo::{Changes, Undone};
use super::{Keeper, SOMEBODY, Session, SessionError, Shared};
use crate::door::{Bosun, DoorError, draw_run_id, listen};
use crate::drive::{Drive, WhenWaiting};
use crate::perform::attempt::AttemptHands;
use crate::perform::field::{Field, Folder, Tailor};
use crate::presets::{self, PolicyError};
use crate::setting::{self, Opening};

/// The role of an agent that works alone.
const SOLO: &str = "solo";

/// A conversation to be opened.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Where the agent works. Not used with an environment of your own.
    pub folder: PathBuf,
    pub model: ModelRef,
    pub policy: Policy,
    pub effort: Option<Effort>,
    /// What the person always wants, said after everything else.
    pub instruction: Option<String>,
    pub budget: Budget,
    /// Where it may write; everywhere in the folder unless something else is said.
    pub scope: Scope,
    /// In place of the folder: a container, another machine, memory.
    pub environment: Option<Arc<dyn Environment>>,
    /// Who speaks to it.
    pub by: String,
    /// For reproducible runs; otherwise one is drawn.
    pub id: Option<RunId>,
}

impl NewSession {
    /// With the preset `solo`.
    pub fn new(folder: impl Into<PathBuf>, model: ModelRef) -> Result<Self, PolicyError> {
        Ok(Self {
            folder: folder.into(),
            model,
            policy: presets::preset(SOLO)?,
            effort: None,
            instruction: None,
            budget: Budget::default(),
            scope: Scope(vec![types::Artifact::everything()]),
            environment: None,
            by: SOMEBODY.to_owned(),
            id: None,
        })
    }
}

impl Bosun {
    /// Opens a new conversation, which is idle until something is said to it.
    pub async fn open(&self, new: NewSession) -> Result<Session, SessionError> {
        let role = RoleId::fixed(SOLO);
        let Some(solo) = new.policy.roles.get(&role).cloned() else {
            let what = format!("the policy {} has no role {role}", new.policy.name);
            let fault = Fault::new(FaultClass::Resource, "policy.no_role", what);
            return Err(SessionError::Fault(fault));
        };
        let run = new.id.clone().unwrap_or_else(draw_run_id);
        let digest = self.keep_policy(&new.policy).await?;
        let policy = Arc::new(new.policy);
        let tailor = Tailor::new(&self.shop, &policy, &role);
        let (tools, tool_specs) =
            tailor.dress(&new.model, &solo.tools).map_err(SessionError::Fault)?;
        let folder = new.folder.canonicalize().unwrap_or_else(|_| new.folder.clone());
        let opening = Opening {
            folder: &folder,
            model: &new.model,
            base: &solo.prompt,
            family: tailor.family(&new.model),
            instruction: new.instruction.as_deref(),
            now: self.shop.clock.now(),
        };
        let system = match &new.environment {
            Some(env) => setting::elsewhere(&self.shop.prompts, opening, env.facts()),
            None => setting::system_prompt(&self.shop.prompts, opening)
                .await
                .map_err(|error| SessionError::Fault(error.fault()))?,
        };
        let brief = Brief {
            run: run.clone(),
            attempt: AttemptId::new(TaskId::chat(), 1),
            role,
            system,
            task: String::new(),
            tools,
            tool_specs,
            scope: new.scope,
            walls: Rung::None,
            start: CommitId(String::new()),
            budget: new.budget,
            max_turns: solo.max_turns,
            max_output_tokens: solo.max_output_tokens,
            output_chars: policy.limits.output_chars,
            ending: Ending::Open,
            effort: new.effort,
            window: self.shop.models.window(&new.model).or(policy.session.window),
            folder: Some(folder.to_string_lossy().into_owned()),
            policy: Some(digest),
            model: new.model,
        };
        let log = LogId::run(run);
        let machine = Attempt::new(policy.clone());
        let mut drive =
            Drive::load(machine, log, self.shop.surroundings()).await.map_err(DoorError::from)?;
        let first = Input::Brief(Box::new(brief));
        drive.take(&first, None).await.map_err(DoorError::from)?;
        self.converse(drive, policy, &folder, new.environment, new.by).await
    }

    /// Goes on with a conversation from where its log ends.
    pub async fn reopen(&self, run: &RunId, by: &str) -> Result<Session, SessionError> {
        let (policy, folder) = self.session_of(run).await?;
        let log = LogId::run(run.clone());
        let machine = Attempt::new(policy.clone());
        let drive =
            Drive::load(machine, log, self.shop.surroundings()).await.map_err(DoorError::from)?;
        if drive.machine.is_over() {
            return Err(SessionError::Closed);
        }
        self.converse(drive, policy, &folder, None, by.to_owned()).await
    }

    /// Puts the files of a conversation that nobody drives back to what they were after a line of its log. What it was
    /// doing is not gone on with.
    pub async fn rewind(&self, run: &RunId, to: u64, by: &str) -> Result<Undone, SessionError> {
        let (policy, folder) = self.session_of(run).await?;
        let log = LogId::run(run.clone());
        let changes = Changes::read(&*self.shop.journal, &log).await.map_err(DoorError::from)?;
        let machine = Attempt::new(policy);
        let mut drive =
            Drive::load(machine, log, self.shop.surroundings()).await.map_err(DoorError::from)?;
        let nothing = |why: &str| SessionError::NothingToUndo(why.to_owned());
        let tree = changes.at(to).ok_or_else(|| nothing("no call has changed any"))?;
        let keeper =
            Keeper::open(&self.shop, &folder).ok_or_else(|| nothing("its folder is gone"))?;
        let restored = keeper.restore(tree).await.map_err(SessionError::NothingToUndo)?;
        let trees = types::Trees { before: restored.before.digest, after: tree };
        let said = types::Command::Restored { by: by.to_owned(), to, trees };
        drive.take(&Input::Command(said), None).await.map_err(DoorError::from)?;
        Ok(Undone { to, restored })
    }

    /// Whether a log is that of a conversation.
    pub async fn is_session(&self, run: &RunId) -> Result<bool, DoorError> {
        let first = self.shop.journal.read(&LogId::run(run.clone()), 0, 1).await?;
        Ok(first.first().is_some_and(|line| matches!(line.event, Event::SessionStarted { .. })))
    }

    /// A conversation as it stands in its log, whoever drives it.
    pub async fn session_view(&self, run: &RunId) -> Result<SessionView, SessionError> {
        let (policy, _) = self.session_of(run).await?;
        let mut machine = Attempt::new(policy);
        let log = LogId::run(run.clone());
        crate::drive::fold(&mut machine, &log, &*self.shop.journal)
            .await
            .map_err(DoorError::from)?;
        machine.view().ok_or(SessionError::Closed)
    }

    /// The policy and the folder that a conversation was opened with.
    async fn session_of(&self, run: &RunId) -> Result<(Arc<Policy>, PathBuf), DoorError> {
        let first = self.shop.journal.read(&LogId::run(run.clone()), 0, 1).await?;
        let Some(Event::SessionStarted { brief, .. }) = first.first().map(|line| &line.event)
        else {
            return Err(DoorError::NoSuchSession { run: run.clone() });
        };
        let policy = self.policy_of(run, brief.policy).await?;
        Ok((policy, PathBuf::from(brief.folder.clone().unwrap_or_default())))
    }

    async fn converse(
        &self,
        drive: Drive<Attempt>,
        policy: Arc<Policy>,
        folder: &Path,
        environment: Option<Arc<dyn Environment>>,
        by: String,
    ) -> Result<Session, SessionError> {
        let Some(brief) = drive.machine.brief().cloned() else { return Err(SessionError::Closed) };
        let field = match environment {
            Some(env) => Field::Given(env),
            None => {
                let repo = Repo::discover(folder).await.ok().filter(|repo| repo.root() == folder);
                // The engine has judged what the walls hold; after a restart they must hold no less.
                let walls = drive
                    .machine
                    .proof()
                    .map_or(Rung::None, |proof| proof.rung.min(policy.sandbox.require));
                let mut place = Folder::new(folder, repo, walls, policy.sandbox.clone());
                let whole = brief.scope.covers(&types::Artifact::everything());
                place.scope = Some(brief.scope.clone()).filter(|_| !whole);
                Field::Folder(Box::new(place))
            }
        };
        let keeper = match &field {
            Field::Folder(_) if policy.session.snapshots => Keeper::open(&self.shop, folder),
            _ => None,
        };
        let keeper = keeper.map(Arc::new);
        let log = LogId::run(brief.run.clone());
        let hub = self.shop.hub.of_session();
        let tailor = Tailor::new(&self.shop, &policy, &brief.role);
        let seen = drive.machine.seen();
        let hands = AttemptHands::unplaced(self.shop.clone(), policy.clone(), &brief, &seen);
        let hands =
            hands.map_err(SessionError::Fault)?.of_session(log, hub.clone(), keeper.clone());
        let hands = hands.working_in(field, Tailor::new(&self.shop, &policy, &brief.role));
        let Some(view) = drive.machine.view() else { return Err(SessionError::Closed) };
        let (sender, view) = watch::channel(view);
        let lines = hub.clone();
        let drive = drive.observed_by(Box::new(move |machine: &Attempt, stored: &[Envelope]| {
            if let Some(view) = machine.view() {
                sender.send_replace(view);
            }
            stored.iter().for_each(|line| lines.stored(line));
        }));
        let suspend = CancellationToken::new();
        let (inbox, receiver) = mpsc::channel(64);
        let run = brief.run.clone();
        let loop_of = Loop { drive, hands, receiver, inbox: inbox.downgrade(), run: run.clone() };
        let gone = CancellationToken::new();
        let going = gone.clone().drop_guard();
        let (shop, suspended) = (self.shop.clone(), suspend.clone());
        let task = tokio::spawn(async move {
            let _going = going;
            loop_of.go(shop, suspended).await
        });
        let solo = policy.roles.get(&brief.role).map(|role| role.tools.clone());
        Ok(Session {
            shared: Arc::new(Shared {
                run,
                by,
                shop: self.shop.clone(),
                policy,
                tailor,
                tools: solo.unwrap_or_default(),
                inbox,
                view,
                hub,
                keeper,
                task: tokio::sync::Mutex::new(Some(task)),
                _suspends_when_dropped: suspend.clone().drop_guard(),
                suspend,
                gone,
            }),
        })
    }
}

/// The loop of a conversation, before it runs.
struct Loop {
    drive: Drive<Attempt>,
    hands: AttemptHands,
    receiver: mpsc::Receiver<crate::drive::Posted>,
    inbox: mpsc::WeakSender<crate::drive::Posted>,
    run: RunId,
}

impl Loop {
    async fn go(
        mut self,
        shop: Arc<crate::shop::Shop>,
        suspend: CancellationToken,
    ) -> Result<(), crate::drive::DriveError> {
        for (number, command) in shop.journal.posted(&self.run).await? {
            self.drive.take(&Input::Command(command), Some(number)).await?;
        }
        let listening =
            self.inbox.upgrade().map(|inbox| tokio::spawn(listen(shop, self.run.clone(), inbox)));
        let stay = WhenWaiting::Stay;
        let left = self.drive.run(&self.hands, &mut self.receiver, &suspend, stay).await;
        if let Some(listening) = listening {
            listening.abort();
        }
        left.map(|_| ())
    }
}
