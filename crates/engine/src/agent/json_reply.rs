//! JSON replies, by the contract of their role. The files in a reply become calls like any others, with the same
//! permissions, records and limits; once all are done, the result is submitted.

use serde_json::{Value, json};
use types::{
    Access, Arguments, Brief, Call, CallFacts, CallId, CallOutcome, Contracts, Decision, Event,
    Fault, FaultClass, Inspection, ModelReply, Part, Policy, Repeat, RuleId, SessionEnd,
    VerifyPolicy,
};

use super::events::{ended, failed};
use super::session::{CallState, PendingCall, Session};
use rules::contract;
use rules::truncate::head_and_tail;

/// The tool that writes a whole file.
const TOOL: &str = "write_file";

/// The calls that a reply represents, as tool and arguments, for readers of a log; none for a reply with tool calls of
/// its own.
#[must_use]
pub fn calls_of(
    brief: &Brief,
    policy: &Contracts,
    tests: &VerifyPolicy,
    reply: &ModelReply,
) -> Vec<(String, Value)> {
    if reply.calls().next().is_some() {
        return vec![];
    }
    let taken = contract::take(brief, policy, tests, &reply.text());
    let Some(Ok(taken)) = taken else { return vec![] };
    taken.writes.iter().map(|write| (TOOL.to_owned(), arguments(write))).collect()
}

fn arguments(write: &contract::Write) -> Value {
    json!({ "path": write.path, "content": write.content })
}

fn take(session: &Session, policy: &Policy, text: &str) -> Option<Result<contract::Taken, Fault>> {
    contract::take(&session.brief, &policy.contracts, &policy.verify, text)
}

/// The calls that a reply represents; none if it has no files or cannot be parsed.
pub(super) fn slots(session: &Session, policy: &Policy, text: &str) -> Vec<PendingCall> {
    let Some(Ok(taken)) = take(session, policy, text) else { return vec![] };
    let writes = taken.writes.into_iter().zip(0_u32..);
    let slot = |(write, index): (contract::Write, u32)| {
        let id = CallId { session: session.id, turn: session.turn, index };
        let arguments = arguments(&write);
        let facts =
            CallFacts { paths: vec![write.path], ..CallFacts::new(Access::Write, Repeat::Safe) };
        PendingCall {
            id,
            call: Call {
                wire_id: id.to_string(),
                tool: TOOL.to_owned(),
                arguments: Arguments::Json(arguments),
            },
            inspection: Inspection::Would(facts),
            state: CallState::Due,
            ours: true,
            exact: None,
        }
    };
    writes.map(slot).collect()
}

/// How a conversation with a JSON contract ends after its reply: with a submission or a fault. `None` without a
/// contract, or while tools are still being called.
pub(super) fn end(session: &Session, policy: &Policy) -> Option<Vec<Event>> {
    session.brief.reply?;
    if session.turns == 0 || session.round.iter().any(|slot| !slot.ours) {
        return None;
    }
    let taken = take(session, policy, &session.last_words())?;
    Some(match taken.and_then(|taken| unwritten(session).map_or(Ok(taken), Err)) {
        Err(fault) if fault.evidence.is_empty() => {
            // A person who has to decide sees the agent's reply.
            let said = head_and_tail(&session.last_words(), policy.limits.report_chars, None).text;
            vec![failed(session, fault.with_evidence(said))]
        }
        Err(fault) => vec![failed(session, fault)],
        Ok(taken) => {
            let overlooked = taken.overlooked.map(|what| Event::SessionWarned {
                session: session.id,
                decision: Decision::new(RuleId::fixed("contract.lenient"), what),
                say: None,
            });
            let end = ended(session, SessionEnd::Submitted { submission: taken.submission });
            overlooked.into_iter().chain([end]).collect()
        }
    })
}

/// The fault of the first file that could not be written.
fn unwritten(session: &Session) -> Option<Fault> {
    session.round.iter().find_map(|slot| {
        let CallState::Done(result) = &slot.state else { return None };
        let texts = result.parts.iter().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let what = format!("a file could not be written: {}", texts.collect::<String>());
        match result.outcome {
            CallOutcome::Ok => None,
            CallOutcome::Refused => {
                Some(Fault::new(FaultClass::Semantic, "contract.write_refused", what))
            }
            CallOutcome::Error | CallOutcome::Unknown => {
                Some(Fault::structural("contract.write_failed", what))
            }
        }
    })
}
