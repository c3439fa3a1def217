//! What the state of an attempt asks of the outside world: a reply, the calls that have begun, the commit at the end.

use types::{Effect, EffectId};

use super::Attempt;
use super::session::{Session, Talk};
use crate::{InFlight, brief};

pub(super) fn pending(attempt: &Attempt, in_flight: &InFlight) -> Vec<Effect> {
    let (Some(brief), Some(session)) = (&attempt.brief, &attempt.session) else { return vec![] };
    if attempt.end.is_some() {
        if attempt.needs_seal() && !in_flight.contains(&EffectId::Seal) {
            let message = brief::seal_message(brief);
            return vec![Effect::Seal { message, at: attempt.ended }];
        }
        return vec![];
    }
    talking(session, in_flight)
}

fn talking(session: &Session, in_flight: &InFlight) -> Vec<Effect> {
    match session.talk {
        Talk::Asking { .. } => {
            if in_flight.contains(&EffectId::Model(session.id, session.turn)) {
                return vec![];
            }
            vec![Effect::AskModel { request: Box::new(session.request()) }]
        }
        Talk::Answering => {
            let open =
                session.started().filter(|slot| !in_flight.contains(&EffectId::Tool(slot.id)));
            open.map(|slot| Effect::RunTool {
                call: slot.id,
                tool: slot.call.tool.clone(),
                arguments: slot.arguments(),
            })
            .collect()
        }
        Talk::ToAsk | Talk::Broken { .. } => vec![],
    }
}
