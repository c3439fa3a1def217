//! The live view on a terminal: finished lines scroll by above a repainted block with the run, its tasks, the last
//! output of a command and the open question. Translates keys into actions; `run.rs` carries them out.

use crossterm::event::{Event as Key, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::text::{Line, Span};
use runtime::{Activity, Delta, DeltaKind};
use types::{Progress, RunView, TaskId, Timestamp, one_line};

use super::question;
use super::rows::{far, rows};
use super::surface::Surface;
use crate::chat::editor::Editor;
use crate::chat::look::{BAD, BOLD, DIM, WAITING};
use crate::chat::wrap::cut;
use crate::print::row;

/// Maximum rows of an answer being typed.
const ANSWER_ROWS: u16 = 3;
/// Terminals with fewer rows have no room for a blank line above the block.
const ROOMY: usize = 16;

/// How questions are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Typed here.
    Typed,
    /// With a command, of which this is the beginning.
    By(String),
}

/// Action of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// Ctrl-C.
    Stop,
    /// Leave the run waiting.
    Leave,
    /// The same answer to all these questions.
    Answer { questions: Vec<u32>, text: String },
    /// Ctrl-Z.
    StopJob,
}

#[derive(Debug)]
pub(crate) struct Live {
    pub(super) surface: Surface,
    answers: Answers,
    /// Lines not painted yet.
    above: String,
    /// Last line of output of a command that has not ended.
    pub(super) output: Option<String>,
    /// A notice about the view itself, such as that it is about to end.
    pub(super) notice: Option<String>,
    editor: Editor,
    problem: Option<String>,
    /// Questions whose answers are being delivered.
    sent: Vec<u32>,
    /// The run is blocked until a question is answered.
    waiting: bool,
}

impl Live {
    pub(crate) fn new(answers: Answers) -> Self {
        Self {
            surface: Surface::enter(),
            answers,
            above: String::new(),
            output: None,
            notice: None,
            editor: Editor::default(),
            problem: None,
            sent: Vec::new(),
            waiting: false,
        }
    }

    /// Adds a permanent line, visible with the next frame.
    pub(crate) fn say(&mut self, line: &str) {
        self.above.push_str(line);
        self.above.push('\n');
    }

    /// Takes command output; its last line is shown until the next one.
    pub(crate) fn hear(&mut self, delta: &Delta) {
        let last = delta.text.lines().rev().find(|line| !line.trim().is_empty());
        // The line of a check is shown in its own row.
        if let (DeltaKind::Output, Some(line), Some(who)) = (delta.kind, last, &delta.log.attempt) {
            self.output = Some(format!("{:<8} {}", who.to_string(), one_line(line, 400)));
        }
    }

    /// Sets whether the run is blocked until a question is answered.
    pub(crate) fn set_waiting(&mut self, waiting: bool) {
        self.waiting = waiting;
        if waiting {
            self.output = None;
            self.sent.clear();
        }
    }

    /// Whether answers can be typed here.
    pub(crate) fn takes_answers(&self) -> bool {
        self.answers == Answers::Typed && self.surface.has_keys()
    }

    /// Forgets sent answers that have been recorded.
    pub(crate) fn is_delivered(&mut self, view: &RunView) {
        let open = |id: &u32| view.questions.iter().any(|q| q.id == *id && q.answer.is_none());
        self.sent.retain(open);
    }

    /// Paints the changes.
    pub(crate) fn paint(
        &mut self,
        view: &RunView,
        activity: &Activity,
        now: Timestamp,
    ) -> std::io::Result<()> {
        let (columns, high) = self.surface.size();
        // The last column stays free: some terminals wrap a line that fills it.
        let width = usize::from(columns).saturating_sub(1).max(8);
        let high = usize::from(high);
        let below = self.block(view, activity, now, width, high.saturating_sub(1).max(3));
        let above = std::mem::take(&mut self.above);
        self.surface.print(&above, below)
    }

    fn block(
        &self,
        view: &RunView,
        activity: &Activity,
        now: Timestamp,
        width: usize,
        most: usize,
    ) -> Vec<Line<'static>> {
        let mut end = Vec::new();
        if most >= ROOMY && question::first(view, &self.sent).is_some() {
            end.push(Line::default());
        }
        let notice = self.notice.as_ref().map(|text| Line::styled(cut(text, width), WAITING));
        end.extend(notice);
        end.extend(self.question(view, now, width, (most * 2 / 3).max(6)));
        let mut lines = Vec::new();
        if most >= ROOMY {
            lines.push(Line::default());
        }
        let output = self.output.as_ref().filter(|_| most >= ROOMY);
        let taken = lines.len() + end.len() + usize::from(output.is_some());
        lines.extend(rows(view, activity, now, width, most.saturating_sub(taken).max(1)));
        lines.extend(output.map(|line| Line::styled(cut(&format!("    {line}"), width), DIM)));
        lines.extend(end);
        let surplus = lines.len().saturating_sub(most);
        lines.drain(..surplus);
        lines
    }

    fn question(
        &self,
        view: &RunView,
        now: Timestamp,
        width: usize,
        most: usize,
    ) -> Vec<Line<'static>> {
        let Some(group) = question::first(view, &self.sent) else { return Vec::new() };
        let prompt = match &self.answers {
            Answers::By(command) => {
                let example = crate::print::question::example(group.first);
                let command = format!("  answer with: {command} {} {example}", group.first.id);
                vec![Line::styled(cut(&command, width), DIM)]
            }
            Answers::Typed if !self.surface.has_keys() => Vec::new(),
            Answers::Typed => self.prompt(width),
        };
        let room = most.saturating_sub(prompt.len()).max(2);
        let mut lines = question::lines(view, &group, now, width, room);
        lines.extend(prompt);
        lines
    }

    fn prompt(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let problem = self.problem.as_ref().map(|what| format!("  {what}"));
        lines.extend(problem.map(|what| Line::styled(cut(&what, width), BAD)));
        let hint = match self.waiting {
            true => "your answer, or Enter to leave the run waiting",
            false => "your answer, by number or in words; Enter sends it",
        };
        let room = u16::try_from(width.saturating_sub(3)).unwrap_or(u16::MAX);
        for (place, mut line) in self.editor.view(room, ANSWER_ROWS, hint).into_iter().enumerate() {
            let sign = if place == 0 { "? " } else { "  " };
            line.spans.insert(0, Span::styled(sign, WAITING.patch(BOLD)));
            lines.push(line);
        }
        lines
    }

    /// Translates a key into an action.
    pub(crate) fn on_key(&mut self, key: Key, view: &RunView) -> Option<Act> {
        match key {
            Key::Key(key) if key.kind != KeyEventKind::Release => self.on_press(key, view),
            Key::Paste(text) if self.takes_answers() && self.is_asked(view) => {
                if !self.editor.insert(&text) {
                    self.problem = Some("paste too large".to_owned());
                }
                None
            }
            _ => None,
        }
    }

    fn is_asked(&self, view: &RunView) -> bool {
        question::first(view, &self.sent).is_some()
    }

    fn on_press(&mut self, key: KeyEvent, view: &RunView) -> Option<Act> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let typed = self.answers == Answers::Typed;
        let may_leave = self.waiting && self.editor.is_empty();
        match key.code {
            KeyCode::Char('c') if control => return Some(Act::Stop),
            KeyCode::Char('z') if control => return Some(Act::StopJob),
            KeyCode::Char('l') if control => {
                if let Err(error) = self.surface.wipe() {
                    tracing::debug!(%error, "clearing the screen");
                }
            }
            KeyCode::Char('q') | KeyCode::Esc if !typed => return Some(Act::Leave),
            KeyCode::Char('d') if control && may_leave => return Some(Act::Leave),
            KeyCode::Esc if may_leave => return Some(Act::Leave),
            KeyCode::Esc => {
                self.editor.clear();
                self.problem = None;
            }
            _ if !typed || !self.is_asked(view) => {}
            KeyCode::Enter => return self.enter(view),
            _ => {
                self.problem = None;
                self.editor.key(key);
            }
        }
        None
    }

    fn enter(&mut self, view: &RunView) -> Option<Act> {
        let text = self.editor.text().trim().to_owned();
        if text.is_empty() {
            return self.waiting.then_some(Act::Leave);
        }
        let group = question::first(view, &self.sent)?;
        if let Some(Err(refused)) = group.first.terms.as_ref().map(|terms| terms.choose(&text)) {
            self.problem = Some(refused.to_string());
            return None;
        }
        let questions = group.ids;
        self.editor.clear();
        self.problem = None;
        self.sent.extend(&questions);
        Some(Act::Answer { questions, text })
    }

    /// Writes the pending lines and removes the block.
    pub(crate) fn clear(mut self) {
        let above = std::mem::take(&mut self.above);
        // The next write to standard output notices a closed terminal.
        if let Err(error) = self.surface.print(&above, Vec::new()) {
            tracing::debug!(%error, "writing to the terminal");
        }
    }
}

/// Progress of a run on one line; `None` while there is nothing to say but the phase.
pub(crate) fn progress(progress: &Progress) -> Option<String> {
    let current: Vec<&str> = progress.current.iter().take(8).map(TaskId::as_str).collect();
    let said = format!("{} {}", far(progress), current.join(" "));
    let said = said.trim();
    (!said.is_empty()).then(|| row(progress.phase.as_str(), said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_has_something_to_say_and_no_blanks_at_its_end() {
        assert_eq!(progress(&Progress::default()), None);
        let last = Progress { percent: 99, total: 1, completed: 1, ..Progress::default() };
        let line = progress(&last).expect("a line");
        assert!(line.ends_with("99 %  1/1 tasks"), "{line:?}");
    }
}
