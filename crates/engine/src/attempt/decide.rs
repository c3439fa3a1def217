//! What follows from an input, for an attempt: ask the model, permit its calls, take their results, until it hands
//! in its result or cannot go on.

use types::{
    Access, CallId, CallOutcome, Command, Decision, EffectId, Event, Fault, FaultClass, Input,
    Inspection, Outcome, Permission, Repeat, RuleId, SessionEnd, SessionId, Spend, Timestamp,
    ToolOutput,
};

use super::apply::submits;
use super::session::{Session, Slot, SlotState, Talk};
use super::{Attempt, question};
use crate::budget::most_tokens;
use crate::{Cut, Machine as _, permit};

pub(super) fn decide(attempt: &Attempt, input: &Input, _now: Timestamp) -> Vec<Event> {
    if attempt.is_over() {
        return vec![];
    }
    match input {
        Input::Brief(brief) if attempt.brief.is_none() => {
            vec![Event::SessionStarted { session: SessionId::ROOT, brief: brief.clone() }]
        }
        Input::Woke { workspace } => {
            let lost = lost(attempt, workspace.as_deref().unwrap_or_default());
            if lost.is_empty() { due(attempt) } else { lost }
        }
        Input::Due => due(attempt),
        Input::Command(Command::Cancel { .. })
            if attempt.end.is_none() && attempt.session.is_some() =>
        {
            vec![ended(SessionEnd::Cancelled)]
        }
        Input::Command(Command::Answer { by, question, text }) => {
            question::answered(attempt, *question, by, text)
        }
        Input::Outcome(effect, outcome) if attempt.awaits(effect) => {
            outcome_of(attempt, effect, outcome)
        }
        Input::Brief(_) | Input::Begin(_) | Input::Command(_) | Input::Outcome(..) => vec![],
    }
}

fn ended(end: SessionEnd) -> Event {
    Event::SessionEnded { session: SessionId::ROOT, end }
}

/// Calls that were begun before a crash and cannot simply be made again.
fn lost(attempt: &Attempt, workspace: &str) -> Vec<Event> {
    let open = attempt.session.iter().flat_map(Session::started);
    let lost = open.filter(|slot| {
        !matches!(&slot.inspection, Inspection::Would(facts) if facts.repeat == Repeat::Safe)
    });
    lost.map(|slot| Event::ToolLost { call: slot.id, workspace: workspace.to_owned() }).collect()
}

fn due(attempt: &Attempt) -> Vec<Event> {
    let Some(session) = &attempt.session else { return vec![] };
    if attempt.end.is_some() {
        return vec![];
    }
    match &session.talk {
        Talk::Asking { .. } => vec![],
        Talk::Broken { fault } => vec![ended(SessionEnd::Failed { fault: fault.clone() })],
        Talk::Answering if session.round.is_empty() => vec![ended(nothing_handed_in(attempt))],
        Talk::Answering => next_calls(attempt, session),
        Talk::ToAsk => match handed_in(session) {
            Some(submission) => vec![ended(SessionEnd::Submitted { submission })],
            None => vec![ask(attempt, session)],
        },
    }
}

fn nothing_handed_in(attempt: &Attempt) -> SessionEnd {
    let role = attempt.brief.as_ref().map_or_else(String::new, |brief| brief.role.to_string());
    let what = format!("the {role} stopped talking without handing in a result");
    SessionEnd::Failed { fault: Fault::structural("session.no_submission", what) }
}

/// What the last round handed in, if it did.
fn handed_in(session: &Session) -> Option<serde_json::Value> {
    let accepted = |slot: &&Slot| {
        submits(slot)
            && matches!(&slot.state, SlotState::Done(result) if result.outcome == CallOutcome::Ok)
    };
    session.round.iter().find(accepted).map(Slot::arguments)
}

/// Asks for the next turn, if the limits and the budget leave room for the worst case.
fn ask(attempt: &Attempt, session: &Session) -> Event {
    let brief = &session.brief;
    if attempt.turns >= brief.max_turns {
        let what = format!("the {} was not done after {} turns", brief.role, brief.max_turns);
        let fault = Fault::structural("session.turn_limit", what);
        return ended(SessionEnd::Failed { fault });
    }
    let reserved = Spend {
        tokens: most_tokens(session.bytes).saturating_add(brief.max_output_tokens),
        calls: 1,
        ..Spend::default()
    };
    if !attempt.ledger.fits(reserved) {
        let left = attempt.ledger.free().tokens.unwrap_or_default();
        let what = format!(
            "the next call may take {} tokens, and {left} are left of the attempt's budget",
            reserved.tokens
        );
        let fault = Fault::new(FaultClass::Resource, "budget.call_does_not_fit", what);
        return ended(SessionEnd::Failed { fault });
    }
    Event::ModelAsked {
        session: session.id,
        turn: session.turn + 1,
        model: brief.model.clone(),
        digest: session.digest,
        messages: session.history.len() as u64,
        reserved,
    }
}

/// Which calls begin now: reads all together, anything else alone and in order.
fn next_calls(attempt: &Attempt, session: &Session) -> Vec<Event> {
    if let Some(event) = question::follow(attempt, session) {
        return vec![event];
    }
    if question::is_open(session) {
        return vec![];
    }
    let reads = |slot: &Slot| matches!(&slot.inspection, Inspection::Would(facts) if facts.access == Access::Read);
    let mut events = Vec::new();
    let mut under_way = session.started().count();
    let mut only_reads = session.started().all(reads);
    for slot in session.round.iter().filter(|slot| slot.state == SlotState::Due) {
        if under_way > 0 && !(only_reads && reads(slot)) {
            break;
        }
        let event = judge(attempt, session, slot);
        if matches!(event, Event::ToolStarted { .. }) {
            under_way += 1;
            only_reads = only_reads && reads(slot);
        }
        let waits = matches!(event, Event::QuestionAsked { .. });
        events.push(event);
        if waits {
            break;
        }
    }
    events
}

fn judge(attempt: &Attempt, session: &Session, slot: &Slot) -> Event {
    let tool = slot.call.tool.clone();
    let refused = |outcome, decision| Event::ToolRefused {
        call: slot.id,
        tool: tool.clone(),
        outcome,
        decision,
    };
    if !session.brief.tools.contains(&tool) {
        let reason = format!("the {} has no tool {tool:?}", session.brief.role);
        let decision = Decision::new(RuleId::fixed("permit.not_the_roles_tool"), reason);
        return refused(CallOutcome::Refused, decision);
    }
    let facts = match &slot.inspection {
        Inspection::Would(facts) => facts,
        Inspection::Invalid(why) => {
            let decision = Decision::new(RuleId::fixed("permit.invalid_call"), why.clone());
            return refused(CallOutcome::Error, decision);
        }
    };
    if facts.access != Access::Read && session.round.iter().any(was_lost) {
        let reason = "it was not made, because it is not known whether the call before it took effect; \
                      look at that result first";
        let decision = Decision::new(RuleId::fixed("permit.after_lost_call"), reason);
        return refused(CallOutcome::Refused, decision);
    }
    let permit = permit::judge(&attempt.policy, &session.brief.scope, &tool, facts);
    match permit.verdict {
        Permission::Deny => refused(CallOutcome::Refused, permit.decision),
        Permission::Ask => question::ask(attempt, slot, permit.decision),
        Permission::Allow => Event::ToolStarted { call: slot.id, tool, decision: permit.decision },
    }
}

/// A call that was cut off. The model wrote the calls after it in the belief that it would be made.
fn was_lost(slot: &Slot) -> bool {
    matches!(&slot.state, SlotState::Done(result) if result.outcome == CallOutcome::Unknown)
}

fn outcome_of(attempt: &Attempt, effect: &EffectId, outcome: &Outcome) -> Vec<Event> {
    match (effect, outcome) {
        (EffectId::Model(session, turn), Outcome::Model(Ok(replied))) => {
            let Some(brief) = &attempt.brief else { return vec![] };
            vec![Event::ModelReplied {
                session: *session,
                turn: *turn,
                model: replied
                    .reply
                    .provenance
                    .model
                    .clone()
                    .unwrap_or_else(|| brief.model.clone()),
                reply: Box::new(replied.reply.clone()),
                inspections: replied.inspections.clone(),
            }]
        }
        (EffectId::Model(session, turn), Outcome::Model(Err(fault)) | Outcome::Broke(fault)) => {
            vec![Event::ModelFailed { session: *session, turn: *turn, fault: fault.clone() }]
        }
        (EffectId::Tool(call), Outcome::Tool(output)) => {
            vec![tool_finished(attempt, *call, output)]
        }
        (EffectId::Tool(call), Outcome::Broke(fault)) => {
            vec![tool_finished(attempt, *call, &ToolOutput::error(fault.what.clone()))]
        }
        (EffectId::Seal, Outcome::Sealed(Ok(sealed))) => vec![Event::AttemptSealed {
            commit: sealed.commit.clone(),
            changes: sealed.changes.clone(),
        }],
        (EffectId::Seal, Outcome::Sealed(Err(fault)) | Outcome::Broke(fault)) => {
            vec![Event::SealFailed { fault: fault.clone() }]
        }
        _ => vec![],
    }
}

pub(super) fn tool_finished(attempt: &Attempt, call: CallId, output: &ToolOutput) -> Event {
    let slot = attempt.session.as_ref().and_then(|session| session.slot(call));
    let tool = slot.map_or("", |slot| slot.call.tool.as_str());
    let otherwise = attempt.brief.as_ref().map_or(0, |brief| brief.output_chars);
    let cut = Cut::of(tool, &attempt.policy.tools, otherwise);
    Event::ToolFinished {
        call,
        outcome: if output.success { CallOutcome::Ok } else { CallOutcome::Error },
        output: cut.shown(&output.text, output.blob),
        images: output.images.clone(),
        files: output.files.clone(),
    }
}
