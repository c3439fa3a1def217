//! Model calls that fail or return an incomplete reply: when and for how long they are retried, and the handling of a
//! reply that broke off, was cut short, interrupted or refused. A partial reply that a person has seen stays in the
//! history, followed by a note to the model on why it ends there. Retry delays are spread by the run's recorded random
//! id, so no random number is drawn here. The caller classifies faults as transient or not.

use types::{
    AskAgain, Block, Decision, Digest, Event, Fault, FaultClass, Message, Millis, ModelFailureRule,
    OutOfPatience, Retry, RuleId, SessionId, StopReason, Timestamp,
};

use super::Attempt;
use super::events::{failed as ended, paused as stopped};
use super::session::{Resting, Session, SessionPhase};
use super::window::AFTER_CUT;
use rules::ledger::CALL;

/// The rule that resumes an input whose model was unavailable.
pub(super) const GO_ON: &str = "session.gone_on";
/// The rule that continues a reply cut off at its maximum length.
pub(super) const CONTINUED: &str = "session.reply_continued";
/// The rule that interrupts the work on an input at a person's request.
pub(super) const INTERRUPTED: &str = "session.interrupted";

/// Sent to the model after a reply whose stream broke off.
const AFTER_BREAK: &str = "[The connection broke off in the middle of your reply; nothing after this point has \
                           arrived, and no call of it was made. Reply again, from the beginning.]";
/// Sent to the model after a reply that a person interrupted.
const AFTER_INTERRUPT: &str = "[The person interrupted your reply here; nothing after this point was seen, and no call of it was made.]";

/// The rule for a fault. One that does not pass by itself, such as a rejected key, needs a rule that names it.
fn rule_for<'a>(attempt: &'a Attempt, fault: &Fault) -> Option<&'a ModelFailureRule> {
    let named = |rule: &ModelFailureRule| fault.passes() || rule.codes.contains(&fault.code);
    attempt.policy.model_failures.iter().find(|rule| rule.covers(fault) && named(rule))
}

fn patience(attempt: &Attempt, rule: &ModelFailureRule) -> Millis {
    let alone = attempt.policy.unattended || attempt.policy.headless;
    if alone { rule.unattended_ms } else { rule.patience_ms }
}

/// When to retry after this failure; `None` once the time or the number of retries is used up.
pub(super) fn again(
    attempt: &Attempt,
    session: &Session,
    fault: &Fault,
    now: Timestamp,
) -> Option<AskAgain> {
    let rule = rule_for(attempt, fault).filter(|_| fault.passes())?;
    let failures = session.failures.saturating_add(1);
    if rule.max_calls.is_some_and(|most| failures >= most) {
        return None;
    }
    let since = if session.failures == 0 { now } else { session.failing_since };
    let patience = match (fault.retry, rule.reset_ms) {
        (Retry::After(_), Some(longest)) => patience(attempt, rule).max(longest),
        _ => patience(attempt, rule),
    };
    let until = since.after(patience);
    let wait = spread(session, rule, failures);
    // The last wait is shortened, not skipped, unless the provider asked for it.
    let at = match fault.retry {
        Retry::After(asked) => now.after(wait.max(asked)),
        Retry::Never | Retry::Now => now.after(wait).min(until),
    };
    if now >= until || at > until {
        return None;
    }
    let wait = at.since(now);
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{}: {}", fault.class.as_str(), fault.code))
        .seeing(format!("consecutive failures: {failures}; next request in {wait}"))
        .seeing(format!("retried for at most {patience} in total"));
    Some(AskAgain { at, failures, decision })
}

/// A delay between zero and the maximum for this number of failures.
fn spread(session: &Session, rule: &ModelFailureRule, failures: u32) -> Millis {
    let factor = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let longest = rule.backoff_ms.0.saturating_mul(factor).min(rule.longest_wait_ms.0);
    let brief = &session.brief;
    let seed = format!("{} {} {} {}", brief.run, brief.attempt, session.id, session.turn);
    let [first, second, ..] = *Digest::of(seed.as_bytes()).bytes();
    let share = u64::from(u16::from_be_bytes([first, second]));
    Millis(longest.saturating_mul(share) / u64::from(u16::MAX))
}

/// Applies a failed request to the state.
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
    // A reply under a contract is requested again as a whole.
    if summary.is_none() && session.brief.reply.is_none() {
        keep(session, fault.said(), AFTER_BREAK);
    }
    let fault = Fault { said: None, ..fault.clone() };
    session.phase = match again {
        Some(again) => SessionPhase::Waiting { until: again.at, summary },
        None => SessionPhase::Broken { fault, summary },
    };
}

/// Keeps a partial reply and tells the model why it ends there.
fn keep(session: &mut Session, said: &str, why: &str) {
    if said.trim().is_empty() {
        return;
    }
    let (blocks, model) = (vec![Block::text(said)], Some(session.model.clone()));
    session.push(Message::Assistant { blocks, model });
    session.push(Message::user(why));
}

/// Interrupts the work on an input. The partial reply comes first, so that the input can be read from the log.
pub(super) fn interrupted(attempt: &Attempt, by: &str, said: Option<&str>) -> Vec<Event> {
    let decision = Decision::new(RuleId::fixed(INTERRUPTED), format!("interrupted by {by}"));
    let asking =
        |session: &Session| matches!(session.phase, SessionPhase::Asking { summary: None, .. });
    let root = attempt.root().filter(|root| asking(root));
    let said = said.filter(|said| root.is_some() && !said.trim().is_empty());
    let busy = attempt.sessions.values().rev().filter(|session| !session.rests());
    let mut busy: Vec<&Session> = busy.collect();
    if said.is_some() {
        busy.sort_by_key(|session| session.id != SessionId::ROOT);
    }
    let paused = |session: &Session| Event::SessionPaused {
        session: session.id,
        by: format!("person:{by}"),
        decision: decision.clone(),
        fault: None,
        said: said.filter(|_| session.id == SessionId::ROOT).map(str::to_owned),
        used: None,
    };
    busy.into_iter().map(paused).collect()
}

/// Adds the partial text of an interrupted reply to the history.
pub(super) fn keep_interrupted(session: &mut Session, said: Option<&str>) {
    keep(session, said.unwrap_or_default(), AFTER_INTERRUPT);
}

/// Applies the continuation of a cut reply to the state.
pub(super) fn continued(session: &mut Session) {
    session.continued += 1;
    session.phase = SessionPhase::ToAsk;
}

/// The rule that pauses a conversation, instead of ending it, while its model is unavailable. An open conversation has
/// a person, who deals with a fault that does not pass.
pub(super) fn pauses<'a>(
    attempt: &'a Attempt,
    session: &Session,
    fault: &Fault,
) -> Option<&'a ModelFailureRule> {
    let applies = fault.passes() || !session.is_open();
    rule_for(attempt, fault).filter(|rule| applies && rule.then == OutOfPatience::Pause)
}

/// The model was unavailable for too long, or only a person can make it available. The input stays open: whatever the
/// fault was, it counts as one that passes from now on.
pub(super) fn paused(session: &Session, rule: &ModelFailureRule, fault: &Fault) -> Event {
    let failures = types::count(session.failures, "request");
    let reason = format!("no reply after {failures}: {}; resume to try again", fault.what);
    let fault = if fault.passes() { fault.clone() } else { fault.clone().retry(Retry::Now) };
    stopped(session, Decision::new(rule.id.clone(), reason), Some(fault))
}

/// The phase after a pause: idle; if the model was unavailable, or there was no budget for it, the input is still
/// unanswered.
pub(super) fn talk_after(session: &Session, fault: Option<&Fault>) -> SessionPhase {
    match fault {
        Some(fault) if fault.code == CALL && !session.is_open() => {
            SessionPhase::Short { what: fault.what.clone() }
        }
        Some(fault) if fault.passes() && session.parent.is_none() => {
            SessionPhase::Away { fault: fault.clone() }
        }
        _ => SessionPhase::Idle,
    }
}

const ASKED_AGAIN: &str = "the model is asked again for the last input (";

/// Resumes the open input.
pub(super) fn gone_on(session: &Session, why: &str) -> Event {
    let reason = format!("{ASKED_AGAIN}{why})");
    let decision = Decision::new(RuleId::fixed(GO_ON), reason);
    Event::SessionWarned { session: session.id, decision, say: None }
}

/// The cause of the resumption, as recorded by [`gone_on`].
pub(super) fn gone_on_by(decision: &Decision) -> Option<&str> {
    decision.reason.strip_prefix(ASKED_AGAIN)?.strip_suffix(')')
}

/// Applies the resumption to the state.
pub(super) fn go_on(session: &mut Session) {
    if session.away().is_some() {
        (session.failures, session.stopped) = (0, None);
        session.phase = SessionPhase::ToAsk;
    }
}

/// Handles an incomplete reply: asks the model to continue if the policy allows it; otherwise passes the reason to the
/// person, or to the failure table.
pub(super) fn cut(
    attempt: &Attempt,
    session: &Session,
    stop: StopReason,
    word: Option<&str>,
) -> Vec<Event> {
    let said = word.map(|word| format!(" ({word})")).unwrap_or_default();
    let (rule, fault) = if stop == StopReason::Length {
        let most = session.asked_output;
        let what =
            format!("the reply was cut off at the limit of {most} tokens{said} and is incomplete");
        ("session.reply_cut", Fault::structural("session.reply_cut", what))
    } else {
        let what = format!("the model or its provider refused to answer{said}");
        let fault = Fault::new(FaultClass::Semantic, "model.content_filter", what);
        ("session.refused", fault)
    };
    if !session.is_open() {
        return vec![ended(session, fault)];
    }
    let most = attempt.policy.session.continue_replies;
    if stop == StopReason::Length && session.continued < most {
        let count = session.continued + 1;
        let decision = Decision::new(RuleId::fixed(CONTINUED), fault.what)
            .seeing(format!("continuation {count} of at most {most} for this input"));
        let say = Some(AFTER_CUT.to_owned());
        return vec![Event::SessionWarned { session: session.id, decision, say }];
    }
    vec![stopped(session, Decision::new(RuleId::fixed(rule), fault.what.clone()), Some(fault))]
}
