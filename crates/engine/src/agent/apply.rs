//! The only place where the state of an attempt changes: one arm for each event. An event that does not fit the state
//! has no effect, so any log can be folded.

use std::sync::Arc;

use types::{
    Access, Answer, Asking, Brief, CallId, CallOutcome, Decision, Digest, Document, Event,
    FileState, Listed, Message, Part, Recovered, Sealed, SessionEnd, SessionId, Source, Spend,
    Telling, Timestamp, Used,
};

use super::booking::{hold, settle};
use super::same_again::{self, CallEnd};
use super::session::{CallState, Session, SessionPhase};
use super::{Attempt, away, booking, context_window, loop_detection, question, reminder, reply};

/// The message to the model after a person restored files.
const RESTORED: &str = "[The person has put the files back to an earlier state. Read a file again before you rely \
                        on what you knew of it.]";

/// Maximum number of denied calls reported to the run.
const MOST_DENIED: usize = 50;

pub(super) fn apply(attempt: &mut Attempt, event: &Event, at: Timestamp) {
    match event {
        Event::SessionStarted { session, brief, parent, wording } => {
            if *session == SessionId::ROOT {
                attempt.wording = *wording;
            }
            started(attempt, *session, brief, *parent, at);
        }
        Event::SessionEnded { session, end, used } => {
            ended(attempt, *session, end, used.as_deref(), at);
        }
        Event::SessionTold { session, how, text, images, .. } => {
            told(attempt, *session, *how, (text, images), at);
        }
        Event::SessionChanged { session, change } => {
            if let Some(session) = attempt.sessions.get_mut(session) {
                match change.budget {
                    Some(budget) => session.pay(budget, at),
                    None => session.change(change, attempt.policy.session.window),
                }
            }
            change.grants.iter().for_each(|more| attempt.grants.add(more));
        }
        Event::SessionWarned { session, decision, say } => {
            warned(attempt, *session, decision, say.as_deref());
        }
        Event::SessionPaused { session, decision, fault, said, used, .. } => {
            let cut_off = close(attempt, *session);
            booking::book(attempt, *session, used.as_deref(), cut_off);
            if let Some(session) = attempt.sessions.get_mut(session) {
                away::keep_interrupted(session, said.as_deref());
                session.round.clear();
                session.phase = away::talk_after(session, fault.as_ref());
                session.stopped = Some(decision.clone());
            }
        }
        Event::SessionCompacted { session, how, .. } => {
            context_window::apply(attempt, *session, how);
        }
        Event::WorkspaceRestored { .. } => {
            if let Some(session) = attempt.sessions.get_mut(&SessionId::ROOT) {
                session.steering.push_back((RESTORED.to_owned(), vec![]));
            }
        }
        Event::SandboxProbed { proof, .. } => attempt.proof = Some(proof.clone()),
        Event::ModelAsked { session, turn, reserved, max_output, summary, .. } => {
            hold(attempt, *session, *reserved);
            if let Some(session) = attempt.sessions.get_mut(session) {
                session.asking(*turn, *max_output, *reserved, *summary, at);
            }
        }
        Event::ModelReplied { session, reply, inspections, exact, .. } => {
            reply::replied(attempt, *session, reply, (inspections, exact), at);
        }
        Event::ModelFailed { session, fault, again, .. } => {
            reply::failed(attempt, *session, fault, again.as_deref(), at);
        }
        Event::QuestionAsked { question, text, decision, call, files, terms, .. } => {
            let (text, decision) = (text.clone(), decision.clone());
            let (question, files, terms) = (*question, files.clone(), terms.clone());
            let asking = Asking { question, text, decision, files, terms };
            question::apply_asked(attempt, *call, &asking);
        }
        Event::QuestionAnswered { question, by, text, .. } => {
            let said = Answer { by: by.clone(), text: text.clone() };
            question::apply_answered(attempt, *question, &said, at);
        }
        Event::AttemptSealed { commit, changes, findings } => {
            let (commit, changes, findings) = (commit.clone(), changes.clone(), findings.clone());
            attempt.sealed = Some(Sealed { commit, changes, findings });
        }
        Event::SealFailed { fault } => attempt.seal_fault = Some(fault.clone()),
        Event::ToolStarted { call, .. } => {
            let session = attempt.sessions.get_mut(&call.session);
            let slots = session.into_iter().flat_map(|session| &mut session.round);
            for slot in slots.filter(|slot| slot.id == *call && slot.may_start()) {
                slot.state = CallState::Started(at);
            }
        }
        Event::ToolRefused { call, outcome, decision, tool, violation } => {
            refused(attempt, *call, *outcome, decision, tool, *violation);
        }
        Event::ToolFinished { call, outcome, output, images, files, note, .. } => {
            let (call, outcome, note) = (*call, *outcome, note.as_deref());
            let end = CallEnd { call, outcome, output, files };
            let echo = note.filter(|_| same_again::is_echo(attempt, &end));
            same_again::remember(attempt, &end);
            remember(attempt, files);
            note_change(attempt, call, outcome, &output.text);
            let text = echo.map_or_else(|| output.noted(note), str::to_owned);
            answer(attempt, call, outcome, &text, images);
        }
        Event::ToolLost { call, workspace, recovered } => {
            let text = lost(workspace, *recovered);
            if let Some(session) = attempt.sessions.get_mut(&call.session) {
                session.repeats.changed();
            }
            answer(attempt, *call, CallOutcome::of(*recovered), &text, &[]);
        }
        // These occur only in the log of the run.
        Event::RunRequested { .. }
        | Event::RunAccepted { .. }
        | Event::RunRefused { .. }
        | Event::RequestAdvised { .. }
        | Event::RunRouted { .. }
        | Event::RunCancelled { .. }
        | Event::RunFinished { .. }
        | Event::ResultSettled { .. }
        | Event::ContextSelected { .. }
        | Event::PlanAdopted { .. }
        | Event::PlanRefused { .. }
        | Event::AttemptStarted { .. }
        | Event::AttemptFinished { .. }
        | Event::CheckStarted { .. }
        | Event::CheckFinished { .. }
        | Event::TaskVerified { .. }
        | Event::TaskRejected { .. }
        | Event::SpecWritten { .. }
        | Event::TaskReviewed { .. }
        | Event::TaskFinished { .. }
        | Event::TaskFailed { .. }
        | Event::TaskSkipped { .. }
        | Event::RetryScheduled { .. }
        | Event::RetryReleased { .. }
        | Event::MergeStarted { .. }
        | Event::MergeFinished { .. }
        | Event::GatePassed { .. }
        | Event::GateBlocked { .. }
        | Event::BudgetWarned { .. }
        | Event::BudgetExhausted { .. }
        | Event::BudgetRaised { .. } => {}
    }
}

fn refused(
    attempt: &mut Attempt,
    call: CallId,
    outcome: CallOutcome,
    decision: &Decision,
    tool: &str,
    violation: bool,
) {
    if violation {
        attempt.violations = attempt.violations.saturating_add(1);
    }
    let counts = violation || outcome == CallOutcome::Refused;
    if counts && attempt.denied.len() < MOST_DENIED {
        // A violation is listed with its target, any other call only with its tool.
        let what = if violation { decision.seen.join(" ") } else { tool.to_owned() };
        attempt.denied.push(format!("{call} {what}: {}", decision.rule));
    }
    let ends = &attempt.policy.session.ends_after;
    if outcome == CallOutcome::Refused && ends.contains_key(&decision.rule) {
        *attempt.strikes.entry(decision.rule.clone()).or_default() += 1;
    }
    note_change(attempt, call, outcome, &decision.reason);
    let after_failed_change = decision.rule.as_str() == super::events::AFTER_FAILED_CHANGE;
    if (after_failed_change || reminder::is_rejection(&decision.rule))
        && let Some(session) = attempt.sessions.get_mut(&call.session)
    {
        session.repeats.sent_back = true;
    }
    answer(attempt, call, outcome, &decision.reason, &[]);
}

/// The result of a call that was interrupted, for the model.
fn lost(workspace: &str, recovered: Option<Recovered>) -> String {
    let became = match recovered {
        None => "Whether it took effect is not known.",
        Some(Recovered::Finished) => "All its changes are made; do not make them again.",
        Some(Recovered::Undone) => "None of its changes is made; they were taken back.",
    };
    format!(
        "This call was cut off when the program stopped. {became} The workspace now shows:\n{workspace}"
    )
}

fn started(
    attempt: &mut Attempt,
    id: SessionId,
    brief: &Brief,
    parent: Option<CallId>,
    at: Timestamp,
) {
    if attempt.sessions.contains_key(&id) {
        return;
    }
    let brief = Arc::new(brief.clone());
    let above = parent.and_then(|call| attempt.sessions.get(&call.session));
    let depth = above.map_or(0, |above| above.depth + 1);
    if id == SessionId::ROOT {
        attempt.started = at;
    }
    if brief.reply.is_none() {
        // What its first message shows has been read.
        let read = |file: &Document| (file.path.clone(), Digest::of(file.text.as_bytes()));
        attempt.seen.extend(brief.files.iter().map(read));
    }
    let begun = Session::begin(id, &brief, (parent, depth), &attempt.policy, at);
    attempt.sessions.insert(id, begun);
}

fn ended(
    attempt: &mut Attempt,
    id: SessionId,
    end: &SessionEnd,
    used: Option<&Used>,
    at: Timestamp,
) {
    let mut ends = vec![id];
    if id == SessionId::ROOT {
        attempt.ended = at;
        ends = attempt.sessions.keys().copied().collect();
    }
    let cut_off = ends.into_iter().map(|id| close(attempt, id)).sum();
    booking::book(attempt, id, used, cut_off);
    if let Some(session) = attempt.sessions.get_mut(&id) {
        session.end.get_or_insert_with(|| end.clone());
    }
}

fn told(
    attempt: &mut Attempt,
    id: SessionId,
    how: Telling,
    (text, images): (&str, &[Source]),
    at: Timestamp,
) {
    if attempt.about.is_none() {
        attempt.about = Some(Listed::shown(text));
    }
    let Some(session) = attempt.sessions.get_mut(&id) else { return };
    if session.end.is_some() {
        return;
    }
    match (how, &session.phase) {
        (_, SessionPhase::Idle | SessionPhase::Away { .. }) => session.input(text, images, at),
        (Telling::Steer, _) => session.steering.push_back((text.to_owned(), images.to_vec())),
        (Telling::Submit | Telling::FollowUp, _) => {
            session.follow_ups.push_back((text.to_owned(), images.to_vec()));
        }
    }
}

/// Applies a warning. The message to the model, if any, goes into the history.
fn warned(attempt: &mut Attempt, id: SessionId, decision: &Decision, say: Option<&str>) {
    let Some(session) = attempt.sessions.get_mut(&id) else { return };
    match decision.rule.as_str() {
        loop_detection::RULE => session.repeats.warned(),
        context_window::WARN => session.room.warned = true,
        away::GO_ON => away::go_on(session),
        away::CONTINUED => away::continued(session),
        reminder::RULE => reminder::apply(session),
        _ => {}
    }
    if let Some(say) = say.filter(|_| session.phase == SessionPhase::ToAsk) {
        session.push(Message::user(say));
    }
}

/// Ends the work in progress: returns the reservation, and answers every open call. Returns the number of interrupted
/// model calls.
fn close(attempt: &mut Attempt, id: SessionId) -> u64 {
    let Some(session) = attempt.sessions.get_mut(&id) else { return 0 };
    let mut cut_off = 0;
    if let SessionPhase::Asking { reserved, .. } = session.phase {
        session.phase = SessionPhase::ToAsk;
        settle(attempt, id, reserved, Spend::default());
        cut_off = 1;
    }
    if let Some(session) = attempt.sessions.get_mut(&id) {
        session.answer_the_rest();
    }
    cut_off
}

/// Updates the known digests of files that a call has read or written.
fn remember(attempt: &mut Attempt, files: &[FileState]) {
    for FileState { path, digest } in files {
        match digest {
            Some(digest) => attempt.seen.insert(path.clone(), *digest),
            None => attempt.seen.remove(path),
        };
    }
}

fn answer(
    attempt: &mut Attempt,
    call: CallId,
    outcome: CallOutcome,
    text: &str,
    images: &[Source],
) {
    let Some(session) = attempt.sessions.get_mut(&call.session) else { return };
    let Some(mut result) = session.slot(call).map(|slot| slot.result(outcome, text)) else {
        return;
    };
    result.parts.extend(images.iter().map(|source| Part::Image { source: source.clone() }));
    session.answer(call, result);
}

/// Records whether the last change of a file succeeded.
fn note_change(attempt: &mut Attempt, call: CallId, outcome: CallOutcome, text: &str) {
    let Some(session) = attempt.sessions.get_mut(&call.session) else { return };
    let Some(slot) = session.slot(call) else { return };
    if slot.needs(Access::Write) || slot.call.tool == "write_file" {
        let why = format!("{}: {}", slot.call.tool, types::one_line(text, 200));
        session.repeats.failed_change = (outcome != CallOutcome::Ok).then_some(why);
    }
}
