//! Effects pending in the state of an attempt: model requests, started calls, the sandbox probe, timers, the final
//! commit.

use types::{Brief, Effect, EffectId, TaskId, TimerId};

use super::pending_call::is_agent_call;
use super::session::{Session, SessionPhase};
use super::{Attempt, tool_calls};
use crate::InFlight;

pub(super) fn pending(attempt: &Attempt, in_flight: &InFlight) -> Vec<Effect> {
    let Some(brief) = attempt.brief() else { return vec![] };
    if attempt.end_of_root().is_some() {
        // A call that was cancelled may still be writing; its changes are committed once it has ended.
        let busy = |id: &EffectId| matches!(id, EffectId::Seal | EffectId::Tool(_));
        if attempt.needs_seal() && !in_flight.iter().any(busy) {
            let message = seal_message(brief);
            return vec![Effect::Seal { message, at: attempt.ended }];
        }
        return vec![];
    }
    let mut effects = Vec::new();
    for session in attempt.sessions.values().filter(|session| session.end.is_none()) {
        talking(attempt, session, in_flight, &mut effects);
    }
    if attempt.wants_probe() {
        effects.push(Effect::Probe);
    }
    effects.retain(|effect| !in_flight.contains(&effect.id()));
    effects
}

fn talking(attempt: &Attempt, session: &Session, in_flight: &InFlight, effects: &mut Vec<Effect>) {
    if let Some(until) = attempt.deadline(session) {
        let timer = TimerId::Session(session.id, session.inputs);
        effects.push(Effect::Wait { timer, until });
    }
    match session.phase {
        SessionPhase::Asking { .. } => {
            // A request is not put together again while it is in flight.
            if !in_flight.contains(&EffectId::Model(session.id, session.turn)) {
                let request = Box::new(session.request(&attempt.policy.session));
                effects.push(Effect::AskModel { request });
            }
        }
        SessionPhase::Answering => {
            if let Some((slot, words)) = tool_calls::to_look_at(attempt, session) {
                effects.push(Effect::Look { call: slot.id, words });
            }
            let open = session.started().filter(|slot| !is_agent_call(slot));
            effects.extend(open.map(|slot| Effect::RunTool {
                call: slot.id,
                tool: slot.call.tool.clone(),
                arguments: slot.arguments(),
                exact: slot.exact,
                model: session.model.clone(),
                scope: session.parent.map(|_| session.brief.scope.clone()),
                changes: tool_calls::changes(slot),
                hosts: tool_calls::hosts(attempt, slot),
            }));
        }
        SessionPhase::Waiting { until, .. } => {
            let timer = TimerId::Model(session.id, session.turn);
            effects.push(Effect::Wait { timer, until });
        }
        SessionPhase::Idle
        | SessionPhase::ToAsk
        | SessionPhase::Summarised { .. }
        | SessionPhase::Broken { .. }
        | SessionPhase::Cut { .. }
        | SessionPhase::Away { .. }
        | SessionPhase::Short { .. } => {}
    }
}

/// The commit message for an attempt's changes.
fn seal_message(brief: &Brief) -> String {
    let what = if brief.attempt.task == TaskId::plan() { "plan" } else { "task" };
    format!("Bosun: {what} {}\n\nBosun-Run: {}\n", brief.attempt, brief.run)
}
