//! A reply without a call, from an agent that has to submit a result: it is reminded, then its attempt ends.

use types::{Access, Decision, Event, Fault, RuleId};

use super::blocked;
use super::events::failed;
use super::pending_call::PendingCall;
use super::same_again::submit_tool;
use super::session::{Session, SessionPhase};
use super::state::Attempt;

/// The rule that reminds an agent.
pub(super) const RULE: &str = "session.reminded";
/// The rule that rejects a submission without a change, and its reason.
pub(super) const NOTHING_CHANGED: &str = "permit.nothing_changed";
pub(super) const NO_CHANGE: &str = "not submitted: you have changed no file. Make the change with a tool, then submit. If \
     there is nothing to change, or it cannot be done, submit `blocked` with the reason";

/// A reply without a call ends an attempt, after reminders.
pub(super) fn unsubmitted(attempt: &Attempt, session: &Session) -> Event {
    let (count, most) = (session.repeats.reminded + 1, attempt.policy.session.reminders);
    let what = format!("the {} stopped without submitting a result", session.brief.role);
    if count > most {
        return failed(session, Fault::structural("session.no_submission", what));
    }
    let submit = submit_tool(attempt, session);
    let say = Some(format!(
        "You have not called a tool, and text changes nothing. If the task is not done, make the next call now. If the \
         task is done, call {submit}."
    ));
    let decision = Decision::new(RuleId::fixed(RULE), what)
        .seeing(format!("reminder {count} of at most {most}"));
    Event::SessionWarned { session: session.id, decision, say }
}

/// Whether a submission is rejected, once: nothing was changed, and the task is to change something.
pub(super) fn is_due(attempt: &Attempt, session: &Session, slot: &PendingCall) -> bool {
    let (brief, repeats) = (&session.brief, &session.repeats);
    let fresh = brief.assignment.base.as_ref() == Some(&brief.start);
    let writes = fresh && !brief.scope.0.is_empty();
    attempt.policy.session.reminders > 0
        && slot.needs(Access::Submit)
        && !blocked::is_blocked(&slot.call.arguments)
        && writes
        && !repeats.changed
        && !repeats.sent_back
}

/// Applies a reminder: the model is asked again.
pub(super) fn apply(session: &mut Session) {
    session.repeats.reminded += 1;
    session.phase = SessionPhase::ToAsk;
}
