//! Rows for events of the session itself: input, changed settings, pauses, compaction, sub-agents. Turns and calls are
//! handled elsewhere.

use types::{Compaction, Event, Fault, SessionChange, SessionEnd, SessionId, Telling, one_line};

use super::app::{App, Queued};
use super::look::{BAD, DIM, PLAIN, WAITING};
use super::wrap::Row;
use ratatui::text::Span;

impl App {
    pub(crate) fn on_change(&mut self, event: &Event) {
        match event {
            Event::SessionTold { session: SessionId::ROOT, how, text, .. } => self.told(*how, text),
            Event::SessionChanged { change, .. } => self.changed(change),
            Event::SessionWarned { decision, .. } => {
                let text = format!("{} ({})", one_line(&decision.reason, 300), decision.rule);
                self.say(Row::text(text, WAITING).hang(2));
            }
            Event::SessionPaused { session, decision, fault, said, .. } => {
                self.say_partial(said.as_deref().unwrap_or_default());
                let why = format!("{} ({})", one_line(&decision.reason, 300), decision.rule);
                self.paused(*session, &why, fault.as_ref());
            }
            Event::SessionCompacted { how, .. } => self.note(match how {
                Compaction::Trimmed => "compacted: outputs of old calls removed",
                Compaction::Summarised { .. } => "compacted: older part replaced by a summary",
                Compaction::Dropped => "compacted: older part reduced to a list of calls",
            }),
            Event::WorkspaceRestored { to, .. } => {
                self.note(format!("file changes after line {to} of the log undone"));
            }
            Event::SessionStarted { session, parent: Some(_), brief, .. } => {
                self.note(format!(
                    "  agent {}: started: {}",
                    session.0,
                    one_line(&brief.task, 120)
                ));
            }
            Event::SessionEnded { session, end, .. } => self.ended(*session, end),
            _ => {}
        }
    }

    fn told(&mut self, how: Telling, text: &str) {
        let later = match how {
            Telling::Submit => {
                self.say(Row::blank());
                self.say_person(text);
                return;
            }
            Telling::Steer => false,
            Telling::FollowUp => true,
        };
        self.queue.push(Queued { text: text.to_owned(), later });
    }

    fn changed(&mut self, change: &SessionChange) {
        if let Some(model) = &change.model {
            self.note(format!("model: {}", one_line(&model.to_string(), 100)));
        }
        if let Some(grants) = &change.grants {
            self.granted.add(grants);
            self.note(format!("allowed from now on: {}", one_line(&grants.says(), 300)));
        }
        if let Some(effort) = change.effort {
            self.note(format!("effort: {}", effort.as_str()));
        }
    }

    /// Ends the running calls and open questions of a paused session.
    fn paused(&mut self, session: SessionId, why: &str, fault: Option<&Fault>) {
        let stopped: Vec<_> =
            self.running.extract_if(.., |running| running.call.session == session).collect();
        for running in stopped {
            let title = Span::styled(format!("  {}", running.title), PLAIN);
            self.say(Row::new(vec![title, Span::styled("  stopped", BAD)]).hang(4));
        }
        self.calls.retain(|call, _| call.session != session);
        self.asked.retain(|asked| asked.call.is_some_and(|call| call.session != session));
        if self.asked.is_empty() {
            self.granting = None;
            self.editor.take_up();
        }
        if session != SessionId::ROOT {
            self.note(format!("  agent {}: stopped: {why}", session.0));
            return;
        }
        (self.thinking, self.summarising) = (false, false);
        self.end_text();
        match fault {
            Some(fault) => self.problem(format!("stopped: {}; {why}", one_line(&fault.what, 300))),
            None => self.say(Row::text(format!("stopped: {why}"), WAITING).hang(2)),
        }
    }

    fn ended(&mut self, session: SessionId, end: &SessionEnd) {
        let how = match end {
            SessionEnd::Submitted { .. } => "done".to_owned(),
            SessionEnd::Failed { fault } => format!("failed: {}", one_line(&fault.what, 200)),
            SessionEnd::Cancelled => "cancelled".to_owned(),
            SessionEnd::Closed => "closed".to_owned(),
        };
        if session == SessionId::ROOT {
            self.say(Row::text(format!("session {how}"), DIM));
        } else {
            self.note(format!("  agent {}: {how}", session.0));
        }
    }
}
