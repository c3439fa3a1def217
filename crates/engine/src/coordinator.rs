//! The coordination of many agents: the state machine of a run, on top of the stages and the state.

mod cause;
mod complete;
mod decide;
mod pending;

use types::{Effect, EffectId, Event, Input, Timestamp};

use crate::state::Run;
use crate::{InFlight, Machine};

impl Machine for Run {
    fn decide(&self, input: &Input, now: Timestamp) -> Vec<Event> {
        let decided = decide::decide(self, input, now);
        decided.into_iter().map(|event| complete::complete(self, event)).collect()
    }

    fn apply(&mut self, event: &Event, at: Timestamp) {
        let event = complete::complete(self, event.clone());
        self.take(&event, at);
    }

    fn pending(&self, in_flight: &InFlight) -> Vec<Effect> {
        pending::pending(self, in_flight)
    }

    fn awaits(&self, effect: &EffectId) -> bool {
        pending::awaits(self, effect)
    }

    fn winds_down(&self) -> bool {
        Run::winds_down(self)
    }

    fn waits_for_a_person(&self) -> bool {
        // A task that is retried later waits for no person.
        !self.winds_down() && self.open_question().is_some() && decide::only_the_deadline(self)
    }

    fn is_over(&self) -> bool {
        Run::is_over(self)
    }

    fn listed(&self) -> Option<types::Listed> {
        self.shown_in_lists()
    }

    fn last_view(&self) -> Option<types::RunView> {
        self.ended().map(|ended| self.view(ended))
    }
}
