//! Is the model going round in circles? The last calls are looked at for a pattern of one, two or three calls that
//! repeats itself. First the model is told; if that does not help, the work is stopped.

use types::{Decision, Event, RuleId};

use super::Attempt;
use super::session::{Repeats, Session};

/// What the model is told.
const WARNING: &str = include_str!("../../../../prompts/loop.md");
/// The rule that finds it.
pub(super) const RULE: &str = "session.loop";
/// The longest pattern that is looked for.
const LONGEST: usize = 3;

/// Takes note of the calls of the round that begins.
pub(super) fn note(session: &mut Session, window: usize) {
    if window == 0 {
        return;
    }
    for slot in &session.round {
        session.repeats.recent.push_back(slot.fingerprint());
    }
    while session.repeats.recent.len() > window {
        session.repeats.recent.pop_front();
    }
}

/// The length of the pattern that fills the whole window, if there is one.
fn period(session: &Session, window: usize) -> Option<usize> {
    let recent = &session.repeats.recent;
    if window == 0 || recent.len() < window {
        return None;
    }
    let repeats =
        |period: &usize| recent.iter().zip(recent.iter().skip(*period)).all(|(a, b)| a == b);
    (1..=LONGEST.min(window / 2)).find(repeats)
}

/// What has to be said about it before the model is asked again: a warning, or that it is enough.
pub(super) fn due(attempt: &Attempt, session: &Session) -> Option<Found> {
    let policy = &attempt.policy.session;
    let period = period(session, policy.loop_window)?;
    let calls = if period == 1 { "call".to_owned() } else { format!("{period} calls") };
    let reason = format!(
        "the last {} calls were the same {calls} over and over",
        session.repeats.recent.len()
    );
    let decision = Decision::new(RuleId::fixed(RULE), reason);
    if session.repeats.warned < policy.loop_warnings {
        let say = policy.loop_prompt.as_deref().unwrap_or(WARNING).trim();
        let say = Some(format!("{say}\n({})", decision.reason));
        let event = Event::SessionWarned { session: session.id, decision, say };
        return Some(Found::Warn(Box::new(event)));
    }
    Some(Found::Stop(decision))
}

pub(super) enum Found {
    Warn(Box<Event>),
    Stop(Decision),
}

impl Repeats {
    /// A new warning is given only after as many calls again.
    pub(super) fn warned(&mut self) {
        self.recent.clear();
        self.warned += 1;
    }
}
