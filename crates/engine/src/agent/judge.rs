//! Decides whether a call is made, refused, or put to a person: the rules on calls, plus the state of the conversation.

use rules::permit;
use types::{Access, CallFacts, CallOutcome, Decision, Event, Inspection, Permission, RuleId};

use super::events::{AFTER_FAILED_CHANGE, refusal};
use super::pending_call::{CallState, PendingCall};
use super::session::Session;
use super::state::Attempt;
use super::{blocked, question, reminder, scope, subagents};

pub(super) fn judge(attempt: &Attempt, session: &Session, slot: &PendingCall) -> Vec<Event> {
    let tool = slot.call.tool.clone();
    let refused = |outcome, rule: &'static str, reason: String| {
        vec![refusal(slot, outcome, Decision::new(RuleId::fixed(rule), reason))]
    };
    if let Some(event) = scope::violated(attempt, session, slot) {
        return vec![event];
    }
    let facts = match &slot.inspection {
        Inspection::Would(facts) => facts,
        Inspection::Invalid(why) | Inspection::Outside(why) => {
            return refused(CallOutcome::Error, "permit.invalid_call", why.clone());
        }
    };
    if facts.access != Access::Read && session.round.iter().any(was_lost) {
        let reason = "not made, because it is unknown whether a previous call took effect; look at its \
                      result first";
        return refused(CallOutcome::Refused, "permit.after_lost_call", reason.to_owned());
    }
    if let Some(reason) = change_failed(session, slot, facts) {
        return refused(CallOutcome::Refused, AFTER_FAILED_CHANGE, reason);
    }
    if let Some((rule, reason)) = reminder::rejects(attempt, session, slot) {
        return refused(CallOutcome::Refused, rule, reason.to_owned());
    }
    if let Some(reason) = isolation_missing(attempt, facts) {
        return refused(CallOutcome::Refused, "sandbox.refused", reason);
    }
    let permit =
        permit::judge_granted(&attempt.policy, &attempt.grants, &session.brief.scope, &tool, facts);
    match permit.verdict {
        Permission::Deny => vec![scope::denied(attempt, session, slot, facts, permit.decision)],
        Permission::Ask => vec![question::ask(attempt, slot, permit.decision, permit.offer)],
        Permission::Allow => match &facts.agent {
            Some(wanted) => subagents::made(attempt, session, slot, wanted, permit.decision),
            None => vec![Event::ToolStarted { call: slot.id, tool, decision: permit.decision }],
        },
    }
}

/// Why a submission is rejected, once: the last change failed and was not inspected again.
fn change_failed(session: &Session, slot: &PendingCall, facts: &CallFacts) -> Option<String> {
    let repeats = &session.repeats;
    let failed = repeats.failed_change.as_ref().filter(|_| !repeats.sent_back)?;
    let hands_in = facts.access == Access::Submit && !blocked::is_blocked(&slot.call.arguments);
    hands_in.then(|| {
        format!(
            "not submitted: the last file change failed ({failed}), and none succeeded after it. Make the change, or \
             submit `blocked` with the reason"
        )
    })
}

/// Why a command is not run in a sandbox weaker than the policy requires.
fn isolation_missing(attempt: &Attempt, facts: &CallFacts) -> Option<String> {
    let proof = attempt.proof.as_ref().filter(|_| facts.access == Access::Execute)?;
    let require = attempt.policy.sandbox.require;
    (proof.level < require).then(|| {
        format!(
            "cannot run commands: the policy requires isolation level {}, and the level here is {}: {}",
            require.as_str(),
            proof.level.as_str(),
            proof.missing.join("; ")
        )
    })
}

/// Whether a call was cut off. The model wrote the calls after it on the assumption that it would succeed.
fn was_lost(slot: &PendingCall) -> bool {
    matches!(&slot.state, CallState::Done(result) if result.outcome == CallOutcome::Unknown)
}
