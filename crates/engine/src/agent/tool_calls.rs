//! The calls of a turn: which start now, are refused, wait for a person, or were cut off by a crash.

use types::{
    Access, Arguments, BlockBody, CallId, Event, FileState, Inspection, Recovered, Repeat, Replied,
    StopReason,
};

use super::judge::judge;
use super::session::{CallState, PendingCall, Session, SessionPhase};
use super::{Attempt, question, subagents};
use rules::{approval, profile};

/// Calls that started before a crash and cannot simply be repeated.
pub(super) fn lost(
    attempt: &Attempt,
    workspace: &str,
    recovered: &[(CallId, Recovered)],
) -> Vec<Event> {
    let live = attempt.sessions.values().filter(|session| session.end.is_none());
    let safe = |slot: &&PendingCall| slot.facts().is_some_and(|f| f.repeat == Repeat::Safe);
    let lost = live.flat_map(Session::started).filter(|slot| !safe(slot));
    let event = |slot: &PendingCall| Event::ToolLost {
        call: slot.id,
        workspace: workspace.to_owned(),
        recovered: recovered.iter().find(|(call, _)| *call == slot.id).map(|(_, became)| *became),
    };
    lost.map(event).collect()
}

/// The effects of each call of a reply. A call truncated by the output limit has none: it is not made, and the model
/// gets instructions on how to continue.
pub(super) fn inspected(session: &Session, replied: &Replied) -> Vec<Inspection> {
    let mut inspections = replied.inspections.clone();
    if replied.reply.stop != StopReason::Length {
        return inspections;
    }
    let last = replied.reply.calls().count().saturating_sub(1);
    let last_block = replied.reply.blocks.last().map(|block| &block.body);
    let ends_in_a_call = matches!(last_block, Some(BlockBody::Call(_)));
    for (place, (call, inspection)) in replied.reply.calls().zip(inspections.iter_mut()).enumerate()
    {
        let broken = matches!(call.arguments, Arguments::Broken(_));
        let invalid = matches!(inspection, Inspection::Invalid(_));
        // A call whose arguments had not begun looks like one without arguments.
        let empty = ends_in_a_call && is_empty(&call.arguments);
        if broken || ((invalid || empty) && place == last) {
            *inspection = Inspection::Invalid(cut_short(session, &call.tool));
        }
    }
    inspections
}

fn is_empty(arguments: &Arguments) -> bool {
    matches!(arguments, Arguments::Json(serde_json::Value::Object(fields)) if fields.is_empty())
}

fn cut_short(session: &Session, tool: &str) -> String {
    let has = |name: &str| session.tool_names.iter().any(|known| known == name);
    let more = if has("apply_patch") {
        "write a first part of the file with write_file, then add each further part at its end with apply_patch"
    } else if has("edit_file") {
        "write a first part of the file with write_file that ends with a line to be replaced, then put each further \
         part in place of that line with edit_file"
    } else {
        "do less in one call, and the rest in further ones"
    };
    format!(
        "the reply was cut off at {} tokens, the most for one reply, in the middle of this call of {tool}; nothing of it \
         was carried out. Do not send it again as it was: go on in parts: {more}",
        session.asked_output
    )
}

/// The calls that start now: read-only ones, including commands, together; any other alone and in order.
pub(super) fn next(attempt: &Attempt, session: &Session) -> Vec<Event> {
    if let Some(event) = question::follow(attempt, session) {
        return vec![event];
    }
    if question::is_open(session) {
        return vec![];
    }
    let followed = subagents::followed(attempt, session);
    if !followed.is_empty() {
        return followed;
    }
    let parallel = profile::calls_in_parallel(&attempt.policy, &session.brief.role);
    let mut events = Vec::new();
    let mut under_way = session.started().count();
    let mut only_reads = session.started().all(only_looks);
    for slot in session.round.iter().filter(|slot| slot.state == CallState::Due) {
        let reads = only_looks(slot);
        if under_way > 0 && !(parallel && only_reads && reads) {
            break;
        }
        if slot.needs(Access::Execute) && attempt.wants_probe() {
            break;
        }
        let judged = judge(attempt, session, slot);
        if question::asks(&judged) && !question::words(slot).is_empty() {
            // The files of a question are inspected first.
            break;
        }
        let started = judged.iter().any(|event| matches!(event, Event::ToolStarted { .. }));
        let refused = judged.iter().any(|event| matches!(event, Event::ToolRefused { .. }));
        if started {
            under_way += 1;
            only_reads = only_reads && reads;
        }
        // A refusal may affect later calls, or end the agent: they are judged once it is part of the state.
        let alone = judged.len() > 1 || refused || question::asks(&judged);
        events.extend(judged);
        if alone {
            break;
        }
    }
    events
}

/// Whether a call is read-only, so that anything may run beside it.
fn only_looks(slot: &PendingCall) -> bool {
    let Some(facts) = slot.facts() else { return false };
    match facts.access {
        Access::Read => true,
        Access::Execute => facts.command.as_deref().is_some_and(rules::command::only_looks),
        _ => false,
    }
}

/// Hosts that a call may reach in addition to those of the policy: its own, which were allowed with it, and granted
/// ones.
pub(super) fn hosts(attempt: &Attempt, slot: &PendingCall) -> Vec<String> {
    let granted = &attempt.grants.hosts;
    let own = slot.facts().into_iter().flat_map(|facts| &facts.hosts);
    granted.iter().chain(own.filter(|host| !granted.contains(host))).cloned().collect()
}

/// Whether a call may change files.
pub(super) fn changes(slot: &PendingCall) -> bool {
    slot.needs(Access::Write) || slot.needs(Access::Execute)
}

/// The call whose files must be inspected before a person is asked, or before it runs after approval, with the words of
/// its command that may name files.
pub(super) fn to_look_at<'a>(
    attempt: &Attempt,
    session: &'a Session,
) -> Option<(&'a PendingCall, Vec<String>)> {
    if let Some(slot) = session.round.iter().find(|slot| question::waits_for_a_look(slot)) {
        return Some((slot, question::words(slot)));
    }
    let due = session.round.iter().find(|slot| slot.state == CallState::Due)?;
    let free =
        session.started().next().is_none() && !question::is_open(session) && !attempt.wants_probe();
    (free && session.phase == SessionPhase::Answering)
        .then(|| (due, question::words(due)))
        .filter(|(slot, words)| !words.is_empty() && question::asks(&judge(attempt, session, slot)))
}

/// Continues after the files of a call were inspected.
pub(super) fn looked(attempt: &Attempt, call: CallId, found: &[FileState]) -> Vec<Event> {
    let Some(session) = attempt.sessions.get(&call.session) else { return vec![] };
    let Some(slot) = session.slot(call) else { return vec![] };
    let now = approval::bound(found);
    let CallState::Answered(asking, said) = &slot.state else {
        let judged = judge(attempt, session, slot);
        return judged.into_iter().map(|asked| question::about(asked, now.clone())).collect();
    };
    let changed = approval::changed(&asking.files, &now);
    if changed.is_empty() {
        return vec![question::follow_one(attempt, slot, asking.decision.clone(), said)];
    }
    let decision = approval::outdated(&asking.decision, &changed, &said.by);
    vec![question::about(question::ask(attempt, slot, decision, None), now)]
}
