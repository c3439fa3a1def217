//! A model that does not reply, or not with all of it: when it is asked again, how long that goes on, and what is said
//! of a reply that was cut short or refused. The waits are spread by the run's id, which is random and on record, so
//! that nothing is drawn here. Which faults may pass is known to whoever saw them.

use types::{
    AskAgain, Decision, Digest, Event, Fault, FaultClass, ModelFailureRule, OutOfPatience, Retry,
    RuleId, Span, StopReason, Timestamp,
};

use super::Attempt;
use super::decide::{failed as ended, paused as stopped};
use super::session::{Resting, Session, Talk};

/// The rule by which somebody goes on with an input whose model was away.
pub(super) const GO_ON: &str = "session.gone_on";

fn rule_for<'a>(attempt: &'a Attempt, fault: &Fault) -> Option<&'a ModelFailureRule> {
    let passes = fault.passes();
    attempt.policy.model_failures.iter().find(|rule| passes && rule.covers(fault))
}

fn patience(attempt: &Attempt, rule: &ModelFailureRule) -> Span {
    let alone = attempt.policy.unattended || attempt.policy.headless;
    if alone { rule.unattended_ms } else { rule.patience_ms }
}

/// When the model is asked again after this failure, if there is time for that.
pub(super) fn again(
    attempt: &Attempt,
    session: &Session,
    fault: &Fault,
    now: Timestamp,
) -> Option<AskAgain> {
    let rule = rule_for(attempt, fault)?;
    let failures = session.failures.saturating_add(1);
    let since = if session.failures == 0 { now } else { session.failing_since };
    let patience = patience(attempt, rule);
    let until = since.after(patience);
    let wait = spread(session, rule, failures);
    // The last wait is shortened rather than left out, unless it is the provider's own.
    let at = match fault.retry {
        Retry::After(asked) => now.after(wait.max(asked)),
        Retry::Never | Retry::Now => now.after(wait).min(until),
    };
    if now >= until || at > until {
        return None;
    }
    let wait = at.since(now);
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{}: {}", fault.class.word(), fault.code))
        .seeing(format!("failure {failures} in a row, asked again in {wait}"))
        .seeing(format!("for at most {patience} in all"));
    Some(AskAgain { at, failures, decision })
}

/// A wait anywhere between nothing and the longest for so many failures.
fn spread(session: &Session, rule: &ModelFailureRule, failures: u32) -> Span {
    let factor = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let longest = rule.backoff_ms.0.saturating_mul(factor).min(rule.longest_wait_ms.0);
    let brief = &session.brief;
    let seed = format!("{} {} {} {}", brief.run, brief.attempt, session.id, session.turn);
    let [first, second, ..] = *Digest::of(seed.as_bytes()).bytes();
    let share = u64::from(u16::from_be_bytes([first, second]));
    Span(longest.saturating_mul(share) / u64::from(u16::MAX))
}

/// Takes a failed request into the state.
pub(super) fn failed(
    session: &mut Session,
    fault: &Fault,
    again: Option<&AskAgain>,
    summary: Option<Resting>,
    at: Timestamp,
) {
    if session.failures == 0 {
        session.failing_since = at;
    }
    session.failures = session.failures.saturating_add(1);
    session.talk = match again {
        Some(again) => Talk::Waiting { until: again.at, summary },
        None => Talk::Broken { fault: fault.clone(), summary },
    };
}

/// The rule by which a conversation is paused, and not ended, when its model stays away.
pub(super) fn pauses<'a>(attempt: &'a Attempt, fault: &Fault) -> Option<&'a ModelFailureRule> {
    rule_for(attempt, fault).filter(|rule| rule.then == OutOfPatience::Pause)
}

/// The model stayed away for too long. The input stays open.
pub(super) fn paused(session: &Session, rule: &ModelFailureRule, fault: &Fault) -> Event {
    let failures = types::count(session.failures, "request");
    let reason = format!("no answer after {failures}; it can be resumed: {}", fault.what);
    stopped(session, Decision::new(rule.id.clone(), reason), Some(fault.clone()))
}

/// What a conversation does after a pause: it rests, and where its model was away, the input is still to be answered.
pub(super) fn talk_after(session: &Session, fault: Option<&Fault>) -> Talk {
    match fault {
        Some(fault) if fault.passes() && session.parent.is_none() => {
            Talk::Away { fault: fault.clone() }
        }
        _ => Talk::Idle,
    }
}

const ASKED_AGAIN: &str = "the model is asked again for the last input (";

/// Somebody goes on with the open input.
pub(super) fn gone_on(session: &Session, why: &str) -> Event {
    let reason = format!("{ASKED_AGAIN}{why})");
    let decision = Decision::new(RuleId::fixed(GO_ON), reason);
    Event::SessionWarned { session: session.id, decision, say: None }
}

/// Who or what went on with it, as [`gone_on`] has put it.
pub(super) fn gone_on_by(decision: &Decision) -> Option<&str> {
    decision.reason.strip_prefix(ASKED_AGAIN)?.strip_suffix(')')
}

/// Takes it into the state.
pub(super) fn go_on(session: &mut Session) {
    if session.away().is_some() {
        (session.failures, session.stopped) = (0, None);
        session.talk = Talk::ToAsk;
    }
}

/// The model has not said all that it had to say: the person, or the failure table, is told why.
pub(super) fn cut(session: &Session, stop: StopReason, word: Option<&str>) -> Vec<Event> {
    let said = word.map(|word| format!(" ({word})")).unwrap_or_default();
    let (rule, fault) = if stop == StopReason::Length {
        let most = session.asked_output;
        let what = format!(
            "the reply was cut off at {most} tokens, the most for one reply{said}; it is not complete"
        );
        ("session.reply_cut", Fault::structural("session.reply_cut", what))
    } else {
        let what = format!("the model or its provider refused to answer{said}");
        let fault = Fault::new(FaultClass::Semantic, "model.content_filter", what);
        ("session.refused", fault)
    };
    if !session.is_open() {
        return vec![ended(session, fault)];
    }
    vec![stopped(session, Decision::new(RuleId::fixed(rule), fault.what.clone()), Some(fault))]
}
