//! Multi-line input, wrapped to the width, with the history on the arrow keys. Knows nothing of the conversation; the
//! meaning of Enter is decided elsewhere.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use ratatui_textarea::{CursorMove, TextArea, WrapMode};
use types::visible;

use super::look::DIM;
use super::past::Past;
use super::wrap::cut;

/// Maximum rows of visible text; longer text scrolls.
const MOST_ROWS: u16 = 8;
/// Maximum bytes of the text after an insertion such as a paste.
const MOST_BYTES: usize = 256 * 1024;

const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);

#[derive(Debug)]
pub(crate) struct Editor {
    area: TextArea<'static>,
    past: Past,
    /// Draft put aside for a question.
    aside: Option<String>,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new(Past::default())
    }
}

impl Editor {
    pub(crate) fn new(past: Past) -> Self {
        Self { area: blank(), past, aside: None }
    }

    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// The word that ends at the cursor.
    pub(crate) fn word(&self) -> String {
        let (row, column) = (self.area.cursor().0, self.area.cursor().1);
        let line = self.area.lines().get(row).map(String::as_str).unwrap_or_default();
        let before: String = line.chars().take(column).collect();
        before.rsplit(char::is_whitespace).next().unwrap_or_default().to_owned()
    }

    /// Replaces the word that ends at the cursor.
    pub(crate) fn replace_word(&mut self, text: &str) {
        for _ in self.word().chars() {
            self.area.delete_char();
        }
        self.insert(text);
    }

    /// Takes the text out and adds it to the history.
    pub(crate) fn take(&mut self) -> String {
        let text = self.text();
        self.past.add(&text);
        self.clear();
        text
    }

    pub(crate) fn clear(&mut self) {
        self.area = blank();
    }

    pub(crate) fn set(&mut self, text: &str) {
        self.clear();
        self.insert(text);
    }

    /// Puts the draft aside, so that the line is free for an answer.
    pub(crate) fn put_aside(&mut self) {
        if self.aside.is_none() {
            self.aside = Some(self.text());
            self.clear();
        }
    }

    /// Restores the draft, unless something else was typed meanwhile.
    pub(crate) fn take_up(&mut self) {
        if let Some(text) = self.aside.take().filter(|_| self.is_empty()) {
            self.insert(&text);
        }
    }

    /// Inserts a text at the cursor. Returns false if there is no room for it.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        let held: usize = self.area.lines().iter().map(String::len).sum();
        if held + text.len() > MOST_BYTES {
            return false;
        }
        self.area.insert_str(visible(&text.replace('\r', "\n")));
        true
    }

    /// Replaces a backslash at the end of the text by a line break. Returns whether there was one; the text is not sent
    /// then.
    pub(crate) fn continues(&mut self) -> bool {
        let asked = self.text().ends_with('\\');
        if asked {
            self.area.move_cursor(CursorMove::Bottom);
            self.area.move_cursor(CursorMove::End);
            self.area.delete_char();
            self.area.insert_newline();
        }
        asked
    }

    /// Handles a key that concerns only the text.
    pub(crate) fn key(&mut self, key: KeyEvent) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => self.area.insert_newline(),
            KeyCode::Char('j') if control => self.area.insert_newline(),
            KeyCode::Char('u') if control => {
                self.area.delete_line_by_head();
            }
            KeyCode::Char('z') if control => {
                self.area.undo();
            }
            KeyCode::Up if self.area.screen_cursor().row == 0 => self.back(),
            KeyCode::Down if self.is_on_last_row() => self.forth(),
            _ => {
                self.area.input(key);
            }
        }
    }

    fn is_on_last_row(&self) -> bool {
        let cursor = self.area.cursor();
        cursor.0 + 1 == self.area.lines().len()
    }

    fn back(&mut self) {
        let typed = self.text();
        if let Some(text) = self.past.back(&typed).map(ToOwned::to_owned) {
            self.set(&text);
        }
    }

    fn forth(&mut self) {
        if let Some(text) = self.past.forth().map(ToOwned::to_owned) {
            self.set(&text);
        }
    }

    /// The text with its cursor, `width` columns wide, plus one column for a cursor behind a full row. An empty text
    /// shows a hint instead.
    pub(crate) fn view(&self, width: u16, rows: u16, hint: &'static str) -> Vec<Line<'static>> {
        if self.is_empty() {
            let hint = cut(hint, usize::from(width).saturating_sub(1));
            return vec![Line::from(vec![Span::styled(" ", CURSOR), Span::styled(hint, DIM)])];
        }
        let rows = rows.clamp(1, MOST_ROWS);
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, rows));
        (&self.area).render(buffer.area, &mut buffer);
        let mut lines: Vec<Line<'static>> = (0..rows).map(|row| line(&buffer, row)).collect();
        while lines.len() > 1 && lines.last().is_some_and(|line| line.spans.is_empty()) {
            lines.pop();
        }
        // At the end of a full row the cursor has no cell of its own.
        let has_cursor = |line: &Line<'_>| line.spans.iter().any(|span| span.style == CURSOR);
        if !lines.iter().any(has_cursor)
            && let Some(last) = lines.last_mut()
        {
            last.spans.push(Span::styled(" ", CURSOR));
        }
        lines
    }
}

fn blank() -> TextArea<'static> {
    let mut area = TextArea::default();
    area.set_wrap_mode(WrapMode::WordOrGlyph);
    area.set_cursor_line_style(Style::new());
    area.set_cursor_style(CURSOR);
    area
}

/// A row of the buffer, without trailing blanks.
fn line(buffer: &Buffer, row: u16) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = vec![];
    let mut skip = 0;
    for column in 0..buffer.area.width {
        let Some(cell) = buffer.cell((column, row)) else { continue };
        if skip > 0 {
            skip -= 1;
            continue;
        }
        skip = super::wrap::columns(cell.symbol()).saturating_sub(1);
        let reversed = cell.modifier.contains(Modifier::REVERSED);
        let style = if reversed { CURSOR } else { Style::new() };
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(cell.symbol()),
            _ => spans.push(Span::styled(cell.symbol().to_owned(), style)),
        }
    }
    if let Some(last) = spans.last_mut().filter(|last| last.style == Style::new()) {
        let bare = last.content.trim_end().len();
        last.content.to_mut().truncate(bare);
    }
    spans.retain(|span| !span.content.is_empty());
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(editor: &mut Editor, code: KeyCode) {
        editor.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    fn shown(editor: &Editor, width: u16) -> Vec<String> {
        editor.view(width, 8, "say it").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_text_is_wrapped_and_the_cursor_is_at_its_end() {
        let mut editor = Editor::new(Past::default());
        assert_eq!(shown(&editor, 20), [" say it"], "the cursor and the hint");
        assert!(editor.insert("one two three four"));
        assert_eq!(shown(&editor, 10), ["one two", "three four "]);
    }

    #[test]
    fn a_paste_keeps_its_lines_and_loses_its_escapes() {
        let mut editor = Editor::new(Past::default());
        editor.insert("a\rb\x1b[31m\tc");
        assert_eq!(editor.text(), "a\nb␛[31m    c");
        assert!(!editor.insert(&"x".repeat(MOST_BYTES)), "a paste that is too large is refused");
    }

    #[test]
    fn arrows_go_through_what_was_typed_before() {
        let mut editor = Editor::new(Past::default());
        for text in ["one", "two\nlines"] {
            editor.set(text);
            assert_eq!(editor.take(), text);
        }
        editor.set("now");
        press(&mut editor, KeyCode::Up);
        assert_eq!(editor.text(), "two\nlines");
        press(&mut editor, KeyCode::Up);
        assert_eq!(editor.text(), "two\nlines", "first to the line above");
        press(&mut editor, KeyCode::Up);
        assert_eq!(editor.text(), "one");
        press(&mut editor, KeyCode::Down);
        press(&mut editor, KeyCode::Down);
        assert_eq!(editor.text(), "now");
    }

    #[test]
    fn a_backslash_at_the_end_asks_for_another_line() {
        let mut editor = Editor::new(Past::default());
        editor.set("one\\");
        assert!(editor.continues());
        editor.insert("two");
        assert_eq!(editor.text(), "one\ntwo");
        assert!(!editor.continues());
    }

    #[test]
    fn a_question_does_not_cost_what_was_being_typed() {
        let mut editor = Editor::new(Past::default());
        editor.set("half a thou");
        editor.put_aside();
        assert!(editor.is_empty());
        editor.put_aside();
        editor.take_up();
        assert_eq!(editor.text(), "half a thou");
    }
}
