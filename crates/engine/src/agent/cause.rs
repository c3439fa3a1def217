//! Possible inputs behind a line of an attempt's log, derived from the line and the state before it. Deciding again
//! identifies the actual one; nothing is decided here.

use types::{
    CallId, CallOutcome, Command, Decision, EffectId, Event, Fault, FileState, Input, Outcome,
    Replied, Sealed, SessionEnd, SessionId, ToolOutput,
};

use super::session::CallState;
use super::{Attempt, away};
use crate::Machine as _;
use crate::machine::Recorded;

/// The prefix of a person's name in an event.
const PERSON: &str = "person:";

impl Recorded for Attempt {
    fn causes(&self, event: &Event) -> Vec<Input> {
        match event {
            Event::SessionStarted { session: SessionId::ROOT, brief, .. } => {
                vec![Input::Brief(brief.clone())]
            }
            Event::SessionTold { how, by, text, images, .. } => person(by)
                .map(|by| Command::Tell {
                    how: *how,
                    by,
                    text: text.clone(),
                    images: images.clone(),
                })
                .map(Input::Command)
                .collect(),
            Event::SessionChanged { change, .. } => {
                vec![Input::Command(Command::Change { change: change.clone() })]
            }
            Event::SessionPaused { by, said, .. } => match person(by).next() {
                Some(by) => vec![Input::Command(Command::Interrupt { by, said: said.clone() })],
                None => vec![gone_on("")],
            },
            Event::SessionWarned { decision, .. } if decision.rule.as_str() == away::GO_ON => {
                away::gone_on_by(decision).map(gone_on).into_iter().collect()
            }
            Event::SessionEnded { end, .. } => {
                let (by, reason) = (String::new(), String::new());
                let mut causes = vec![Input::Command(Command::Cancel { by, reason }), gone_on("")];
                causes.extend(unsafe_calls(self, end));
                causes
            }
            Event::ModelAsked { summary: true, .. } => {
                vec![Input::Command(Command::Compact { by: String::new() })]
            }
            Event::ModelAsked { summary: false, .. } => vec![gone_on("")],
            Event::QuestionAnswered { question, by, text, .. } => {
                let (question, by, text) = (*question, by.clone(), text.clone());
                vec![Input::Command(Command::Answer { by, question, text })]
            }
            Event::WorkspaceRestored { by, to, trees } => {
                let (by, to, trees) = (by.clone(), *to, *trees);
                vec![Input::Command(Command::Restored { by, to, trees })]
            }
            Event::ToolLost { call, workspace, recovered } => {
                // Of calls cut off together, the others ended the same way or have no known end.
                let same = |calls: Vec<CallId>| Input::Woke {
                    workspace: Some(workspace.clone()),
                    recovered: recovered
                        .iter()
                        .flat_map(|how| calls.iter().map(|id| (*id, *how)))
                        .collect(),
                };
                let open = self.open_calls().into_iter().map(|(call, _)| call).collect();
                vec![same(vec![*call]), same(open)]
            }
            _ => outcome(self, event).into_iter().collect(),
        }
    }
}

/// The unsafe calls, if the conversation ended because of one.
fn unsafe_calls(attempt: &Attempt, end: &SessionEnd) -> Vec<Input> {
    let SessionEnd::Failed { fault } = end else { return vec![] };
    let calls = attempt.sessions.values().flat_map(|session| &session.round);
    let effects = calls.flat_map(|slot| [EffectId::Tool(slot.id), EffectId::Look(slot.id)]);
    let open = effects.filter(|effect| attempt.awaits(effect));
    open.map(|effect| Input::Outcome(effect, Outcome::Broke(fault.clone()))).collect()
}

/// An open input was resumed.
fn gone_on(by: &str) -> Input {
    Input::Command(Command::GoOn { by: by.to_owned() })
}

fn person(by: &str) -> impl Iterator<Item = String> {
    by.strip_prefix(PERSON).map(str::to_owned).into_iter()
}

fn outcome(attempt: &Attempt, event: &Event) -> Option<Input> {
    let (effect, outcome) = match event {
        Event::ModelReplied { session, turn, reply, inspections, exact, .. } => {
            let (inspections, exact) = (inspections.clone(), exact.clone());
            let replied = Replied { reply: (**reply).clone(), inspections, exact };
            (EffectId::Model(*session, *turn), Outcome::Model(Ok(Box::new(replied))))
        }
        Event::ModelFailed { session, turn, fault, .. } => {
            (EffectId::Model(*session, *turn), Outcome::Model(Err(fault.clone())))
        }
        Event::SandboxProbed { proof, .. } => (EffectId::Probe, Outcome::Probed(proof.clone())),
        Event::AttemptSealed { commit, changes, findings } => {
            let (commit, changes) = (commit.clone(), changes.clone());
            let sealed = Sealed { commit, changes, findings: findings.clone() };
            (EffectId::Seal, Outcome::Sealed(Ok(sealed)))
        }
        Event::SealFailed { fault } => (EffectId::Seal, Outcome::Sealed(Err(fault.clone()))),
        Event::ToolFinished { call, outcome, output, images, files, trees, metadata, .. }
            if runs(attempt, *call) =>
        {
            // The rest of a truncated output is in a blob.
            let output = ToolOutput {
                success: *outcome == CallOutcome::Ok,
                blob: output.blob,
                images: images.clone(),
                files: files.clone(),
                trees: *trees,
                metadata: metadata.clone(),
                ..ToolOutput::ok(output.text.clone())
            };
            (EffectId::Tool(*call), Outcome::Tool(output))
        }
        Event::QuestionAsked { call: Some(call), files, .. } => {
            (EffectId::Look(*call), Outcome::Looked(files.clone()))
        }
        Event::ToolStarted { call, .. } => {
            (EffectId::Look(*call), Outcome::Looked(allowed(attempt, *call)))
        }
        Event::ToolRefused { call, decision, .. } => {
            (EffectId::Look(*call), unseen(decision, || allowed(attempt, *call)))
        }
        _ => return None,
    };
    attempt.awaits(&effect).then_some(Input::Outcome(effect, outcome))
}

/// Whether a call runs outside the engine; calls that the session answers itself follow from the state.
fn runs(attempt: &Attempt, call: CallId) -> bool {
    let slot = attempt.sessions.get(&call.session).and_then(|session| session.slot(call));
    slot.is_some_and(|slot| !super::pending_call::is_agent_call(slot))
}

/// The files that a person was asked about; the call started because they were unchanged.
fn allowed(attempt: &Attempt, call: CallId) -> Vec<FileState> {
    let slot = attempt.sessions.get(&call.session).and_then(|session| session.slot(call));
    match slot.map(|slot| &slot.state) {
        Some(CallState::Answered(asking, _)) => asking.files.clone(),
        _ => vec![],
    }
}

/// The observed files of a refused call: none, or those of the question.
fn unseen(decision: &Decision, asked: impl FnOnce() -> Vec<FileState>) -> Outcome {
    match decision.reason.strip_prefix(super::question::NOT_SEEN) {
        Some(what) => Outcome::Broke(Fault::structural("look", what)),
        None => Outcome::Looked(asked()),
    }
}
