//! What the keys mean. Enter says something to whoever listens: to a question, to the session as an input, or to the
//! running turn as steering. Esc and Ctrl-C stop the turn and never the session.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use types::count;

use super::app::{App, State};
use super::look::{BOLD, DIM};
use super::markdown;
use super::slash::{self, Slash};
use super::ui_command::UiCommand;
use super::visible::visible;
use super::wrap::Row;

/// The keys, for `/help`.
const KEYS: [(&str, &str); 9] = [
    ("Enter", "send; while it works, steer it"),
    ("Alt-Enter", "another line (or Ctrl-J, or \\ at the end)"),
    ("Esc, Ctrl-C", "stop what it does; the session stays"),
    ("Up, Down", "what you typed before"),
    ("Ctrl-O", "the whole output of the last call"),
    ("Ctrl-T", "what it thought last"),
    ("Ctrl-L", "draw the screen anew"),
    ("Ctrl-D", "leave (or Ctrl-C twice)"),
    ("Tab", "complete a command"),
];

impl App {
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> Option<UiCommand> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let was_leaving = std::mem::take(&mut self.leaving);
        match key.code {
            KeyCode::Esc => self.is_busy().then_some(UiCommand::Interrupt),
            KeyCode::Char('c') if control => self.stop(was_leaving),
            KeyCode::Char('d') if control && self.editor.is_empty() => Some(UiCommand::Leave),
            KeyCode::Char('l') if control => Some(UiCommand::Redraw),
            KeyCode::Char('o') if control => {
                self.unfold_output();
                None
            }
            KeyCode::Char('t') if control => {
                self.unfold_thought();
                None
            }
            KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
                self.editor.key(key);
                None
            }
            KeyCode::Enter => self.enter(),
            KeyCode::Tab => {
                self.complete();
                None
            }
            _ => {
                self.editor.key(key);
                None
            }
        }
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        if !self.editor.insert(text) {
            self.problem("that is too much to paste; put it into a file and say where it is");
        }
    }

    fn stop(&mut self, was_leaving: bool) -> Option<UiCommand> {
        if self.is_busy() {
            return Some(UiCommand::Interrupt);
        }
        if !self.editor.is_empty() {
            self.editor.clear();
        } else if was_leaving {
            return Some(UiCommand::Leave);
        } else {
            self.leaving = true;
        }
        None
    }

    fn enter(&mut self) -> Option<UiCommand> {
        if self.editor.text().trim().is_empty() || self.editor.continues() {
            return None;
        }
        let text = self.editor.take();
        match (slash::read(&text), self.question()) {
            (Some(Ok(slash)), _) => self.command(slash),
            (Some(Err(wrong)), _) => {
                self.problem(wrong.to_string());
                None
            }
            (None, Some(asked)) => {
                let question = asked.question;
                Some(UiCommand::Answer { question, text: text.trim().to_owned() })
            }
            (None, None) => self.send(text),
        }
    }

    fn send(&mut self, text: String) -> Option<UiCommand> {
        match self.standing.state {
            State::Idle => Some(UiCommand::Submit(text)),
            State::Processing | State::AwaitingInput => Some(UiCommand::Steer(text)),
            State::Closed => {
                self.problem("this session is over; /quit leaves, `bosun chat` begins another");
                self.editor.set(&text);
                None
            }
        }
    }

    fn command(&mut self, slash: Slash) -> Option<UiCommand> {
        match slash {
            Slash::Model(Some(model)) => return Some(UiCommand::Model(model)),
            Slash::Model(None) => self.note(format!("model: {}", self.standing.model)),
            Slash::Effort(Some(effort)) => return Some(UiCommand::Effort(effort)),
            Slash::Effort(None) => {
                let word = self.standing.effort.map_or("the model's own", types::Effort::as_str);
                self.note(format!("effort: {word}"));
            }
            Slash::Compact => return Some(UiCommand::Compact),
            Slash::Undo => return Some(UiCommand::Undo),
            Slash::Rewind(to) => return Some(UiCommand::Rewind(to)),
            Slash::Queue(text) if self.standing.state == State::Idle => {
                return Some(UiCommand::Submit(text));
            }
            Slash::Queue(text) => return Some(UiCommand::FollowUp(text)),
            Slash::Cost => self.tell_cost(),
            Slash::Help => self.help(),
            Slash::Quit => return Some(UiCommand::Leave),
        }
        None
    }

    fn tell_cost(&mut self) {
        let standing = &self.standing;
        let cost =
            standing.cost.as_ref().map_or("cost unknown".to_owned(), |cost| format!("${cost}"));
        let text = format!("{cost}, {} tokens, {}", standing.tokens, count(standing.turns, "turn"));
        self.note(text);
    }

    fn help(&mut self) {
        self.say(Row::blank());
        for command in slash::ALL {
            self.say(Row::text(slash::line(command), DIM).hang(12));
        }
        self.say(Row::blank());
        for (key, what) in KEYS {
            self.say(Row::text(format!("  {key:<13}{what}"), DIM).hang(15));
        }
    }

    fn complete(&mut self) {
        let found = slash::beginning(&self.editor.text());
        if let [(name, form, _)] = found.as_slice() {
            let end = if form.is_empty() { "" } else { " " };
            self.editor.set(&format!("{name}{end}"));
        }
    }

    fn unfold_output(&mut self) {
        if self.last_output.is_empty() {
            self.note("no call has said anything yet");
            return;
        }
        let text = visible(&self.last_output);
        let lines = text.lines().map(|line| Row::text(format!("    {line}"), DIM).hang(4).exact());
        let rows: Vec<Row> = lines.collect();
        self.say_all(rows);
    }

    fn unfold_thought(&mut self) {
        if self.thought.trim().is_empty() {
            self.note("it showed no thoughts");
            return;
        }
        self.say(Row::text("thoughts", BOLD));
        let mut rows = markdown::rows(&self.thought);
        for row in &mut rows {
            for span in &mut row.spans {
                span.style = span.style.patch(DIM);
            }
        }
        self.say_all(rows);
    }
}
