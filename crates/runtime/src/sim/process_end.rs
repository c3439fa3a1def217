//! How a simulated process ends, is suspended, and reads its inbox: the same for a run and a session.

use std::sync::Arc;

use store::Journal;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use types::{Command, Status};

use super::world::World;
use crate::event_loop::Posted;

/// How a process ended.
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

/// Suspends at some point.
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

/// Forwards commands from the inbox, each once.
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
