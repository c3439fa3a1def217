//! Every decision of Bosun: pure, synchronous, deterministic.
//!
//! Two machines live here, and one loop drives both. [`Run`] is one request on its way along the line;
//! [`Attempt`] is one try at a task, with its conversation. Each is the fold of its own log:
//!
//! * [`Machine::decide`]: what happened because of this input. Total: it cannot fail.
//! * [`Machine::apply`]: the only place where state changes.
//! * [`Machine::pending`]: what the state now asks of the outside world.
//! * [`Run::view`]: plain data for every screen.
//!
//! Nothing here reads a clock, a file or the environment, draws a random number, or is async.

use std::collections::BTreeSet;

use types::{Effect, EffectId, Event, Input, Listed, RunView, Timestamp};

pub mod approval;
mod attempt;
mod baseline;
mod brief;
mod budget;
pub mod command;
mod condition;
mod context;
mod contract;
mod dag;
pub mod explain;
mod failure;
pub mod folder;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
mod intake;
mod intent;
mod isolation;
#[cfg(test)]
mod laws_tests;
pub mod manifest;
mod merge;
pub mod permit;
mod phrase;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod projection;
pub mod prompt;
mod question;
#[cfg(test)]
mod question_tests;
mod reading;
pub mod replay;
mod report;
mod review;
mod route;
mod run;
mod schedule;
pub mod spec;
#[cfg(test)]
mod testing;
mod trials;
mod truncate;
mod verify;

pub use attempt::{Attempt, calls_of};
pub use budget::output_limit;
pub use run::Run;
pub use truncate::{Cut, Gaps, head_and_tail, report as report_text};
pub use verify::{findings, is_read, watched};

/// The effects that are being performed right now.
pub type InFlight = BTreeSet<EffectId>;

/// A state that is the fold of a log, and knows what comes next.
pub trait Machine {
    /// The events that follow from one input. Any input in any state has an answer, if only an empty one.
    fn decide(&self, input: &Input, now: Timestamp) -> Vec<Event>;

    /// Takes one event into the state.
    fn apply(&mut self, event: &Event, at: Timestamp);

    /// What is to be done outside and is not being done yet.
    fn pending(&self, in_flight: &InFlight) -> Vec<Effect>;

    /// Whether the state still waits for the outcome of this effect.
    fn awaits(&self, effect: &EffectId) -> bool;

    /// Whether everything under way should be brought to an end.
    fn winds_down(&self) -> bool;

    /// Whether it cannot go on without a person.
    fn waits_for_a_person(&self) -> bool;

    /// Whether nothing can happen any more.
    fn is_over(&self) -> bool;

    /// What a list shows of it, once there is something. The work for it depends on what is open, not on the log.
    fn listed(&self) -> Option<Listed> {
        None
    }

    /// The whole of it as it will be shown from now on, where it is over and has such a view.
    fn last_view(&self) -> Option<RunView> {
        None
    }
}
