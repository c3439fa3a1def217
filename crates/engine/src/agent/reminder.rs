//! A reply without a call, from an agent that has to submit a result: it is reminded, then its attempt ends.

use serde_json::json;
use types::{Access, Decision, Event, Fault, RuleId, SessionEnd};

use super::blocked;
use super::events::{ended, failed};
use super::pending_call::PendingCall;
use super::same_again::submit_tool;
use super::session::{Session, SessionPhase};
use super::state::Attempt;

/// The rule that reminds an agent.
pub(super) const RULE: &str = "session.reminded";
/// The rules that reject a submission, once for each session, and their reasons.
const NOTHING_CHANGED: (&str, &str) = (
    "permit.nothing_changed",
    "not submitted: you have changed no file. Make the change with a tool, then submit. If there is nothing to change, \
     or it cannot be done, submit `blocked` with the reason",
);
const BLOCKED_AFTER_CHANGES: (&str, &str) = (
    "permit.blocked_after_changes",
    "not submitted: `blocked` means that the task cannot be done, but you have changed files. If the task is done, \
     submit again and leave `blocked` empty. If it cannot be done, submit the same again",
);

/// A reply without a call ends an attempt, after reminders. What it has changed is handed in: its checks decide.
pub(super) fn unsubmitted(attempt: &Attempt, session: &Session) -> Event {
    let (count, most) = (session.repeats.reminded + 1, attempt.policy.session.reminders);
    let what = format!("the {} stopped without submitting a result", session.brief.role);
    if count > most && most > 0 && session.repeats.changed {
        let submission = json!({ "summary": session.last_words() });
        return ended(session, SessionEnd::Submitted { submission });
    }
    if count > most {
        return failed(session, Fault::structural("session.no_submission", what));
    }
    let submit = submit_tool(attempt, session);
    // In other words each time: a model that has not followed a sentence answers it again in the same way.
    let say = if count % 2 == 1 {
        format!(
            "You have not called a tool, and text changes nothing. If the task is not done, make the next call now. If \
             the task is done, call {submit}."
        )
    } else {
        format!(
            "Still no call. Reply with a call and nothing else: one that changes a file, or {submit}, with `blocked` if \
             you cannot go on."
        )
    };
    let say = Some(say);
    let decision = Decision::new(RuleId::fixed(RULE), what)
        .seeing(format!("reminder {count} of at most {most}"));
    Event::SessionWarned { session: session.id, decision, say }
}

/// The rule that rejects a submission, and its reason: nothing was changed, though the task is to change something, or
/// files were changed, and it is said that the task cannot be done.
pub(super) fn rejects(
    attempt: &Attempt,
    session: &Session,
    slot: &PendingCall,
) -> Option<(&'static str, &'static str)> {
    let (brief, repeats) = (&session.brief, &session.repeats);
    let reminds = attempt.policy.session.reminders > 0 && !repeats.sent_back;
    if !reminds || !slot.needs(Access::Submit) || brief.scope.0.is_empty() {
        return None;
    }
    match blocked::is_blocked(&slot.call.arguments) {
        true => repeats.changed.then_some(BLOCKED_AFTER_CHANGES),
        false => (brief.is_fresh() && !repeats.changed).then_some(NOTHING_CHANGED),
    }
}

/// Whether a rule rejects submissions once.
pub(super) fn is_rejection(rule: &RuleId) -> bool {
    [NOTHING_CHANGED, BLOCKED_AFTER_CHANGES].iter().any(|(id, _)| rule.as_str() == *id)
}

/// Applies a reminder: the model is asked again.
pub(super) fn apply(session: &mut Session) {
    session.repeats.reminded += 1;
    session.phase = SessionPhase::ToAsk;
}
