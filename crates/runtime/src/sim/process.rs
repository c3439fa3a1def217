//! One process after the other: each loads the logs, goes on, and ends when the run is over, when it waits for a person,
//! when its disk fails, or when it is killed.

use std::sync::{Arc, Mutex};

use engine::{Attempt, Machine, Run};
use store::{Journal, MemoryJournal, Redactor};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{
    AttemptId, Begin, BlockBody, Command, Digest, Envelope, Event, Input, LogId, Message, Status,
};

use super::outside::RunSide;
use super::person;
use super::store::SimJournal;
use super::talk;
use super::world::World;
use crate::clock::Clock as _;
use crate::event_loop::{Drive, DriveError, Left, LoopDeps, Posted, WhenWaiting};
use crate::in_flight::Order;

/// Why a process is no longer there.
#[derive(Debug)]
#[expect(dead_code, reason = "the story shows what failed")]
pub(super) enum Ended {
    Over(Status),
    Waiting,
    Suspended,
    Failed(String),
    Killed,
    /// Nothing could happen any more, and it was not over.
    Hung,
}

/// Starts a process, and lets it live as long as it does.
pub(super) fn live(world: &Arc<World>, journal: &MemoryJournal) -> Ended {
    let kill = world.born();
    let clock = world.clock.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .on_thread_park(move || clock.idle())
        .build()
        .expect("a runtime without a driver");
    let life = life(world.clone(), journal.clone(), kill);
    // Time moves while the runtime is idle, which a future that it blocks on is no part of.
    runtime.block_on(runtime.spawn(life)).expect("a process that does not panic")
}

async fn life(world: Arc<World>, journal: MemoryJournal, kill: CancellationToken) -> Ended {
    let clock = world.clock.clone();
    tokio::select! {
        biased;
        () = kill.cancelled() => Ended::Killed,
        ended = drive(&world, journal) => ended.unwrap_or_else(|error| Ended::Failed(error.to_string())),
        () = clock.stuck() => Ended::Hung,
    }
}

async fn drive(world: &Arc<World>, inner: MemoryJournal) -> Result<Ended, DriveError> {
    let case = &world.case;
    let journal: Arc<dyn Journal> = Arc::new(SimJournal::new(inner, world.clone()));
    let around = LoopDeps {
        journal: journal.clone(),
        redactor: Arc::new(Redactor::none()),
        clock: world.clock.clone(),
        order: if case.seed.is_multiple_of(4) { Order::Started } else { Order::Arrival },
    };
    if case.talks {
        return talk::drive(world, &journal, around).await;
    }
    let machine = Run::new(case.run.clone(), case.policy.clone());
    let drive = Drive::load(machine, LogId::run(case.run.clone()), around.clone()).await?;
    let mut drive = watched_run(drive, world, &journal);
    if drive.is_new() {
        let (request, survey) = (case.request.clone(), case.survey.clone());
        let (run, policy, price) = (case.run.clone(), Digest::ZERO, case.price);
        let begin = Begin { run, request, survey, policy, price };
        drive.take(&Input::Begin(Box::new(begin)), None).await?;
    }
    let suspend = CancellationToken::new();
    let broken = Arc::new(Mutex::new(None));
    let side = RunSide { world: world.clone(), around, suspend, broken };
    if drive.machine.is_over() {
        // What was said to it since it ended says nothing, except what became of its result.
        drive.take_posted().await?;
        return Ok(Ended::Over(drive.machine.status()));
    }
    suspended_sometime(world, &side.suspend);
    person::sits_down(world, &journal, &drive.machine);
    loop {
        drive.take_posted().await?;
        let (sender, mut inbox) = mpsc::channel(16);
        let listening = tokio::spawn(listen(world.clone(), journal.clone(), sender));
        let left = drive.run(&side, &mut inbox, &side.suspend, WhenWaiting::Leave).await;
        listening.abort();
        let left = left?;
        if let Some(error) = side.broken.lock().ok().and_then(|mut broken| broken.take()) {
            return Err(error);
        }
        if left == Left::Waiting && !journal.posted(&world.case.run).await?.is_empty() {
            continue;
        }
        if left == Left::Over {
            drive.take_posted().await?;
            world.lock().laws.run_is_over();
        }
        return Ok(match left {
            Left::Over => Ended::Over(drive.machine.status()),
            Left::Waiting => Ended::Waiting,
            Left::Suspended => Ended::Suspended,
        });
    }
}

/// Somebody presses Ctrl-C.
pub(super) fn suspended_sometime(world: &Arc<World>, suspend: &CancellationToken) {
    let (world, suspend) = (world.clone(), suspend.clone());
    let delay = {
        let state = &mut *world.lock();
        let presses = state.tally.lives < 12 && state.dice.chance(8);
        presses.then(|| state.dice.delay())
    };
    let Some(delay) = delay else { return };
    tokio::spawn(async move {
        world.clock.sleep(delay).await;
        world.lock().count("suspended");
        suspend.cancel();
    });
}

/// Hands on what is put into the inbox, each command once.
pub(super) async fn listen(
    world: Arc<World>,
    journal: Arc<dyn Journal>,
    sender: mpsc::Sender<Posted>,
) {
    let mut handed_on = 0;
    loop {
        let commands: Vec<(u64, Command)> =
            journal.posted(&world.case.run).await.unwrap_or_default();
        for (number, command) in commands {
            if number > handed_on {
                handed_on = number;
                let posted = Posted { number: Some(number), command, heard: None };
                if sender.send(posted).await.is_err() {
                    return;
                }
            }
        }
        world.posted.notified().await;
    }
}

/// After how many lines a state is compared with the fold of them.
const COMPARED: u64 = 16;

/// Holds a machine against the fold of its lines at every step.
struct Shadow<M>(Mutex<M>);

impl<M: Machine + Clone + PartialEq> Shadow<M> {
    fn of(machine: &M) -> Self {
        Self(Mutex::new(machine.clone()))
    }

    fn is_the_same(&self, machine: &M, lines: &[Envelope]) -> bool {
        let mut shadow = self.0.lock().expect("nobody panics with it");
        lines.iter().for_each(|line| shadow.apply(&line.event, line.at));
        // Comparing costs more than all else together, and what differs once differs from then on.
        let due = machine.is_over() || lines.iter().any(|line| line.seq % COMPARED == 0);
        !due || *shadow == *machine
    }
}

fn differs(world: &World, log: &str) {
    let what = format!("the state of {log} is not what its lines say");
    world.lock().laws.broken("the_state_is_the_fold_of_its_log", what);
}

fn keeps_the_budget(world: &World, run: &Run) {
    let view = run.view(world.clock.now());
    let (budget, spent) = (view.budget, view.spent);
    let fits = budget.tokens.is_none_or(|all| spent.tokens <= all)
        && budget.calls.is_none_or(|all| spent.calls <= all)
        && budget.money.is_none_or(|all| spent.money <= all);
    if !fits {
        let what = format!("{spent:?} of {budget:?}");
        world.lock().laws.broken("never_more_than_the_budget", what);
    }
}

fn watched_run(drive: Drive<Run>, world: &Arc<World>, journal: &Arc<dyn Journal>) -> Drive<Run> {
    let (world, journal) = (world.clone(), journal.clone());
    let shadow = Shadow::of(&drive.machine);
    drive.observed_by(Box::new(move |run, lines| {
        if !shadow.is_the_same(run, lines) {
            differs(&world, "the run");
        }
        if lines.iter().any(|line| matches!(line.event, Event::AttemptFinished { .. })) {
            keeps_the_budget(&world, run);
        }
        person::hears(&world, &journal, run, lines);
    }))
}

pub(super) fn watched_attempt(
    drive: Drive<Attempt>,
    world: &Arc<World>,
    attempt: &AttemptId,
) -> Drive<Attempt> {
    let (world, attempt) = (world.clone(), attempt.clone());
    let shadow = Shadow::of(&drive.machine);
    drive.observed_by(Box::new(move |machine, lines| {
        if !shadow.is_the_same(machine, lines) {
            differs(&world, &attempt.to_string());
        }
        let asks = lines.iter().any(|line| matches!(line.event, Event::ModelAsked { .. }));
        if let Some(what) = (asks || machine.is_over()).then(|| unanswered(machine)).flatten() {
            world.lock().laws.broken("every_call_in_the_history_has_its_result", what);
        }
        if machine.is_over() {
            world.lock().laws.attempt_is_over(&attempt);
        }
    }))
}

/// Calls of the history that do not have exactly one result, right after them. The last round may still be open.
fn unanswered(attempt: &Attempt) -> Option<String> {
    // The files of a reply by contract are calls that the reply does not name, and nothing is asked after them.
    if attempt.brief().is_some_and(|brief| brief.reply.is_some()) {
        return None;
    }
    let history = attempt.history();
    let mut messages = history.iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Assistant { blocks, .. } = &**message else { continue };
        let calls = blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Call(call) => Some(call.wire_id.as_str()),
            _ => None,
        });
        let calls: Vec<&str> = calls.collect();
        let results: Vec<&str> = match messages.peek().map(|next| &***next) {
            Some(Message::Results { results }) => results.iter().map(|r| &*r.wire_id).collect(),
            None if !attempt.is_over() => continue,
            _ => vec![],
        };
        if calls != results {
            return Some(format!("{calls:?} have {results:?}"));
        }
    }
    None
}
