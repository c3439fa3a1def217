//! Decisions of an attempt: request a turn, permit its calls, take their results and people's messages, until the
//! attempt submits a result, is closed, or fails.

use types::{
    Access, CallOutcome, Command, Decision, EffectId, Event, Fault, FaultClass, Input, Message,
    Outcome, RoleId, RuleId, SessionChange, SessionEnd, SessionId, Telling, TimerId, Timestamp,
    ToolOutput, Wording,
};

use super::events::{ended, failed, finished, paused, stopped};
use super::session::{CallState, PendingCall, Session, SessionPhase};
use super::{
    Attempt, away, blocked, context_window, json_reply, loop_detection, question, reminder,
    reserve, scope, subagents, tool_calls,
};
use crate::Machine as _;
use rules::beside::tested_by;
use rules::isolation;
use rules::ledger::CALL;

/// Faults that make another request to the same model pointless: a sub-agent ends with them.
const FATAL: [&str; 3] = ["model.authentication", "model.permission", "model.not_found"];
/// The fault that compaction may fix.
const TOO_LONG: &str = "model.context_too_long";
/// Maximum number of consecutive empty replies; until then the request is repeated.
const MOST_EMPTY: u32 = 2;

/// The events for an input, without the usage of calls that it cuts off.
pub(super) fn decide(attempt: &Attempt, input: &Input, now: Timestamp) -> Vec<Event> {
    // Files can be restored after the conversation has ended, too.
    if let Input::Command(Command::Restored { by, to, trees }) = input {
        return vec![Event::WorkspaceRestored { by: by.clone(), to: *to, trees: *trees }];
    }
    if attempt.is_over() {
        return vec![];
    }
    match input {
        Input::Brief(brief) if attempt.root().is_none() => {
            let (session, brief) = (SessionId::ROOT, brief.clone());
            let (parent, wording) = (None, Wording::CURRENT);
            vec![Event::SessionStarted { session, brief, parent, wording }]
        }
        Input::Woke { workspace, recovered } => {
            let lost =
                tool_calls::lost(attempt, workspace.as_deref().unwrap_or_default(), recovered);
            match attempt.root().filter(|root| !root.is_open()) {
                _ if !lost.is_empty() => lost,
                // Resuming an attempt continues it; a conversation waits for a command.
                Some(root) if root.away().is_some() => vec![away::gone_on(root, "resumed")],
                _ => due(attempt),
            }
        }
        Input::Due => due(attempt),
        Input::Command(command) => commanded(attempt, command),
        Input::Outcome(EffectId::Timer(TimerId::Session(id, input)), _) => {
            attempt.sessions.get(id).map_or_else(Vec::new, |s| late(attempt, s, *input, now))
        }
        Input::Outcome(effect @ EffectId::Timer(TimerId::Model(id, _)), _) => {
            let session = attempt.sessions.get(id);
            session.filter(|_| attempt.awaits(effect)).map_or_else(Vec::new, |session| {
                let summary =
                    matches!(session.phase, SessionPhase::Waiting { summary: Some(_), .. });
                vec![ask(attempt, session, summary)]
            })
        }
        Input::Outcome(effect, outcome) if attempt.awaits(effect) => {
            outcome_of(attempt, effect, outcome, now)
        }
        Input::Brief(_) | Input::Begin(_) | Input::Outcome(..) => vec![],
    }
}

/// Handles a command.
fn commanded(attempt: &Attempt, command: &Command) -> Vec<Event> {
    let Some(root) = attempt.root().filter(|root| root.end.is_none()) else { return vec![] };
    let session = root.id;
    match command {
        Command::Cancel { .. } => {
            let end = if root.is_open() { SessionEnd::Closed } else { SessionEnd::Cancelled };
            subagents::all_ended(attempt, &end)
        }
        Command::Answer { by, question, text } => question::answered(attempt, *question, by, text),
        Command::Tell { how, by, text, images } => {
            let how = match how {
                Telling::Submit if !root.rests() => Telling::FollowUp,
                how => *how,
            };
            let (by, text, images) = (format!("person:{by}"), text.clone(), images.clone());
            vec![Event::SessionTold { session, how, by, text, images }]
        }
        Command::Interrupt { by, said } => away::interrupted(attempt, by, said.as_deref()),
        Command::GoOn { by } if root.away().is_some() => vec![away::gone_on(root, by)],
        Command::GoOn { by } if root.phase == SessionPhase::Idle && root.stopped.is_some() => {
            if matches!(root.history.last().map(|last| &**last), Some(Message::Assistant { .. })) {
                // Models do not continue their own message; a user message is needed.
                let (by, text) = (format!("person:{by}"), super::window::AFTER_CUT.to_owned());
                let (how, images) = (Telling::Submit, vec![]);
                return vec![Event::SessionTold { session, how, by, text, images }];
            }
            vec![limit(attempt, root).unwrap_or_else(|| ask(attempt, root, false))]
        }
        Command::Raise { budget, .. } => {
            let now = root.ledger.budget();
            let to = rules::ledger::raised(now, *budget);
            let change = Box::new(SessionChange { budget: Some(to), ..SessionChange::default() });
            let raised = Event::SessionChanged { session, change };
            if to == now { vec![] } else { vec![raised] }
        }
        Command::Change { change } => {
            vec![Event::SessionChanged { session, change: change.clone() }]
        }
        Command::Compact { .. } if root.phase == SessionPhase::Idle && root.turns > 0 => {
            vec![ask(attempt, root, true)]
        }
        Command::GoOn { .. }
        | Command::Compact { .. }
        | Command::Restored { .. }
        | Command::Settle { .. } => vec![],
    }
}

/// The due events of the first conversation that has any. The others follow immediately after.
fn due(attempt: &Attempt) -> Vec<Event> {
    if let Some(fault) = scope::ends(attempt) {
        return subagents::all_ended(attempt, &SessionEnd::Failed { fault });
    }
    let live = attempt.sessions.values().filter(|session| session.end.is_none());
    live.map(|session| due_in(attempt, session))
        .find(|events| !events.is_empty())
        .unwrap_or_default()
}

fn due_in(attempt: &Attempt, session: &Session) -> Vec<Event> {
    match &session.phase {
        SessionPhase::Idle
        | SessionPhase::Asking { .. }
        | SessionPhase::Waiting { .. }
        | SessionPhase::Away { .. }
        | SessionPhase::Short { .. } => vec![],
        SessionPhase::Cut { stop, word } => away::cut(attempt, session, *stop, word.as_deref()),
        SessionPhase::Broken { fault, summary: Some(_) } => {
            vec![context_window::without_summary(session, &fault.what)]
        }
        SessionPhase::Broken { fault, summary: None } => broken(attempt, session, fault),
        SessionPhase::Summarised { summary, .. } if summary.trim().is_empty() => {
            vec![context_window::without_summary(session, "the model returned an empty summary")]
        }
        SessionPhase::Summarised { summary, .. } => {
            vec![context_window::summarised(session, summary)]
        }
        SessionPhase::Answering if session.round.is_empty() => {
            if let Some(end) = json_reply::end(session, &attempt.policy) {
                return end;
            }
            vec![reminder::unsubmitted(attempt, session)]
        }
        SessionPhase::Answering => tool_calls::next(attempt, session),
        SessionPhase::ToAsk if session.round.iter().any(|slot| slot.ours) => {
            json_reply::end(session, &attempt.policy).unwrap_or_default()
        }
        SessionPhase::ToAsk => match handed_in(session) {
            Some(submission) => vec![ended(session, blocked::end(submission))],
            None => vec![next_turn(attempt, session)],
        },
    }
}

/// The model did not reply. A request that is too long is compacted; an attempt ends; an open conversation waits for
/// the person, who may choose another model or key. A sub-agent ends.
fn broken(attempt: &Attempt, session: &Session, fault: &Fault) -> Vec<Event> {
    if fault.code == TOO_LONG
        && let Some(event) = context_window::recover(attempt, session)
    {
        return vec![event];
    }
    if session.parent.is_none()
        && let Some(rule) = away::pauses(attempt, session, fault)
    {
        return vec![away::paused(session, rule, fault)];
    }
    if !session.is_open() {
        return subagents::all_ended(attempt, &SessionEnd::Failed { fault: fault.clone() });
    }
    if session.parent.is_some() && FATAL.contains(&fault.code.as_str()) {
        return vec![failed(session, fault.clone())];
    }
    let decision = Decision::new(RuleId::fixed("session.model_failed"), fault.what.clone());
    vec![paused(session, decision, Some(fault.clone()))]
}

/// The submission of the last round.
fn handed_in(session: &Session) -> Option<serde_json::Value> {
    let accepted = |slot: &&PendingCall| {
        slot.needs(Access::Submit)
            && matches!(&slot.state, CallState::Done(result) if result.outcome == CallOutcome::Ok)
    };
    session.round.iter().find(accepted).map(PendingCall::arguments)
}

/// The next turn, unless a limit prevents it.
fn next_turn(attempt: &Attempt, session: &Session) -> Event {
    if session.empty >= MOST_EMPTY {
        let what = "the model sent an empty reply again";
        return stopped(session, "session.empty_reply", FaultClass::Structural, what.to_owned());
    }
    loop_detection::due(attempt, session)
        .or_else(|| limit(attempt, session))
        .or_else(|| context_window::due(attempt, session))
        .unwrap_or_else(|| ask(attempt, session, context_window::wants_summary(attempt, session)))
}

/// The limits on turns and rounds.
fn limit(attempt: &Attempt, session: &Session) -> Option<Event> {
    let (brief, rounds) = (&session.brief, attempt.policy.session.max_rounds);
    let class = FaultClass::Structural;
    if session.turns >= brief.max_turns {
        let what = format!("the {} reached the limit of {} turns", brief.role, brief.max_turns);
        return Some(stopped(session, "session.turn_limit", class, what));
    }
    if session.is_open() && rounds > 0 && session.rounds >= rounds {
        let what = format!("this input reached the limit of {rounds} rounds of calls");
        return Some(stopped(session, "session.round_limit", class, what));
    }
    None
}

/// Requests the next turn, if the budget covers the worst case.
fn ask(attempt: &Attempt, session: &Session, summary: bool) -> Event {
    let (most, reserved) = match reserve::longest(attempt, session) {
        Ok(fits) => fits,
        Err((code, what)) => return unpaid(attempt, session, code, what),
    };
    Event::ModelAsked {
        session: session.id,
        turn: session.turn + 1,
        model: session.model.clone(),
        digest: session.digest,
        messages: session.history.len() as u64,
        reserved,
        max_output: (most < session.most_output).then_some(most),
        summary,
    }
}

/// An attempt whose next call does not fit its share waits for more of it, unless it writes tests for the result of
/// others: the result is judged without them then. A conversation waits for its person; a call without a known price
/// cannot be made at all.
fn unpaid(attempt: &Attempt, session: &Session, code: &'static str, what: String) -> Event {
    let class = FaultClass::Resource;
    let brief = &session.brief;
    let tests = brief.role == RoleId::tester() && tested_by(&brief.attempt.task).is_some();
    if code == CALL && !session.is_open() && !tests && attempt.wording.waits_for_budget() {
        let fault = Fault::new(class, code, what.clone());
        return paused(session, Decision::new(RuleId::fixed(code), what), Some(fault));
    }
    stopped(session, code, class, what)
}

/// Handles the timeout of an input.
fn late(attempt: &Attempt, session: &Session, input: u32, now: Timestamp) -> Vec<Event> {
    let up = attempt.deadline(session).is_some_and(|until| now >= until);
    if session.inputs != input || !up {
        return vec![];
    }
    let what = "the time limit for this input has been reached".to_owned();
    let (code, class) = ("session.time_limit", FaultClass::Resource);
    vec![match session.parent {
        Some(_) => failed(session, Fault::new(class, code, what)),
        None => stopped(session, code, class, what),
    }]
}

/// Whether an attempt ends because a call could not run safely, such as in a sandbox weaker than recorded. The model
/// cannot fix that. In a conversation a person watches, so only the call fails.
fn ends_as_unsafe(attempt: &Attempt, fault: &Fault) -> bool {
    fault.class == FaultClass::Safety && attempt.root().is_some_and(|root| !root.is_open())
}

fn outcome_of(
    attempt: &Attempt,
    effect: &EffectId,
    outcome: &Outcome,
    now: Timestamp,
) -> Vec<Event> {
    match (effect, outcome) {
        (EffectId::Model(session, turn), Outcome::Model(Ok(replied))) => {
            let Some(asked) = attempt.sessions.get(session) else { return vec![] };
            let said = replied.reply.provenance.model.clone();
            vec![Event::ModelReplied {
                session: *session,
                turn: *turn,
                model: said.unwrap_or_else(|| asked.model.clone()),
                reply: Box::new(replied.reply.clone()),
                inspections: tool_calls::inspected(asked, replied),
                exact: replied.exact.clone(),
            }]
        }
        (EffectId::Model(session, turn), Outcome::Model(Err(fault)) | Outcome::Broke(fault)) => {
            let asked = attempt.sessions.get(session);
            let again = asked.and_then(|asked| away::again(attempt, asked, fault, now));
            let (again, fault) = (again.map(Box::new), fault.clone());
            vec![Event::ModelFailed { session: *session, turn: *turn, fault, again }]
        }
        (EffectId::Tool(call), Outcome::Tool(output)) => vec![finished(attempt, *call, output)],
        (EffectId::Tool(_) | EffectId::Look(_), Outcome::Broke(fault))
            if ends_as_unsafe(attempt, fault) =>
        {
            subagents::all_ended(attempt, &SessionEnd::Failed { fault: fault.clone() })
        }
        (EffectId::Tool(call), Outcome::Broke(fault)) => {
            vec![finished(attempt, *call, &ToolOutput::error(fault.what.clone()))]
        }
        (EffectId::Look(call), Outcome::Looked(files)) => tool_calls::looked(attempt, *call, files),
        (EffectId::Look(call), Outcome::Broke(fault)) => question::unseen(attempt, *call, fault),
        (EffectId::Probe, Outcome::Probed(proof)) => {
            vec![isolation::judged(&attempt.policy, proof.clone())]
        }
        (EffectId::Probe, Outcome::Broke(fault)) => {
            vec![isolation::judged(&attempt.policy, types::Proof::nothing(fault.what.as_str()))]
        }
        (EffectId::Seal, Outcome::Sealed(Ok(sealed))) => vec![Event::AttemptSealed {
            commit: sealed.commit.clone(),
            changes: sealed.changes.clone(),
            findings: sealed.findings.clone(),
        }],
        (EffectId::Seal, Outcome::Sealed(Err(fault)) | Outcome::Broke(fault)) => {
            vec![Event::SealFailed { fault: fault.clone() }]
        }
        _ => vec![],
    }
}
