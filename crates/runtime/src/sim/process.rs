//! One process after the other: each loads the logs, continues, and ends when the run is over or waits for a person,
//! when its disk fails, or when it is killed.

use std::sync::{Arc, Mutex};

use engine::{Machine as _, Run};
use store::{Journal, MemoryJournal, Redactor};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{Begin, Digest, Input, LogId};

use super::outside::RunSide;
use super::person;
use super::process_end::{Ended, listen, suspended_sometime};
use super::store::SimJournal;
use super::talk;
use super::watched::watched_run;
use super::world::World;
use crate::event_loop::{Drive, DriveError, Left, LoopDeps, WhenWaiting};
use crate::in_flight::Order;

/// Starts a process and runs it to its end.
pub(super) fn live(world: &Arc<World>, journal: &MemoryJournal) -> Ended {
    let kill = world.born();
    let clock = world.clock.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .on_thread_park(move || clock.idle())
        .build()
        .expect("a runtime without a driver");
    let life = life(world.clone(), journal.clone(), kill);
    // Time moves while the runtime is idle, and a blocked-on future does not count as idle.
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
        // Commands after the end have no effect, except settling the result.
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
