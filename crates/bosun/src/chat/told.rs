//! Session events and deltas as rows: every fact once, in the order of the log. Streamed text is compared with the
//! complete reply, so that a missed piece is filled in.

use ratatui::style::Style;
use ratatui::text::Span;
use runtime::{Delta, DeltaKind};
use types::{
    CallId, CallOutcome, Envelope, Event, Grants, ModelReply, Recovered, SessionId, Shown,
    Timestamp, one_line, visible,
};

use super::app::{App, Asked, Running, TAIL};
use super::calls;
use super::diff;
use super::look::{BAD, DIM, PERSON, PLAIN, WAITING};
use super::markdown;
use super::wrap::Row;
use crate::print::session::{because, unanswered, whose};

/// Maximum characters kept of a line of command output.
const LONGEST: usize = 400;

impl App {
    pub(crate) fn on_delta(&mut self, delta: &Delta) {
        // The text of a sub-agent is for its parent; the output of its commands is shown.
        if delta.session != SessionId::ROOT && delta.kind != DeltaKind::Output {
            return;
        }
        match delta.kind {
            // Summaries are for the model only.
            DeltaKind::Thinking | DeltaKind::Text if self.summarising => {}
            DeltaKind::Thinking => self.think(&delta.text),
            DeltaKind::Text => {
                self.end_thought();
                if self.streamed.is_empty() && !delta.text.is_empty() {
                    self.say(Row::blank());
                }
                self.streamed.push_str(&delta.text);
                let rows = self.text.push(&delta.text);
                self.say_all(rows);
            }
            DeltaKind::Output => self.hear(delta.call, &delta.text),
        }
    }

    pub(crate) fn on_event(&mut self, line: &Envelope) {
        match &line.event {
            Event::ModelAsked { session: SessionId::ROOT, summary, .. } => {
                self.begin_turn(*summary);
            }
            Event::ModelReplied { session, turn, reply, .. } => {
                if *session == SessionId::ROOT {
                    self.end_turn(reply);
                }
                for (index, call) in (0..).zip(reply.calls()) {
                    let id = CallId { session: *session, turn: *turn, index };
                    self.calls.insert(id, call.clone());
                }
            }
            Event::ModelFailed { session, fault, .. } => {
                if *session == SessionId::ROOT {
                    self.say_partial(fault.said());
                }
                self.end_text();
                if let Some(text) = unanswered(&line.event, line.at) {
                    self.problem(text);
                }
            }
            Event::ToolStarted { call, tool, .. } => self.begin_call(*call, tool, line.at),
            Event::ToolFinished { call, outcome, output, metadata, .. } => {
                self.end_call(*call, *outcome, (output, metadata.replaced_lines), line.at);
            }
            Event::ToolRefused { call, tool, decision, .. } => {
                self.tell_call(*call, tool, &because("refused", decision), BAD);
                self.calls.remove(call);
            }
            Event::ToolLost { call, recovered, .. } => {
                let why = format!("interrupted; {}", Recovered::says(*recovered));
                self.tell_call(*call, "call", &why, WAITING);
                self.calls.remove(call);
            }
            Event::QuestionAsked { question, text, decision, call, terms, .. } => {
                let grants = terms.as_ref().and_then(|terms| terms.grants.clone());
                self.ask((*question, text), &decision.rule.to_string(), *call, grants);
            }
            Event::QuestionAnswered { question, text, .. } => self.answered(*question, text),
            Event::BudgetWarned { decision, .. } | Event::BudgetExhausted { decision } => {
                let text = format!("{} ({})", one_line(&decision.reason, 200), decision.rule);
                self.say(Row::text(text, WAITING).hang(2));
            }
            event => self.on_change(event),
        }
    }

    fn begin_turn(&mut self, summary: bool) {
        self.summarising = summary;
        self.streamed.clear();
        self.thought.clear();
        self.thinking = false;
    }

    /// Ends the turn. Shows the part of the reply that did not stream in.
    fn end_turn(&mut self, reply: &ModelReply) {
        if std::mem::take(&mut self.summarising) {
            return;
        }
        if self.thought.is_empty() {
            self.thought = reply.thinking();
            self.thinking = !self.thought.is_empty();
        }
        self.end_thought();
        let whole = reply.text();
        let rest = whole.strip_prefix(self.streamed.as_str());
        match rest {
            Some(rest) if self.streamed.is_empty() && !rest.is_empty() => {
                self.say(Row::blank());
                self.say_all(markdown::rows(rest));
            }
            Some(rest) => {
                let rows = self.text.push(rest);
                self.say_all(rows);
                self.end_text();
            }
            None => {
                self.end_text();
                self.note("part of the stream was lost; the full reply:");
                self.say_all(markdown::rows(&whole));
            }
        }
        self.streamed.clear();
    }

    /// Shows the partial text of a reply that ended early, if it did not stream in.
    pub(crate) fn say_partial(&mut self, said: &str) {
        if self.streamed.is_empty() && !said.trim().is_empty() {
            self.say(Row::blank());
            self.say_all(markdown::rows(said));
        }
    }

    pub(crate) fn end_text(&mut self) {
        let last = self.text.finish();
        self.say_all(last);
    }

    /// Folds the thinking text into one line.
    fn end_thought(&mut self) {
        if std::mem::take(&mut self.thinking) {
            let thought = one_line(&self.thought, 60);
            self.say(Row::blank());
            self.say(Row::text(format!("  thought: {thought}"), DIM).hang(2));
        }
    }

    fn begin_call(&mut self, id: CallId, tool: &str, at: Timestamp) {
        let title = self.calls.get(&id).map_or_else(|| one_line(tool, 60), calls::title);
        let title = format!("{}{title}", whose(id));
        let (tail, partial, elapsed) = Default::default();
        self.running.push(Running { call: id, title, since: at, tail, partial, elapsed });
    }

    fn end_call(
        &mut self,
        id: CallId,
        outcome: CallOutcome,
        (output, replaced): (&Shown, Option<u64>),
        at: Timestamp,
    ) {
        let place = self.running.iter().position(|running| running.call == id);
        let since = place.map_or(at, |place| self.running.remove(place).since);
        self.last_output.clone_from(&output.text);
        let Some(call) = self.calls.remove(&id) else { return };
        let told = calls::outcome(&call, outcome, output, replaced, at.since(since));
        let title = Span::styled(format!("  {}{}", whose(id), calls::title(&call)), PLAIN);
        self.say(Row::new(vec![title, Span::styled(format!("  {}", told.0), told.1)]).hang(4));
        if let Some(change) =
            diff::of(&call).filter(|_| outcome == CallOutcome::Ok && self.looked_at != Some(id))
        {
            self.say_all(change.rows());
        }
    }

    fn tell_call(&mut self, id: CallId, tool: &str, why: &str, style: Style) {
        self.running.retain(|running| running.call != id);
        let title = self.calls.get(&id).map_or_else(|| one_line(tool, 60), calls::title);
        let title = Span::styled(format!("  {}{title}", whose(id)), PLAIN);
        self.say(Row::new(vec![title, Span::styled(format!("  {why}"), style)]).hang(4));
    }

    fn ask(
        &mut self,
        (question, text): (u32, &str),
        rule: &str,
        id: Option<CallId>,
        grants: Option<Grants>,
    ) {
        let call = id.and_then(|id| self.calls.get(&id));
        let approval = id.is_some() && call.is_none_or(|call| call.tool != "ask_user");
        let change = call.and_then(diff::of);
        // A change is shown before the decision about it.
        self.say_all(change.iter().flat_map(diff::Change::rows));
        self.looked_at = id.filter(|_| change.is_some());
        let (text, rule) = (text.to_owned(), rule.to_owned());
        let asked = Asked { question, text, rule, approval, call: id, grants };
        if asked.is_long() {
            self.say_all(asked.rows());
        }
        self.asked.push(asked);
        self.editor.put_aside();
    }

    fn answered(&mut self, question: u32, text: &str) {
        if let Some(place) = self.asked.iter().position(|asked| asked.question == question) {
            let asked = self.asked.remove(place);
            let line = Row::text(format!("? {}", one_line(&asked.text, 300)), WAITING);
            self.say(line.hang(2));
        }
        self.say_person(text);
        self.granting = None;
        if self.asked.is_empty() {
            self.editor.take_up();
        }
    }

    /// Adds a text of the user to the conversation.
    pub(crate) fn say_person(&mut self, text: &str) {
        for (place, line) in visible(text).lines().enumerate() {
            let sign = if place == 0 { "> " } else { "  " };
            let row = vec![Span::styled(sign, PERSON), Span::raw(line.to_owned())];
            self.say(Row::new(row).hang(2));
        }
    }

    /// Takes the output of a running command; only the last lines are kept.
    fn hear(&mut self, call: Option<CallId>, text: &str) {
        let own = |running: &Running| call.is_none_or(|call| running.call == call);
        let place = self.running.iter().rposition(own);
        let Some(running) = place.and_then(|place| self.running.get_mut(place)) else { return };
        for part in text.split_inclusive('\n') {
            let whole = part.ends_with('\n');
            // A carriage return overwrites the line.
            let part = part.trim_end_matches(['\n', '\r']);
            match part.rsplit_once('\r') {
                Some((_, last)) => last.clone_into(&mut running.partial),
                None => running.partial.push_str(part),
            }
            if running.partial.chars().count() > LONGEST {
                running.partial = running.partial.chars().take(LONGEST).collect();
            }
            if whole {
                running.tail.push_back(std::mem::take(&mut running.partial));
            }
            if running.tail.len() > TAIL {
                running.tail.pop_front();
            }
        }
    }
}
