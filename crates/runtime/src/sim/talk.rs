//! A session without a run: one agent with its sub-agents, and a person who asks, steers, interrupts, changes the
//! model, compacts, and closes it in the end. Driven by the same loop, over the same store.

use std::sync::Arc;

use engine::{Attempt, Machine as _};
use futures::FutureExt as _;
use store::{Journal, MemoryJournal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{
    Artifact, Brief, Command, CommitId, Ending, Input, IsolationLevel, LogId, RoleId, Scope,
    SessionChange, Status, Telling,
};

use super::case::chat_attempt;
use super::dice::Dice;
use super::outside::{AttemptSide, specs};
use super::person::{ANN, cancel, noise};
use super::process_end::{Ended, listen, suspended_sometime};
use super::watched::watched_attempt;
use super::world::World;
use crate::clock::Clock as _;
use crate::event_loop::{Drive, DriveError, Left, LoopDeps, WhenWaiting, fold};

fn brief(world: &World) -> Brief {
    let case = &world.case;
    let role = RoleId::solo();
    let solo = case.policy.roles.get(&role).expect("the preset has one role");
    Brief {
        run: case.run.clone(),
        attempt: chat_attempt(),
        role,
        model: case.request.model.clone(),
        system: "You are an agent.".to_owned(),
        task: String::new(),
        images: vec![],
        tools: solo.tools.clone(),
        tool_specs: specs(&solo.tools),
        scope: Scope(vec![Artifact::everything()]),
        isolation: IsolationLevel::None,
        start: CommitId(String::new()),
        assignment: types::Assignment::default(),
        budget: case.request.budget,
        max_turns: solo.max_turns,
        max_output_tokens: 8_000,
        output_chars: case.policy.limits.output_chars,
        ending: Ending::Open,
        effort: None,
        window: case.window,
        reply: None,
        shows: vec![],
        files: vec![],
        price: case.price,
        folder: None,
        policy: None,
        forked: None,
        output: None,
        instruction: None,
        server: None,
    }
}

/// Drives the session until it is closed or idle.
pub(super) async fn drive(
    world: &Arc<World>,
    journal: &Arc<dyn Journal>,
    around: LoopDeps,
) -> Result<Ended, DriveError> {
    let machine = Attempt::new(world.case.policy.clone());
    let drive = Drive::load(machine, LogId::run(world.case.run.clone()), around).await?;
    let mut drive = watched_attempt(drive, world, &chat_attempt());
    if drive.is_new() {
        let first = tell(Telling::Submit, &world.case.request.text);
        let inputs = [Input::Brief(Box::new(brief(world))), Input::Command(first)];
        drive.take_all(&inputs, None).await?;
    }
    drive.take_posted().await?;
    if drive.machine.is_over() {
        return Ok(Ended::Over(Status::Done));
    }
    let executor = AttemptSide { world: world.clone(), brief: Arc::new(brief(world)) };
    let suspend = CancellationToken::new();
    suspended_sometime(world, &suspend);
    speaks_sometime(world, journal);
    loop {
        drive.take_posted().await?;
        if drive.machine.is_over() {
            return Ok(Ended::Over(Status::Done));
        }
        let (sender, mut inbox) = mpsc::channel(16);
        let listening = tokio::spawn(listen(world.clone(), journal.clone(), sender));
        let left = drive.run(&executor, &mut inbox, &suspend, WhenWaiting::Leave).await;
        listening.abort();
        match left? {
            Left::Suspended => return Ok(Ended::Suspended),
            Left::Over => {}
            Left::Waiting if !journal.posted(&world.case.run).await?.is_empty() => {}
            Left::Waiting => return Ok(Ended::Waiting),
        }
    }
}

fn tell(how: Telling, text: &str) -> Command {
    Command::Tell { how, by: ANN.to_owned(), text: text.to_owned(), images: vec![] }
}

/// Sends a command now and then while it works.
fn speaks_sometime(world: &Arc<World>, journal: &Arc<dyn Journal>) {
    let (world, journal) = (world.clone(), journal.clone());
    let words = world.lock().dice.below(4);
    tokio::spawn(async move {
        for _ in 0..words {
            let (delay, command) = {
                let dice = &mut world.lock().dice;
                (dice.delay(), noise(dice))
            };
            world.clock.sleep(delay).await;
            let _heard = journal.post(&world.case.run, world.clock.now(), &command).await;
        }
    });
}

/// The next command to an idle session: an answer, the next input, or to close it.
pub(super) fn next_word(world: &World, journal: &MemoryJournal, last: bool) -> Command {
    let mut attempt = Attempt::new(world.case.policy.clone());
    let log = LogId::run(world.case.run.clone());
    let folded = fold(&mut attempt, &log, journal).now_or_never();
    folded.expect("memory does not wait").expect("it can be read");
    let state = &mut *world.lock();
    state.answers += 1;
    if last || state.answers > world.case.person.patience / 3 + 2 {
        return cancel();
    }
    if let Some(asking) = attempt.open_question() {
        let text = state.dice.pick(&["allow", "deny", "yes", "whatever"]).to_owned();
        return Command::Answer { by: ANN.to_owned(), question: asking.question, text };
    }
    if attempt.away().is_some() && state.dice.chance(70) {
        return Command::GoOn { by: ANN.to_owned() };
    }
    next_input(&mut state.dice)
}

fn next_input(dice: &mut Dice) -> Command {
    match dice.below(10) {
        0 => Command::Compact { by: ANN.to_owned() },
        1 => Command::GoOn { by: ANN.to_owned() },
        2 => {
            let model = Some("sim/other".parse().expect("a model"));
            let change = SessionChange { model, ..SessionChange::default() };
            Command::Change { change: Box::new(change) }
        }
        _ => tell(Telling::Submit, "and now the next thing"),
    }
}
