//! What a state is that is the fold of a log: the interface between the loop and everything that decides.

use std::collections::BTreeSet;

use types::{Effect, EffectId, Event, Input, Listed, RunView, Timestamp};

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

/// A machine whose inputs can be read off its log.
pub trait Recorded: Machine {
    /// The inputs from outside that may have led to this event, the likeliest first. What is merely due, the start of
    /// the program and timers are not among them: those are tried in any case.
    fn causes(&self, event: &Event) -> Vec<Input>;
}
