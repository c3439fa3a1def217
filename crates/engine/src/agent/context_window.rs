//! Context window: how full it is, and compaction. Outputs of old calls are dropped first; then everything but the
//! essentials is replaced by a summary. Code, not the model, keeps the goal, the person's messages, the file list and
//! the last rounds. The log keeps everything.

use std::fmt::Write as _;
use std::sync::Arc;

use types::{BlockBody, CallResult, Compaction, Decision, Event, Message, Part, RuleId};

use super::Attempt;
use super::session::{Resting, Session, SessionPhase};
use super::window::BYTES_A_TOKEN;

/// The rule that warns of a filling window.
pub(super) const WARN: &str = "context.warn";
/// Outputs shorter than this are not dropped.
const SHORT: usize = 400;
/// Maximum number of files listed.
const MOST_FILES: usize = 100;

impl Session {
    /// The estimated size of the next request in tokens: the provider's last count plus an estimate for later
    /// additions.
    pub(super) fn context(&self) -> u64 {
        match self.room.counted {
            Some((tokens, bytes)) => {
                tokens.saturating_add(self.bytes.saturating_sub(bytes).div_ceil(BYTES_A_TOKEN))
            }
            None => self.bytes.div_ceil(BYTES_A_TOKEN),
        }
    }

    /// The used share of the window, in percent.
    fn percent(&self) -> Option<u64> {
        let window = self.room.window.filter(|window| *window > 0)?;
        Some(self.context().saturating_mul(100) / window)
    }
}

/// The warning or compaction due before the next request.
pub(super) fn due(attempt: &Attempt, session: &Session) -> Option<Event> {
    let policy = &attempt.policy.session;
    let percent = session.percent()?;
    let window = session.room.window.unwrap_or_default();
    let reason = format!(
        "the context window is {percent} % full: about {} of {window} tokens",
        session.context()
    );
    if percent >= policy.compact_at_percent && policy.compact {
        // If dropping old outputs saves nothing, a summary follows: a model request, not an event of its own.
        return saves(session, policy.keep_rounds)
            .then(|| compacted(session, Compaction::Trimmed, "context.compact", reason));
    }
    if percent >= policy.warn_at_percent && !session.room.warned {
        let decision = Decision::new(RuleId::fixed(WARN), reason);
        let decision = decision.seeing(percent.to_string());
        return Some(Event::SessionWarned { session: session.id, decision, say: None });
    }
    None
}

fn compacted(
    session: &Session,
    how: Compaction,
    rule: &'static str,
    reason: impl Into<String>,
) -> Event {
    let decision = Decision::new(RuleId::fixed(rule), reason);
    Event::SessionCompacted { session: session.id, how, decision }
}

/// Whether a summary is due: the window is too full, and dropping old outputs no longer helps.
pub(super) fn wants_summary(attempt: &Attempt, session: &Session) -> bool {
    let policy = &attempt.policy.session;
    policy.compact
        && session.percent().is_some_and(|percent| percent >= policy.compact_at_percent)
        && first_kept(session, policy.keep_rounds) > 1
}

/// Compacts once without the model, after the model rejected the request as too long.
pub(super) fn recover(attempt: &Attempt, session: &Session) -> Option<Event> {
    let policy = &attempt.policy.session;
    if !policy.compact || session.room.recovered {
        return None;
    }
    let reason = "the request was too long for the model";
    Some(compacted(session, Compaction::Dropped, "context.too_long", reason))
}

/// Replaces the summarised part with the summary.
pub(super) fn summarised(session: &Session, summary: &str) -> Event {
    let reason = "the model summarised the conversation before the last rounds";
    let how = Compaction::Summarised { summary: summary.to_owned() };
    compacted(session, how, "context.summarised", reason)
}

/// Compacts without a summary, because none could be obtained.
pub(super) fn without_summary(session: &Session, why: &str) -> Event {
    compacted(session, Compaction::Dropped, "context.no_summary", why)
}

/// Applies a compaction to the state.
pub(super) fn apply(attempt: &mut Attempt, id: types::SessionId, how: &Compaction) {
    let files: Vec<String> =
        attempt.seen.keys().take(MOST_FILES).map(ToString::to_string).collect();
    let keep = attempt.policy.session.keep_rounds;
    let Some(session) = attempt.sessions.get_mut(&id) else { return };
    // What the model no longer has in front of it, it may ask for again.
    session.repeats.forget_results();
    let resting = match &session.phase {
        SessionPhase::Summarised { resting, .. }
        | SessionPhase::Broken { summary: Some(resting), .. } => *resting,
        SessionPhase::Idle | SessionPhase::Away { .. } => Resting::Yes,
        _ => Resting::No,
    };
    match how {
        Compaction::Trimmed => {
            trim(session, keep);
            session.recount();
            return;
        }
        Compaction::Summarised { summary } => replace(session, keep, summary, &files),
        Compaction::Dropped => {
            session.room.recovered = true;
            let summary = what_was_called(session, keep);
            trim(session, 1);
            replace(session, keep, &summary, &files);
        }
    }
    session.room.warned = false;
    session.phase = resting.phase();
    session.recount();
}

/// The start of the last rounds: at a reply, so that no result loses its call.
fn first_kept(session: &Session, rounds: usize) -> usize {
    let replies = session.history.iter().enumerate().rev();
    let mut replies = replies.filter(|(_, m)| matches!(&***m, Message::Assistant { .. }));
    replies.nth(rounds.saturating_sub(1)).map_or(session.history.len(), |(place, _)| place)
}

/// Whether dropping old outputs would free space.
fn saves(session: &Session, rounds: usize) -> bool {
    let end = first_kept(session, rounds).max(session.room.trimmed);
    let old = &session.history[session.room.trimmed..end];
    old.iter().any(|message| match &**message {
        Message::Results { results } => results.iter().any(|result| length(result) > SHORT),
        _ => false,
    })
}

fn length(result: &CallResult) -> usize {
    let texts = result.parts.iter().map(|part| match part {
        Part::Text { text } => text.len(),
        Part::Image { .. } | Part::Document { .. } => SHORT + 1,
    });
    texts.sum()
}

/// Drops the outputs of calls before the last rounds.
fn trim(session: &mut Session, rounds: usize) {
    let end = first_kept(session, rounds);
    for message in &mut session.history[..end] {
        let Message::Results { results } = &**message else { continue };
        if !results.iter().any(|result| length(result) > SHORT) {
            continue;
        }
        let results = results.iter().map(|result| {
            if length(result) <= SHORT {
                return result.clone();
            }
            let text = format!(
                "[{} characters of output were left out to make room; make the call again if you need them]",
                length(result)
            );
            CallResult { parts: vec![Part::Text { text }], ..result.clone() }
        });
        *message = Arc::new(Message::Results { results: results.collect() });
    }
    session.room.trimmed = end;
}

/// Replaces everything before the last rounds with a summary.
fn replace(session: &mut Session, rounds: usize, summary: &str, files: &[String]) {
    let first = first_kept(session, rounds);
    let mut text = String::from(
        "# What happened so far\n\nThe conversation was shortened to make room. Its last part follows as it was.\n",
    );
    text.push_str("\n## What the person said, in order\n\n");
    for words in &session.room.words {
        let _ = writeln!(text, "- {}", words.trim_end().replace('\n', "\n  "));
    }
    if !files.is_empty() {
        let _ = write!(text, "\n## Files that were read or written\n\n{}\n", files.join("\n"));
    }
    let _ = write!(text, "\n## Summary\n\n{}\n", summary.trim());
    let kept = session.history.split_off(first.min(session.history.len()));
    session.history.clear();
    session.history.push(Arc::new(Message::user(text)));
    session.history.extend(kept);
    session.room.trimmed = 1;
}

/// The calls before the last rounds, one line each.
fn what_was_called(session: &Session, rounds: usize) -> String {
    const MOST_LINES: usize = 200;
    let end = first_kept(session, rounds);
    let mut lines = Vec::new();
    for message in &session.history[..end] {
        match &**message {
            Message::Assistant { blocks, .. } => {
                lines.extend(blocks.iter().filter_map(|block| match &block.body {
                    BlockBody::Call(call) => {
                        let what = types::one_line(&call.arguments.to_string(), 120);
                        Some(format!("- {} {what}", call.tool))
                    }
                    _ => None,
                }));
            }
            // The summary of an earlier compaction.
            Message::User { parts } => lines.extend(parts.iter().filter_map(|part| match part {
                Part::Text { text } => text.split_once("\n## Summary\n\n").map(|(_, s)| s.into()),
                _ => None,
            })),
            _ => {}
        }
    }
    let skipped = lines.len().saturating_sub(MOST_LINES);
    format!("These calls were made:\n{}", lines[skipped..].join("\n"))
}
