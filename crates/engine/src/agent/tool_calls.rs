//! The calls of a turn: which begin now, which are refused, which wait for a person, and what becomes of those that
//! a crash cut off.

use types::{
    Access, Arguments, BlockBody, CallFacts, CallId, CallOutcome, Decision, Event, Inspection,
    Permission, Recovered, Repeat, Replied, RuleId, StopReason, ToolOutput,
};

use super::session::{CallState, PendingCall, Session};
use super::{Attempt, blocked, question, scope, subagents};
use rules::permit;
use rules::profile;
use rules::truncate::Cut;
use rules::truncate::Gaps;

/// The rule by which a hand-in after a failed change is sent back.
pub(super) const AFTER_FAILED_CHANGE: &str = "permit.after_failed_change";

/// Calls that were begun before a crash and cannot simply be made again.
pub(super) fn lost(
    attempt: &Attempt,
    workspace: &str,
    recovered: &[(CallId, Recovered)],
) -> Vec<Event> {
    let live = attempt.sessions.values().filter(|session| session.end.is_none());
    let lost = live.flat_map(Session::started).filter(|slot| {
        !matches!(&slot.inspection, Inspection::Would(facts) if facts.repeat == Repeat::Safe)
    });
    let event = |slot: &PendingCall| Event::ToolLost {
        call: slot.id,
        workspace: workspace.to_owned(),
        recovered: recovered.iter().find(|(call, _)| *call == slot.id).map(|(_, became)| *became),
    };
    lost.map(event).collect()
}

/// What each call of a reply would do. One that the output limit cut off in the middle is none: nothing of it is done,
/// and the model is told how to go on.
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
        // A call whose arguments had not begun looks like one without any.
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

/// Which calls begin now: those that only look all together, commands among them, and anything else alone and in order.
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
        if has(slot, Access::Execute) && attempt.wants_probe() {
            break;
        }
        let judged = judge(attempt, session, slot);
        if question::asks(&judged) && !question::words(slot).is_empty() {
            // What the person is asked about is looked at first.
            break;
        }
        let started = judged.iter().any(|event| matches!(event, Event::ToolStarted { .. }));
        if started {
            under_way += 1;
            only_reads = only_reads && reads;
        }
        let alone = judged.len() > 1
            || question::asks(&judged)
            || judged.iter().any(|event| scope::is_counted(attempt, event));
        events.extend(judged);
        if alone {
            break;
        }
    }
    events
}

fn has(slot: &PendingCall, access: Access) -> bool {
    matches!(&slot.inspection, Inspection::Would(facts) if facts.access == access)
}

/// Whether a call only looks at something, so that it does not matter what runs beside it.
fn only_looks(slot: &PendingCall) -> bool {
    let Inspection::Would(facts) = &slot.inspection else { return false };
    match facts.access {
        Access::Read => true,
        Access::Execute => facts.command.as_deref().is_some_and(rules::command::only_looks),
        _ => false,
    }
}

/// Whether a call may change files.
pub(super) fn changes(slot: &PendingCall) -> bool {
    has(slot, Access::Write) || has(slot, Access::Execute)
}

pub(super) fn judge(attempt: &Attempt, session: &Session, slot: &PendingCall) -> Vec<Event> {
    let tool = slot.call.tool.clone();
    let refused =
        |outcome, rule, reason: String| vec![refusal(slot, outcome, Decision::new(rule, reason))];
    if let Some(event) = scope::violated(attempt, session, slot) {
        return vec![event];
    }
    let facts = match &slot.inspection {
        Inspection::Would(facts) => facts,
        Inspection::Invalid(why) | Inspection::Outside(why) => {
            let rule = RuleId::fixed("permit.invalid_call");
            return refused(CallOutcome::Error, rule, why.clone());
        }
    };
    if facts.access != Access::Read && session.round.iter().any(was_lost) {
        let reason = "it was not made, because it is not known whether the call before it took effect; \
                      look at that result first";
        let rule = RuleId::fixed("permit.after_lost_call");
        return refused(CallOutcome::Refused, rule, reason.to_owned());
    }
    if let Some(reason) = change_failed(session, slot, facts) {
        let rule = RuleId::fixed(AFTER_FAILED_CHANGE);
        return refused(CallOutcome::Refused, rule, reason);
    }
    if let Some(reason) = walls_missing(attempt, facts) {
        return refused(CallOutcome::Refused, RuleId::fixed("sandbox.refused"), reason);
    }
    let permit = permit::judge(&attempt.policy, session.scope(), &tool, facts);
    match permit.verdict {
        Permission::Deny => vec![scope::denied(attempt, session, slot, facts, permit.decision)],
        Permission::Ask => vec![question::ask(attempt, slot, permit.decision)],
        Permission::Allow => match &facts.agent {
            Some(wanted) => subagents::made(attempt, session, slot, wanted, permit.decision),
            None => vec![Event::ToolStarted { call: slot.id, tool, decision: permit.decision }],
        },
    }
}

pub(super) fn refusal(slot: &PendingCall, outcome: CallOutcome, decision: Decision) -> Event {
    let (call, tool) = (slot.id, slot.call.tool.clone());
    Event::ToolRefused { call, tool, outcome, decision, violation: false }
}

/// Why a hand-in is sent back, once: the last change did not come about, and nobody looked at that.
fn change_failed(session: &Session, slot: &PendingCall, facts: &CallFacts) -> Option<String> {
    let repeats = &session.repeats;
    let failed = repeats.failed_change.as_ref().filter(|_| !repeats.sent_back)?;
    let hands_in = facts.access == Access::Submit && !blocked::is_blocked(&slot.call.arguments);
    hands_in.then(|| {
        format!(
            "nothing was handed in: the last change of a file failed ({failed}), and none succeeded after it. Make the \
             change, or hand in `blocked` with the reason"
        )
    })
}

/// Why a command is not run, where the walls were found to hold less than the policy requires.
fn walls_missing(attempt: &Attempt, facts: &CallFacts) -> Option<String> {
    let proof = attempt.proof.as_ref().filter(|_| facts.access == Access::Execute)?;
    let require = attempt.policy.sandbox.require;
    (proof.rung < require).then(|| {
        format!(
            "commands are not run here: the policy requires {}, and there is {}: {}",
            require.as_str(),
            proof.rung.as_str(),
            proof.missing.join("; ")
        )
    })
}

/// A call that was cut off. The model wrote the calls after it in the belief that it would be made.
fn was_lost(slot: &PendingCall) -> bool {
    matches!(&slot.state, CallState::Done(result) if result.outcome == CallOutcome::Unknown)
}

pub(super) fn finished(attempt: &Attempt, call: CallId, output: &ToolOutput) -> Event {
    let session = attempt.sessions.get(&call.session);
    let tool = session.and_then(|session| session.slot(call)).map_or("", PendingCall::tool);
    let otherwise = session.map_or(0, |session| session.brief.output_chars);
    let cut = Cut::of(tool, &attempt.policy.tools, otherwise);
    let gaps = Gaps { not_held: output.not_held, not_kept: output.not_kept };
    Event::ToolFinished {
        call,
        outcome: if output.success { CallOutcome::Ok } else { CallOutcome::Error },
        output: cut.shown(&output.text, output.blob, gaps),
        images: output.images.clone(),
        files: output.files.clone(),
        trees: output.trees,
        metadata: Box::new(output.metadata.on_record()),
    }
}
