//! The status of a conversation as plain data, for screens and programs.

use types::{AgentView, Listed, ListedQuestion, ListedSession, SessionState, SessionView};

use super::session::{CallState, Session, SessionPhase};
use super::{Attempt, away};

impl Attempt {
    /// Its current activity.
    #[must_use]
    pub fn state(&self) -> SessionState {
        match self.root() {
            Some(root) if root.end.is_some() => SessionState::Closed,
            Some(_) if self.open_question().is_some() => SessionState::AwaitingInput,
            Some(root) => state(root),
            None => SessionState::Idle,
        }
    }

    /// Its status; `None` before it has begun.
    #[must_use]
    pub fn view(&self) -> Option<SessionView> {
        let root = self.root()?;
        let agents = self.sessions.values().filter(|session| session.parent.is_some());
        Some(SessionView {
            state: self.state(),
            model: root.model.clone(),
            effort: root.effort,
            turns: root.turns,
            rounds: root.rounds,
            usage: self.usage,
            spent: root.ledger.spent(),
            budget: root.ledger.budget(),
            cost: self.cost,
            context: root.context(),
            window: root.room.window,
            question: self.open_question().cloned(),
            unanswered: root.away().cloned(),
            stopped: root.stopped.clone().filter(|by| by.rule.as_str() != away::INTERRUPTED),
            queued: root
                .steering
                .iter()
                .chain(&root.follow_ups)
                .map(|(text, _)| text.clone())
                .collect(),
            agents: agents
                .map(|agent| AgentView {
                    session: agent.id,
                    state: state(agent),
                    task: types::one_line(&agent.brief.task, 80),
                    turns: agent.turns,
                })
                .collect(),
        })
    }

    /// The model's last message.
    #[must_use]
    pub fn last_words(&self) -> String {
        self.root().map(Session::last_words).unwrap_or_default()
    }
}

/// Its entry in lists.
pub(super) fn listed(attempt: &Attempt) -> Option<Listed> {
    let root = attempt.root()?;
    let question = attempt.open_question();
    Some(Listed::Session(Box::new(ListedSession {
        started: attempt.started,
        folder: root.brief.folder.clone().unwrap_or_default(),
        about: attempt.about.clone().unwrap_or_default(),
        state: attempt.state(),
        model: root.model.clone(),
        effort: root.effort,
        turns: root.turns,
        usage: attempt.usage,
        spent: root.ledger.spent(),
        cost: attempt.cost,
        context: root.context(),
        window: root.room.window,
        question: question.map(|asked| ListedQuestion {
            question: asked.question,
            text: Listed::shown(&asked.text),
        }),
        unanswered: root.away().is_some() || root.stopped.as_ref().is_some_and(by_a_fault),
    })))
}

/// Whether the last input was stopped because of a model failure.
fn by_a_fault(decision: &types::Decision) -> bool {
    decision.rule.as_str() == "session.model_failed"
}

fn state(session: &Session) -> SessionState {
    let asks = session.round.iter().any(|slot| matches!(slot.state, CallState::Asked(_)));
    match session.phase {
        _ if session.end.is_some() => SessionState::Closed,
        SessionPhase::Idle | SessionPhase::Away { .. } | SessionPhase::Short { .. } => {
            SessionState::Idle
        }
        _ if asks => SessionState::AwaitingInput,
        _ => SessionState::Processing,
    }
}
