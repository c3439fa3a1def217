//! Calls that change nothing: a call that was made before, with the same result and no change since, is answered with
//! what to do next, long before it counts as a loop. The note is part of the recorded result.

use types::{Access, CallId, CallOutcome, Digest, FileState, Shown};

use super::Attempt;
use super::pending_call::PendingCall;
use super::session::{Answered, Repeats, Session};
use rules::{command, profile};

/// For how many turns a call is remembered.
const REMEMBERED: u32 = 8;
/// The tool for background processes, whose state changes by itself.
const PROCESS: &str = "process";
/// Units of time: how long a command took is not part of its result.
const UNITS: [&str; 11] =
    ["s", "ms", "us", "µs", "ns", "m", "min", "sec", "secs", "second", "seconds"];

/// After a command that succeeded, a command that failed, any other call that failed, and a read. Plain and short: small
/// models follow a last sentence that names one call, and overlook it in brackets or before another sentence.
const SAME_OUTPUT: &str =
    "The same command gave the same output before, and you have changed nothing since.";
const SAME_FAILURE: &str = "The same command failed in the same way before, and you have changed nothing since. Read \
                            its output, then change a file or run another command.";
const SAME_ERROR: &str = "The same call failed in the same way before. Do what the message says, or something else; \
                          the same call gives the same result.";
const BEGAN_WITH: &str =
    "That is what the previous attempt left. If the feedback asks for a change, make another one.";
const JUST_SEEN: &str = "This is unchanged since you last saw it. Go on with the task.";

/// The result of a call.
pub(super) struct CallEnd<'a> {
    pub(super) call: CallId,
    pub(super) outcome: CallOutcome,
    pub(super) output: &'a Shown,
    pub(super) files: &'a [FileState],
}

impl CallEnd<'_> {
    /// What is compared: the whole output, for a command that does more than look without times.
    fn digest(&self, slot: &PendingCall) -> Option<Digest> {
        let kept = self.output.blob.as_ref().map(|blob| blob.digest);
        let works = slot.needs(Access::Execute) && !looks(slot);
        let text = if works { timeless(&self.output.text) } else { self.output.text.clone() };
        let shown = (self.output.removed == 0).then(|| Digest::of(text.as_bytes()));
        let result = kept.or(shown)?;
        Some(Digest::of(format!("{}\n{result}", self.outcome.as_str()).as_bytes()))
    }
}

/// The sentence for the model after a call that brought nothing new.
pub(super) fn note(attempt: &Attempt, ended: &CallEnd<'_>) -> Option<String> {
    let session = attempt.sessions.get(&ended.call.session)?;
    let slot = session.slot(ended.call).filter(|slot| !slot.ours)?;
    let access = slot.facts()?.access;
    let good = ended.outcome == CallOutcome::Ok;
    let unchanged = access == Access::Write && good && !changed(attempt, slot, ended);
    if unchanged && session.brief.is_retry() && !session.repeats.changed {
        return Some(BEGAN_WITH.to_owned());
    }
    let before = session.repeats.before(slot)?;
    let same = before.result.is_some() && before.result == ended.digest(slot);
    let last = session.repeats.earlier(slot).max_by_key(|before| before.id);
    let in_a_row = last.is_some_and(|last| last.call == before.call);
    let next = next_step(attempt, session);
    let said = match access {
        Access::Submit | Access::Ask | Access::Network | Access::Agent => return None,
        Access::Write if good && changed(attempt, slot, ended) => return None,
        Access::Write if good => next,
        _ if !same || session.repeats.is_waiting(slot) => return None,
        Access::Execute if good => format!("{SAME_OUTPUT} {next}"),
        Access::Execute => SAME_FAILURE.to_owned(),
        Access::Read if good && in_a_row => format!("{JUST_SEEN} {next}"),
        Access::Read if good => "You have seen this before; it is unchanged.".to_owned(),
        Access::Write | Access::Read => SAME_ERROR.to_owned(),
    };
    Some(said)
}

/// Whether a call only reads, and the model has just seen its result: repeating it would invite the same call again.
pub(super) fn is_echo(attempt: &Attempt, ended: &CallEnd<'_>) -> bool {
    let Some(session) = attempt.sessions.get(&ended.call.session) else { return false };
    let Some(slot) = session.slot(ended.call).filter(|slot| !slot.ours) else { return false };
    let last = session.repeats.earlier(slot).max_by_key(|before| before.id);
    let same = last.is_some_and(|last| {
        last.call == slot.fingerprint()
            && last.result.is_some()
            && last.result == ended.digest(slot)
    });
    ended.outcome == CallOutcome::Ok && slot.needs(Access::Read) && same
}

/// Records the result of a call. Files are compared with those known before it.
pub(super) fn remember(attempt: &mut Attempt, ended: &CallEnd<'_>) {
    let Some(session) = attempt.sessions.get(&ended.call.session) else { return };
    let Some(slot) = session.slot(ended.call).filter(|slot| !slot.ours) else { return };
    let Some(facts) = slot.facts() else { return };
    let (call, result) = (slot.fingerprint(), ended.digest(slot));
    let again = session.repeats.before(slot).is_some_and(|before| before.result == result);
    let changes = match facts.access {
        Access::Write => changed(attempt, slot, ended),
        // What gave the same output twice is taken to change nothing.
        Access::Execute => !again && !looks(slot),
        Access::Agent => true,
        Access::Read | Access::Submit | Access::Network | Access::Ask => false,
    };
    let starts = slot.tool() == PROCESS && facts.access == Access::Execute;
    let Some(session) = attempt.sessions.get_mut(&ended.call.session) else { return };
    let repeats = &mut session.repeats;
    repeats.background |= starts;
    if changes {
        repeats.changed();
    }
    let turn = ended.call.turn;
    repeats.answered.retain(|before| before.id.turn.saturating_add(REMEMBERED) >= turn);
    repeats.answered.push(Answered { id: ended.call, call, result });
}

impl Repeats {
    /// A call may have changed something.
    pub(super) fn changed(&mut self) {
        self.changed = true;
        self.reminded = 0;
        self.forget_results();
    }

    /// The same call may bring something new.
    pub(super) fn forget_results(&mut self) {
        self.answered.iter_mut().for_each(|before| before.result = None);
    }

    /// Calls of earlier turns. Those of one turn may end in any order, which must not matter.
    fn earlier(&self, slot: &PendingCall) -> impl Iterator<Item = &Answered> {
        let turn = slot.id.turn;
        self.answered.iter().filter(move |before| before.id.turn < turn)
    }

    /// The last call that was the same.
    fn before(&self, slot: &PendingCall) -> Option<&Answered> {
        let call = slot.fingerprint();
        self.earlier(slot).filter(|before| before.call == call).max_by_key(|before| before.id)
    }

    /// Whether the model may repeat a call because it waits for something that changes by itself.
    fn is_waiting(&self, slot: &PendingCall) -> bool {
        let sleeps =
            |line: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "sleep");
        let command = slot.facts().and_then(|facts| facts.command.as_deref());
        self.background || slot.tool() == PROCESS || command.is_some_and(sleeps)
    }
}

/// Whether a command only looks.
fn looks(slot: &PendingCall) -> bool {
    slot.facts().and_then(|facts| facts.command.as_deref()).is_some_and(command::only_looks)
}

/// Whether a change of files has changed one, as far as their contents are known.
fn changed(attempt: &Attempt, slot: &PendingCall, ended: &CallEnd<'_>) -> bool {
    let known = |file: &FileState| {
        file.digest.is_some() && attempt.seen.get(&file.path).copied() == file.digest
    };
    let failed = ended.outcome != CallOutcome::Ok && ended.files.is_empty();
    slot.needs(Access::Write)
        && !failed
        && (ended.files.is_empty() || !ended.files.iter().all(known))
}

/// How the work ends in this session, in the words of its model.
fn next_step(attempt: &Attempt, session: &Session) -> String {
    if session.brief.reply.is_some() {
        return "If the task is done, send your reply.".to_owned();
    }
    if session.is_open() {
        let whom = if session.parent.is_some() {
            "reply with the result"
        } else {
            "tell the person what you did"
        };
        return format!("If the work is done, {whom}.");
    }
    let writes = !session.brief.scope.0.is_empty();
    if writes && session.brief.is_fresh() && !session.repeats.changed {
        return "No file is changed yet: make the change with a tool.".to_owned();
    }
    format!("If the task is done, call {}.", submit_tool(attempt, session))
}

/// The name of the tool that submits a result.
pub(super) fn submit_tool(attempt: &Attempt, session: &Session) -> String {
    let profile = profile::of(&attempt.policy, &session.brief.role, &session.model);
    profile.names.get("submit").map_or("submit", String::as_str).to_owned()
}

/// A text without the times in it: `0.013s`, `12 ms`, `10:42:07`.
fn timeless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !matches!(c, '0'..='9' | '.' | ':')).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let word = after.strip_prefix(' ').unwrap_or(after);
        let unit = word.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let is_time = UNITS.contains(&unit) || number.matches(':').count() == 2;
        let in_word = before.ends_with(|c: char| c.is_alphabetic() || c == '_');
        out.push_str(before);
        out.push_str(if is_time && !in_word { "#" } else { number });
        rest = after;
    }
    out.push_str(rest);
    out
}
