//! Loop detection: finds a repeated pattern of one to three calls in the last calls, and a repeated failure in the last
//! rounds, regardless of the calls. The model is warned first; then the work is stopped.

use types::{CallOutcome, CallResult, Decision, Digest, Event, FaultClass, Part, RuleId};

use super::Attempt;
use super::events::stopped;
use super::same_again::submit_tool;
use super::session::{Repeats, Session};

/// The warning sent to the model.
const WARNING: &str = include_str!("../../../../prompts/loop.md");
/// The rule that detects a loop.
pub(super) const RULE: &str = "session.loop";
/// The longest pattern that is searched for.
const LONGEST: usize = 3;

/// Records the calls of a new round.
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

/// A pattern of calls that fills the window.
fn same_calls(session: &Session, window: usize) -> Option<String> {
    let recent = &session.repeats.recent;
    if window == 0 || recent.len() < window {
        return None;
    }
    let repeats =
        |period: &usize| recent.iter().zip(recent.iter().skip(*period)).all(|(a, b)| a == b);
    let period = (1..=LONGEST.min(window / 2)).find(repeats)?;
    let calls = if period == 1 { "call".to_owned() } else { format!("{period} calls") };
    let count = recent.len();
    Some(format!("the last {count} calls were the same {calls} over and over"))
}

/// A failure repeated over several rounds; fewer rounds suffice than for a pattern.
fn same_failure(session: &Session, window: usize) -> Option<String> {
    let (_, rounds) = session.repeats.failed.filter(|_| window > 0)?;
    let enough = rounds >= window.div_ceil(2).max(2);
    enough.then(|| format!("the last {rounds} rounds of calls failed in the same way"))
}

/// The warning or stop that is due before the next request.
pub(super) fn due(attempt: &Attempt, session: &Session) -> Option<Event> {
    let policy = &attempt.policy.session;
    let reason = same_calls(session, policy.loop_window)
        .or_else(|| same_failure(session, policy.loop_window))?;
    if session.repeats.warned >= policy.loop_warnings {
        return Some(stopped(session, RULE, FaultClass::Structural, reason));
    }
    let say = match &policy.loop_prompt {
        Some(own) => own.trim().to_owned(),
        None => format!("{} {}", WARNING.trim(), way_out(attempt, session)),
    };
    let say = Some(format!("{say}\n({reason})"));
    let decision = Decision::new(RuleId::fixed(RULE), reason);
    Some(Event::SessionWarned { session: session.id, decision, say })
}

/// What is left to an agent that finds no other way.
fn way_out(attempt: &Attempt, session: &Session) -> String {
    if session.is_open() || session.brief.reply.is_some() {
        return "If there is none, say so and end your turn.".to_owned();
    }
    format!(
        "If there is none, call {} with `blocked`, and say what stands in the way.",
        submit_tool(attempt, session)
    )
}

impl Repeats {
    /// Records how the calls of a round ended.
    pub(super) fn ended(&mut self, results: &[CallResult]) {
        let failed = |result: &CallResult| {
            matches!(result.outcome, CallOutcome::Error | CallOutcome::Refused)
        };
        if results.is_empty() || !results.iter().all(failed) {
            self.failed = None;
            return;
        }
        let told = results.iter().map(|result| {
            let texts = result.parts.iter().filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                _ => None,
            });
            format!("{}\n{}", result.tool, texts.collect::<String>())
        });
        let how = Digest::of(told.collect::<Vec<_>>().join("\n").as_bytes());
        let before = self.failed.filter(|(known, _)| *known == how).map_or(0, |(_, rounds)| rounds);
        self.failed = Some((how, before + 1));
    }

    /// Resets the window: another warning needs as many calls again.
    pub(super) fn warned(&mut self) {
        self.recent.clear();
        self.failed = None;
        self.warned += 1;
    }
}
