//! Meaning of the keys. Enter answers the open question, sends an input to the session, or steers the running turn. Esc
//! and Ctrl-C stop the turn, never the session.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use types::{SessionState, count};

use super::app::App;
use super::look::{BOLD, DIM};
use super::markdown;
use super::slash::{self, Slash};
use super::ui_command::UiCommand;
use super::wrap::Row;

/// The keys, for `/help`.
pub(crate) const KEYS: [(&str, &str); 15] = [
    ("Enter", "send; while the agent works, steer it"),
    ("Alt-Enter", "new line (or Ctrl-J, or \\ at the end)"),
    ("Esc, Ctrl-C", "stop the agent; the session stays open"),
    ("Up, Down", "earlier inputs"),
    ("Ctrl-R", "search earlier inputs"),
    ("Ctrl-G", "edit in your editor ($VISUAL, $EDITOR)"),
    ("Ctrl-V", "attach the picture from the clipboard"),
    ("Ctrl-O", "show the full output of the last call"),
    ("Ctrl-T", "show the model's latest thinking"),
    ("Ctrl-L", "redraw the screen"),
    ("Ctrl-D", "leave (or Ctrl-C twice)"),
    ("Tab", "complete a command or a file"),
    ("@FILE", "mention a file; a picture is attached"),
    ("!COMMAND", "run a command yourself; the model sees its output"),
    ("1, 2, 3, 4", "answer a question by number"),
];

impl App {
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> Option<UiCommand> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let was_leaving = std::mem::take(&mut self.leaving);
        if self.on_search_key(key) {
            return None;
        }
        match key.code {
            KeyCode::Esc if self.granting.is_some() => self.stop_granting(),
            KeyCode::Esc if self.replacing.is_some() => self.stop_replacing(),
            KeyCode::Esc if self.person_runs => return Some(UiCommand::StopRun),
            KeyCode::Char('r') if control => self.begin_search(),
            KeyCode::Char('g') if control => return Some(UiCommand::Edit),
            KeyCode::Char('v') if control => return Some(UiCommand::PastePicture),
            KeyCode::Esc => return self.is_busy().then_some(UiCommand::Interrupt),
            KeyCode::Char('c') if control => return self.stop(was_leaving),
            KeyCode::Char('d') if control && self.editor.is_empty() => {
                return Some(UiCommand::Leave);
            }
            KeyCode::Char('l') if control => return Some(UiCommand::Redraw),
            KeyCode::Char('o') if control => self.unfold_output(),
            KeyCode::Char('t') if control => self.unfold_thought(),
            KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
                self.editor.key(key);
            }
            KeyCode::Enter => return self.enter(),
            KeyCode::Tab => self.complete(),
            _ => self.editor.key(key),
        }
        None
    }

    pub(crate) fn on_paste(&mut self, text: &str) {
        if !self.editor.insert(text) {
            self.problem("paste too large; save it to a file and mention that with @");
        }
    }

    fn stop(&mut self, was_leaving: bool) -> Option<UiCommand> {
        if self.person_runs {
            return Some(UiCommand::StopRun);
        }
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
        if let Some(granting) = self.granting.take() {
            return self.granted(&granting, &text);
        }
        if let Some(line) = text.trim_start().strip_prefix('!') {
            return self.run_own(line);
        }
        if let Some(said) = self.own_command(&text) {
            return self.send(said);
        }
        match (slash::read(&text), self.question()) {
            (Some(Ok(slash)), _) => self.command(slash),
            (Some(Err(wrong)), _) => {
                self.problem(wrong.to_string());
                None
            }
            (None, _) if self.replacing.is_some() => self.answer_replacing(text.trim()),
            (None, Some(_)) => self.answer(text.trim()),
            (None, None) => self.send(text),
        }
    }

    fn send(&mut self, text: String) -> Option<UiCommand> {
        let text = self.with_carried(text);
        match self.standing.state {
            SessionState::Idle => Some(UiCommand::Submit(text)),
            SessionState::Processing | SessionState::AwaitingInput => Some(UiCommand::Steer(text)),
            SessionState::Closed => {
                self.problem("this session is closed; /quit, then `bosun chat` starts a new one");
                self.editor.set(&text);
                None
            }
        }
    }

    fn command(&mut self, slash: Slash) -> Option<UiCommand> {
        match slash {
            Slash::Do(command) => return Some(command),
            Slash::Models => self.tell_models(),
            Slash::ModelNumber(number) => return self.model_of(number),
            Slash::Permissions => self.tell_permissions(),
            Slash::Clear => {
                self.clearing = true;
                return Some(UiCommand::New);
            }
            Slash::Effort => {
                let word = self.standing.effort.map_or("model default", types::Effort::as_str);
                self.note(format!("effort: {word}"));
            }
            Slash::Queue(text) if self.standing.state == SessionState::Idle => {
                return Some(UiCommand::Submit(text));
            }
            Slash::Queue(text) => return Some(UiCommand::FollowUp(text)),
            Slash::Cost => self.tell_cost(),
            Slash::Help => self.help(),
        }
        None
    }

    fn model_of(&mut self, number: usize) -> Option<UiCommand> {
        let named = number.checked_sub(1).and_then(|place| self.known.models.get(place));
        match named.map(|model| model.parse()) {
            Some(Ok(model)) => Some(UiCommand::Model(model)),
            _ => {
                self.problem(format!("no model {number} in the list; see /model"));
                None
            }
        }
    }

    /// Prompt of a user-defined command; `None` if there is none of that name.
    fn own_command(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let (name, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if slash::ALL.iter().any(|(known, ..)| *known == name) {
            return None;
        }
        let own = self.known.commands.iter().find(|own| own.name == name)?;
        Some(own.said(words.trim()))
    }

    /// User-defined commands with this prefix, one line each.
    pub(crate) fn own_beginning(&self, text: &str) -> Vec<String> {
        if !text.starts_with('/') || text.contains(char::is_whitespace) {
            return vec![];
        }
        let own = self.known.commands.iter().filter(|own| own.name.starts_with(text));
        own.map(|own| slash::line((&own.name, "", &own.about))).collect()
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
            self.say(Row::text(slash::line(command), DIM).hang(15));
        }
        for own in self.own_beginning("/") {
            self.say(Row::text(own, DIM).hang(15));
        }
        self.say(Row::blank());
        for (key, what) in KEYS {
            self.say(Row::text(format!("  {key:<13}{what}"), DIM).hang(15));
        }
    }

    fn complete(&mut self) {
        if self.complete_file() {
            return;
        }
        let found = slash::beginning(&self.editor.text());
        if let [(name, form, _)] = found.as_slice() {
            let end = if form.is_empty() { "" } else { " " };
            self.editor.set(&format!("{name}{end}"));
        }
    }

    fn unfold_output(&mut self) {
        if self.last_output.is_empty() {
            self.note("no call output yet");
            return;
        }
        let output = self.last_output.clone();
        self.say_lines(&output, usize::MAX);
    }

    fn unfold_thought(&mut self) {
        if self.thought.trim().is_empty() {
            self.note("no thinking to show");
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
