//! A model that does not reply, or not with all of it: when it is asked again, how long that goes on, and what becomes
//! of a reply that broke off, was cut short, interrupted or refused. What a person has seen of it stays in the history,
//! and the model is told why it ends there. The waits are spread by the run's id, which is random and on record, so
//! that nothing is drawn here. Which faults may pass is known to whoever saw them.

use types::{
    AskAgain, Block, Decision, Digest, Event, Fault, FaultClass, Message, Millis, ModelFailureRule,
    OutOfPatience, Retry, RuleId, SessionId, StopReason, Timestamp,
};

use super::Attempt;
use super::ending::{failed as ended, paused as stopped};
use super::session::{Resting, Session, SessionPhase};
use super::window::AFTER_CUT;

/// The rule by which somebody goes on with an input whose model was away.
pub(super) const GO_ON: &str = "session.gone_on";
/// The rule by which a reply that was cut off at its longest is continued.
pub(super) const CONTINUED: &str = "session.reply_continued";
/// The rule by which a person stops the work on an input.
pub(super) const INTERRUPTED: &str = "session.interrupted";

/// What the model is told of a reply whose stream broke off.
const AFTER_BREAK: &str = "[The connection broke off in the middle of your reply; nothing after this point has \
                           arrived, and no call of it was made. Reply again, from the beginning.]";
/// What the model is told of a reply that a person interrupted.
const AFTER_INTERRUPT: &str = "[The person interrupted your reply here; nothing after this point was seen, and no call of it was made.]";

fn rule_for<'a>(attempt: &'a Attempt, fault: &Fault) -> Option<&'a ModelFailureRule> {
    let passes = fault.passes();
    attempt.policy.model_failures.iter().find(|rule| passes && rule.covers(fault))
}

fn patience(attempt: &Attempt, rule: &ModelFailureRule) -> Millis {
    let alone = attempt.policy.unattended || attempt.policy.headless;
    if alone { rule.unattended_ms } else { rule.patience_ms }
}

/// When the model is asked again after this failure, if there is time for that and it was not asked often enough.
pub(super) fn again(
    attempt: &Attempt,
    session: &Session,
    fault: &Fault,
    now: Timestamp,
) -> Option<AskAgain> {
    let rule = rule_for(attempt, fault)?;
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
        .seeing(format!("{}: {}", fault.class.as_str(), fault.code))
        .seeing(format!("failure {failures} in a row, asked again in {wait}"))
        .seeing(format!("for at most {patience} in all"));
    Some(AskAgain { at, failures, decision })
}

/// A wait anywhere between nothing and the longest for so many failures.
fn spread(session: &Session, rule: &ModelFailureRule, failures: u32) -> Millis {
    let factor = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let longest = rule.backoff_ms.0.saturating_mul(factor).min(rule.longest_wait_ms.0);
    let brief = &session.brief;
    let seed = format!("{} {} {} {}", brief.run, brief.attempt, session.id, session.turn);
    let [first, second, ..] = *Digest::of(seed.as_bytes()).bytes();
    let share = u64::from(u16::from_be_bytes([first, second]));
    Millis(longest.saturating_mul(share) / u64::from(u16::MAX))
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
    // A reply that is read as a whole is asked for again as a whole.
    if summary.is_none() && session.brief.reply.is_none() {
        keep(session, fault.said(), AFTER_BREAK);
    }
    let fault = Fault { said: None, ..fault.clone() };
    session.phase = match again {
        Some(again) => SessionPhase::Waiting { until: again.at, summary },
        None => SessionPhase::Broken { fault, summary },
    };
}

/// Keeps the beginning of a reply, and tells the model why it ends there.
fn keep(session: &mut Session, said: &str, why: &str) {
    if said.trim().is_empty() {
        return;
    }
    let (blocks, model) = (vec![Block::text(said)], Some(session.model.clone()));
    session.push(Message::Assistant { blocks, model });
    session.push(Message::user(why));
}

/// A person stops the work on an input. What had come of a reply until then goes with it, and comes first, so that the
/// input can be read off the log.
pub(super) fn interrupted(attempt: &Attempt, by: &str, said: Option<&str>) -> Vec<Event> {
    let decision = Decision::new(RuleId::fixed(INTERRUPTED), format!("{by} stopped it"));
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

/// Takes what had come of an interrupted reply into the history.
pub(super) fn keep_interrupted(session: &mut Session, said: Option<&str>) {
    keep(session, said.unwrap_or_default(), AFTER_INTERRUPT);
}

/// Takes into the state that a cut reply is continued.
pub(super) fn continued(session: &mut Session) {
    session.continued += 1;
    session.phase = SessionPhase::ToAsk;
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
pub(super) fn talk_after(session: &Session, fault: Option<&Fault>) -> SessionPhase {
    match fault {
        Some(fault) if fault.passes() && session.parent.is_none() => {
            SessionPhase::Away { fault: fault.clone() }
        }
        _ => SessionPhase::Idle,
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
        session.phase = SessionPhase::ToAsk;
    }
}

/// The model has not said all that it had to say: it is asked to continue where the policy has that, and otherwise the
/// person, or the failure table, is told why.
pub(super) fn cut(
    attempt: &Attempt,
    session: &Session,
    stop: StopReason,
    word: Option<&str>,
) -> Vec<Event> {
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
    let most = attempt.policy.session.continue_replies;
    if stop == StopReason::Length && session.continued < most {
        let count = session.continued + 1;
        let decision = Decision::new(RuleId::fixed(CONTINUED), fault.what)
            .seeing(format!("continued {count} of at most {most} times for this input"));
        let say = Some(AFTER_CUT.to_owned());
        return vec![Event::SessionWarned { session: session.id, decision, say }];
    }
    vec![stopped(session, Decision::new(RuleId::fixed(rule), fault.what.clone()), Some(fault))]
}
