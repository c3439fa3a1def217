//! Compares driven machines with the fold of their lines, and checks the budget and the history.

use std::sync::{Arc, Mutex};

use engine::{Attempt, Machine, Run};
use store::Journal;
use types::{AttemptId, BlockBody, Envelope, Event, Message};

use super::person;
use super::world::World;
use crate::clock::Clock as _;
use crate::event_loop::Drive;

/// The number of lines between comparisons of a state with its fold.
const COMPARED: u64 = 16;

/// Compares a machine with the fold of its lines at every step.
struct Shadow<M>(Mutex<M>);

impl<M: Machine + Clone + PartialEq> Shadow<M> {
    fn of(machine: &M) -> Self {
        Self(Mutex::new(machine.clone()))
    }

    fn is_the_same(&self, machine: &M, lines: &[Envelope]) -> bool {
        let mut shadow = self.0.lock().expect("nobody panics with it");
        lines.iter().for_each(|line| shadow.apply(&line.event, line.at));
        // Comparing costs more than everything else together, and a difference persists from then on.
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

pub(super) fn watched_run(
    drive: Drive<Run>,
    world: &Arc<World>,
    journal: &Arc<dyn Journal>,
) -> Drive<Run> {
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

/// Calls of the history without exactly one result right after them. The last round may still be open.
fn unanswered(attempt: &Attempt) -> Option<String> {
    // The files of a reply by contract are calls that the reply does not name, and no request follows them.
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
