//! The state machine of one agent: an attempt at a task, or an open conversation with a person. It knows nothing of
//! other agents of the run.

mod apply;
mod away;
mod blocked;
mod booking;
mod cause;
mod context_window;
mod decide;
mod events;
mod json_reply;
mod judge;
mod loop_detection;
mod pending;
mod pending_call;
mod question;
mod reminder;
mod reply;
mod reserve;
mod same_again;
mod scope;
mod session;
mod state;
mod subagents;
mod tool_calls;
mod view;
mod window;

pub(crate) use blocked::BLOCKED;
pub use json_reply::calls_of;

use types::{Effect, EffectId, Event, Input, Listed, SessionId, TimerId, Timestamp};

use crate::{InFlight, Machine};
use session::SessionPhase;

pub use state::Attempt;

impl Machine for Attempt {
    fn decide(&self, input: &Input, now: Timestamp) -> Vec<Event> {
        booking::booked(self, decide::decide(self, input, now))
    }

    fn apply(&mut self, event: &Event, at: Timestamp) {
        apply::apply(self, event, at);
    }

    fn pending(&self, in_flight: &InFlight) -> Vec<Effect> {
        pending::pending(self, in_flight)
    }

    fn awaits(&self, effect: &EffectId) -> bool {
        let live = |id: &SessionId| self.sessions.get(id).filter(|session| session.end.is_none());
        match effect {
            EffectId::Seal => self.needs_seal(),
            EffectId::Probe => self.wants_probe() && self.end_of_root().is_none(),
            EffectId::Model(id, turn) => live(id).is_some_and(|session| {
                matches!(session.phase, SessionPhase::Asking { .. }) && session.turn == *turn
            }),
            EffectId::Tool(call) => live(&call.session)
                .is_some_and(|session| session.started().any(|slot| slot.id == *call)),
            EffectId::Look(call) => live(&call.session)
                .and_then(|session| tool_calls::to_look_at(self, session))
                .is_some_and(|(slot, _)| slot.id == *call),
            EffectId::Timer(TimerId::Session(id, input)) => live(id).is_some_and(|session| {
                session.inputs == *input && self.deadline(session).is_some()
            }),
            EffectId::Timer(TimerId::Model(id, turn)) => live(id).is_some_and(|session| {
                matches!(session.phase, SessionPhase::Waiting { .. }) && session.turn == *turn
            }),
            _ => false,
        }
    }

    fn winds_down(&self) -> bool {
        false
    }

    fn waits_for_a_person(&self) -> bool {
        let idle = self.root().is_some_and(|root| root.end.is_none() && root.rests());
        (self.open_question().is_some() || idle) && subagents::is_quiet(self)
    }

    fn is_over(&self) -> bool {
        self.end_of_root().is_some() && !self.needs_seal()
    }

    fn listed(&self) -> Option<Listed> {
        view::listed(self)
    }
}

#[cfg(test)]
mod away_tests;
#[cfg(test)]
mod booking_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod recovered_tests;
#[cfg(test)]
mod same_again_tests;
#[cfg(test)]
mod session_tests;
#[cfg(test)]
mod shortage_tests;
#[cfg(test)]
mod subagents_tests;
#[cfg(test)]
pub(crate) mod testing {
    pub(crate) use super::session_tests::{open_brief, policy};
}
#[cfg(test)]
mod tests;
