//! A simulation of the whole coordinator: the real loop and the real machines of a run and its attempts, over a journal
//! that fails, with simulated models, tools, checks, merges and people, under virtual time. Everything follows from one
//! seed, and invariants are checked after every step. No real time passes, and nothing outside is touched.
//!
//! `cargo xtask sim` runs many; docs/simulation.md describes the simulation and how to inspect a seed.

mod case;
mod clock;
mod dice;
mod laws;
mod model;
mod outside;
mod person;
mod process;
mod process_end;
mod store;
mod talk;
mod tally;
mod tests;
mod watched;
mod world;

use std::sync::Arc;

use ::store::{Journal as _, MemoryJournal};
use engine::{Machine as _, Run};
use futures::FutureExt as _;
use types::{Command, CommitId, LogId, Millis, Settled, Settling, Status};

use crate::clock::Clock as _;
use crate::event_loop::fold;
use laws::Broken;
use process_end::Ended;
use tally::Tally;
use world::World;

/// A run that needs more processes than this does not end.
const MOST_LIVES: u64 = 80;
/// After this many processes the person cancels the run; then it has to end.
const LAST_STRAW: u64 = 60;

/// The result of one seed.
struct Played {
    tally: Tally,
    broken: Option<Broken>,
    story: Vec<String>,
}

/// Plays the run of a seed to its end.
fn play(seed: u64) -> Played {
    let world = Arc::new(World::new(seed));
    let journal = MemoryJournal::new();
    let status = lives(&world, &journal);
    let mut state = world.lock();
    let end = status.map_or("left waiting", Status::as_str);
    *state.tally.ends.entry(format!("{} {end}", world.case.policy.name)).or_default() += 1;
    state.tally.virtual_ms = world.clock.now().since(clock::START).0;
    let broken = state.laws.first_broken().cloned();
    Played { tally: state.tally.clone(), broken, story: state.story.clone() }
}

/// One process after the other, until the run is over or abandoned for good.
fn lives(world: &Arc<World>, journal: &MemoryJournal) -> Option<Status> {
    loop {
        let ended = process::live(world, journal);
        let lives = {
            let mut state = world.lock();
            state.tell(format!("      -- {ended:?}"));
            if matches!(ended, Ended::Waiting) && state.laws.is_cancelled() {
                state.laws.broken("a_cancelled_run_ends", "it waits for a person");
            }
            if let Ended::Hung = ended {
                state.laws.broken("a_run_ends_or_waits", "nothing can happen any more");
            }
            if state.tally.lives > MOST_LIVES {
                state.laws.broken("a_run_ends_or_waits", "it has no end");
            }
            if state.laws.first_broken().is_some() {
                return None;
            }
            state.tally.lives
        };
        away(world);
        match ended {
            Ended::Over(status) => {
                too_late(world, journal, status);
                return Some(status);
            }
            Ended::Waiting if !says_something(world, journal, lives) => return None,
            _ if lives == LAST_STRAW => post(world, journal, &person::cancel()),
            _ => {}
        }
    }
}

/// Nothing runs for a while; sometimes the clock is set back meanwhile.
fn away(world: &World) {
    let mut state = world.lock();
    let pause = state.dice.delay().plus(Millis(1));
    world.clock.pass(pause);
    if state.dice.chance(3) {
        state.count("clock set back");
        world.clock.set_back(Millis(state.dice.below(3_600_000)));
    }
}

/// Commands to a finished run: its result is settled, and anything else has no effect.
fn too_late(world: &Arc<World>, journal: &MemoryJournal, status: Status) {
    let settled = Settled {
        how: Settling::Accepted,
        commit: CommitId("mine".to_owned()),
        by: "person:ann".to_owned(),
    };
    if status == Status::Done && !world.case.talks {
        post(world, journal, &Command::Settle { settled });
    }
    post(world, journal, &person::cancel());
    let ended = process::live(world, journal);
    let waits = journal.posted(&world.case.run).now_or_never();
    let heard = waits.is_some_and(|posted| posted.is_ok_and(|posted| posted.is_empty()));
    if matches!(ended, Ended::Over(_)) && !heard {
        world.lock().laws.broken("every_command_is_heard", "it is still in the inbox");
    }
}

/// Whether the person answers a waiting run, or abandons it for good.
fn says_something(world: &Arc<World>, journal: &MemoryJournal, lives: u64) -> bool {
    let case = &world.case;
    if case.talks {
        let word = talk::next_word(world, journal, lives >= LAST_STRAW);
        post(world, journal, &word);
        return true;
    }
    let mut run = Run::new(case.run.clone(), case.policy.clone());
    let log = LogId::run(case.run.clone());
    let folded = fold(&mut run, &log, journal).now_or_never();
    folded.expect("memory does not wait").expect("it can be read");
    let questions = person::open(&run, world.clock.now());
    if questions.is_empty() || !run.waits_for_a_person() {
        let what = "it waits for a person and asks nothing";
        world.lock().laws.broken("who_waits_asks", what);
        return false;
    }
    let command = {
        let state = &mut *world.lock();
        if state.answers >= case.person.patience && lives < LAST_STRAW {
            return false;
        }
        state.answers += 1;
        let place = usize::try_from(state.dice.below(questions.len() as u64)).unwrap_or(0);
        if lives < LAST_STRAW {
            person::answer(&questions[place], &mut state.dice)
        } else {
            person::cancel()
        }
    };
    post(world, journal, &command);
    true
}

fn post(world: &Arc<World>, journal: &MemoryJournal, command: &Command) {
    world.lock().tell(format!("      > {command:?}"));
    let posting = journal.post(&world.case.run, world.clock.now(), command);
    posting.now_or_never().expect("memory does not wait").expect("the inbox takes it");
}
