//! Sets a conversation going: the place it works in, the loop that drives it, the handle to it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::Attempt;
use sandbox::{Environment, IntentLog};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use types::{Artifact, Brief, Envelope, LogId, Policy, Proof, RunId, Rung, SessionView};

use super::{Keeper, Session, SessionError, Shared};
use crate::door::{Bosun, refuse_remote};
use crate::drive::{Drive, DriveError, Left, Posted, WhenWaiting};
use crate::driver::listen;
use crate::hub::Hub;
use crate::perform::attempt::AttemptHands;
use crate::perform::field::{Field, Folder, Tailor, looked_for};
use crate::setting::PromptSource;
use crate::shop::Shop;
use crate::workshop::INTENTS;

/// Where a conversation takes place, and whose it is.
pub(super) struct Scene<'a> {
    pub(super) policy: Arc<Policy>,
    pub(super) folder: &'a Path,
    pub(super) environment: Option<Arc<dyn Environment>>,
    pub(super) by: String,
}

impl Bosun {
    pub(super) fn converse(
        &self,
        drive: Drive<Attempt>,
        scene: Scene<'_>,
    ) -> Result<Session, SessionError> {
        let Scene { policy, folder, environment, by } = scene;
        let (Some(brief), Some(view)) = (drive.machine.brief().cloned(), drive.machine.view())
        else {
            return Err(SessionError::Closed);
        };
        refuse_remote(&self.shop, &policy, &view.model)?;
        let source = Arc::new(source(&policy, &brief, folder, environment.clone()));
        let field = match environment {
            Some(env) => Field::Given(env),
            None => field(folder, &policy, &brief, drive.machine.proof(), &self.shop),
        };
        let keeper = self.keeper(&policy, &field, (folder, &brief.run));
        let (log, hub) = (LogId::run(brief.run.clone()), self.shop.hub.of_session());
        let seen = drive.machine.seen();
        let (shop, tailor) = (self.shop.clone(), Tailor::new(&self.shop, &policy, &brief.role));
        let hands = AttemptHands::new(shop, policy.clone(), &brief, &seen, field, tailor)
            .map_err(SessionError::Fault)?
            .of_session(log, hub.clone(), keeper.clone())
            .told_by(source.clone());
        let (tailor, partial) = (hands.tailor(), hands.partial());
        let tools = wanted(&policy, &brief, &drive.machine, &tailor, &view);
        let (sender, view) = watch::channel(view);
        let (inbox, receiver) = mpsc::channel(64);
        let (suspend, gone) = (CancellationToken::new(), CancellationToken::new());
        let driven = Driven {
            drive: observed(drive, sender, hub.clone()),
            hands,
            receiver,
            inbox: inbox.downgrade(),
            keeper: keeper.clone(),
            run: brief.run.clone(),
        };
        let going = gone.clone().drop_guard();
        let task = tokio::spawn(driven.go(self.shop.clone(), suspend.clone(), going));
        let shared = Shared {
            run: brief.run,
            by,
            shop: self.shop.clone(),
            tailor,
            tools: Mutex::new(tools),
            policy,
            inbox,
            view,
            hub,
            keeper,
            partial,
            source,
            task: tokio::sync::Mutex::new(Some(task)),
            _suspends_when_dropped: suspend.clone().drop_guard(),
            suspend,
            gone,
        };
        Ok(Session { shared: Arc::new(shared) })
    }

    /// Where files are kept as they were, if the policy has that and the place is a folder.
    fn keeper(
        &self,
        policy: &Policy,
        field: &Field,
        (folder, run): (&Path, &RunId),
    ) -> Option<Arc<Keeper>> {
        let kept = policy.session.snapshots && matches!(field, Field::Folder(_));
        if kept { Keeper::open(&self.shop, folder, run).map(Arc::new) } else { None }
    }
}

/// Who the agent is and how it works, with what the policy has set that its family's words do not know.
pub(super) fn base_prompt(policy: &Policy, prompt: &str) -> String {
    match policy.tools.command_timeout_ms {
        None => prompt.to_owned(),
        Some(time) => format!(
            "{}\n\nA command has {time} unless you give `timeout_ms`, whatever is said of that below.\n",
            prompt.trim_end()
        ),
    }
}

/// What its system prompts are made of, also after a change of the model and for sub-agents.
fn source(
    policy: &Policy,
    brief: &Brief,
    folder: &Path,
    environment: Option<Arc<dyn Environment>>,
) -> PromptSource {
    let base = policy.roles.get(&brief.role).map(|role| base_prompt(policy, &role.prompt));
    let base = base.unwrap_or_default();
    let (folder, instruction) = (folder.to_owned(), brief.instruction.clone());
    PromptSource { folder, environment, base, instruction }
}

/// The tools that a conversation shall have: those of its role, unless others were chosen before.
fn wanted(
    policy: &Policy,
    brief: &Brief,
    machine: &Attempt,
    tailor: &Tailor,
    view: &SessionView,
) -> Vec<String> {
    let usual = policy.roles.get(&brief.role).map(|role| role.tools.clone()).unwrap_or_default();
    let dressed = tailor.dress(&view.model, &usual);
    let chosen = dressed.is_ok_and(|(names, _)| names != machine.tools());
    if chosen { machine.tools().to_vec() } else { usual }
}

/// The folder that a conversation works in.
fn field(
    folder: &Path,
    policy: &Policy,
    brief: &Brief,
    proof: Option<&Proof>,
    shop: &Shop,
) -> Field {
    // The engine has judged what the walls hold; after a restart they must hold no less.
    let walls = proof.map_or(Rung::None, |proof| proof.rung.min(policy.sandbox.require));
    let mut place = Folder::new(folder, looked_for(folder), walls, policy.sandbox.clone());
    let whole = brief.scope.covers(&Artifact::everything());
    place.scope = Some(brief.scope.clone()).filter(|_| !whole);
    place.intents = Some(IntentLog::new(intents(shop, &brief.run)));
    Field::Folder(Box::new(place))
}

/// Where the changes of a conversation to files are noted before they are made.
fn intents(shop: &Shop, run: &RunId) -> PathBuf {
    shop.home.join(INTENTS).join(run.as_str())
}

/// Shows how the conversation stands, and what was stored, to whoever looks.
fn observed(drive: Drive<Attempt>, view: watch::Sender<SessionView>, hub: Hub) -> Drive<Attempt> {
    drive.observed_by(Box::new(move |machine: &Attempt, stored: &[Envelope]| {
        if let Some(now) = machine.view() {
            view.send_replace(now);
        }
        stored.iter().for_each(|line| hub.stored(line));
    }))
}

/// The loop of a conversation, before it runs.
struct Driven {
    drive: Drive<Attempt>,
    hands: AttemptHands,
    receiver: mpsc::Receiver<Posted>,
    inbox: mpsc::WeakSender<Posted>,
    keeper: Option<Arc<Keeper>>,
    run: RunId,
}

impl Driven {
    /// `_going` is let go of when nobody drives the conversation any more.
    async fn go(
        mut self,
        shop: Arc<Shop>,
        suspend: CancellationToken,
        _going: DropGuard,
    ) -> Result<(), DriveError> {
        let (noted, bosun) = (intents(&shop, &self.run), Bosun { shop: shop.clone() });
        // Nobody waits for it.
        tokio::spawn(async move { bosun.sweep(None).await });
        let listening =
            self.inbox.upgrade().map(|inbox| tokio::spawn(listen(shop, self.run.clone(), inbox)));
        let stay = WhenWaiting::Stay;
        let left = self.drive.run(&self.hands, &mut self.receiver, &suspend, stay).await;
        if let Some(listening) = listening {
            listening.abort();
        }
        if matches!(left, Ok(Left::Over)) {
            self.hands.clean_up().await;
            if let Some(keeper) = &self.keeper {
                keeper.sweep().await;
            }
            if let Err(error) = std::fs::remove_dir_all(&noted) {
                tracing::debug!(%error, "no note of changes is left");
            }
        }
        left.map(|_| ())
    }
}
