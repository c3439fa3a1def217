//! The interface between the loop and its machines, whose state is the fold of a log.

use std::collections::BTreeSet;

use types::{Effect, EffectId, Event, Input, Listed, RunView, Timestamp};

/// The effects in progress.
pub type InFlight = BTreeSet<EffectId>;

/// A state that is the fold of a log and decides the next events.
pub trait Machine {
    /// The events that follow from an input. Every input in every state has an answer, possibly empty.
    fn decide(&self, input: &Input, now: Timestamp) -> Vec<Event>;

    /// Applies one event to the state.
    fn apply(&mut self, event: &Event, at: Timestamp);

    /// The effects to perform that are not in flight yet.
    fn pending(&self, in_flight: &InFlight) -> Vec<Effect>;

    /// Whether the state still waits for the outcome of this effect.
    fn awaits(&self, effect: &EffectId) -> bool;

    /// Whether everything in progress should be brought to an end.
    fn winds_down(&self) -> bool;

    /// Whether it cannot continue without a person.
    fn waits_for_a_person(&self) -> bool;

    /// Whether nothing can happen any more.
    fn is_over(&self) -> bool;

    /// Its entry in lists, once there is one. The cost depends on open work, not on the length of the log.
    fn listed(&self) -> Option<Listed> {
        None
    }

    /// The final view of a finished machine that has one.
    fn last_view(&self) -> Option<RunView> {
        None
    }
}

/// A machine whose inputs can be derived from its log.
pub trait Recorded: Machine {
    /// The outside inputs that may have led to this event, the likeliest first. Due events, program starts and timers
    /// are not included: those are always tried.
    fn causes(&self, event: &Event) -> Vec<Input>;
}
