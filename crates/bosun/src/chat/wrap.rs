//! Wraps styled lines to a width, at blanks where possible. Only blanks at a break are lost.
//!
//! Not ratatui's `Paragraph`: it wraps into a buffer whose size must be known in advance, while finished rows are
//! written above that buffer; nor does it indent continuation rows.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A line before wrapping, with the indentation of its continuation rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) spans: Vec<Span<'static>>,
    pub(crate) hang: usize,
    /// Break anywhere: in code, blanks are significant.
    pub(crate) exact: bool,
}

impl Row {
    pub(crate) fn new(spans: Vec<Span<'static>>) -> Self {
        Self { spans, hang: 0, exact: false }
    }

    pub(crate) fn text(text: impl Into<String>, style: Style) -> Self {
        Self::new(vec![Span::styled(text.into(), style)])
    }

    pub(crate) fn blank() -> Self {
        Self::new(vec![])
    }

    pub(crate) fn hang(mut self, hang: usize) -> Self {
        self.hang = hang;
        self
    }

    pub(crate) fn exact(mut self) -> Self {
        self.exact = true;
        self
    }

    #[cfg(test)]
    pub(crate) fn content(&self) -> String {
        self.spans.iter().map(|span| span.content.as_ref()).collect()
    }
}

/// Width of a text in columns.
pub(crate) fn columns(text: &str) -> usize {
    Span::raw(text).width()
}

/// Truncates a text to `width` columns.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let Some(room) = width.checked_sub(1) else { return String::new() };
    let (head, _) = split(text, room);
    format!("{head}…")
}

/// Wraps a line into rows of the screen.
pub(crate) fn wrap(row: &Row, width: usize) -> Vec<Line<'static>> {
    let width = width.max(4);
    let mut page =
        Page { rows: vec![], row: vec![], used: 0, width, hang: row.hang.min(width / 2) };
    for (at, span) in row.spans.iter().enumerate() {
        if row.exact {
            let last = at + 1 == row.spans.len();
            page.put(&span.content, span.style, last);
            continue;
        }
        for word in span.content.split_inclusive(' ') {
            let bare = columns(word.trim_end_matches(' '));
            if page.used + bare > width && bare <= width - page.hang && page.used > page.hang {
                page.turn();
            }
            page.put(word, span.style, true);
        }
    }
    page.rows.push(Line::from(page.row));
    page.rows
}

struct Page {
    rows: Vec<Line<'static>>,
    row: Vec<Span<'static>>,
    used: usize,
    width: usize,
    hang: usize,
}

impl Page {
    fn turn(&mut self) {
        self.rows.push(Line::from(std::mem::take(&mut self.row)));
        if self.hang > 0 {
            self.row.push(Span::raw(" ".repeat(self.hang)));
        }
        self.used = self.hang;
    }

    /// Appends a text, breaking it wherever the row is full. With `drop_blanks`, blanks that no longer fit are dropped.
    fn put(&mut self, text: &str, style: Style, drop_blanks: bool) {
        let mut rest = text;
        while !rest.is_empty() {
            let (head, tail) = split(rest, self.width - self.used);
            if !head.is_empty() {
                self.used += columns(head);
                self.row.push(Span::styled(head.to_owned(), style));
            }
            if drop_blanks && !tail.is_empty() && tail.chars().all(|c| c == ' ') {
                return;
            }
            if !tail.is_empty() {
                if head.is_empty() && self.used <= self.hang {
                    // Not even one character fits into an empty row.
                    return;
                }
                self.turn();
            }
            rest = tail;
        }
    }
}

/// Splits a text into the part that fits and the rest.
fn split(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let mut letters = [0; 4];
    for (at, c) in text.char_indices() {
        used += columns(c.encode_utf8(&mut letters));
        if used > width {
            return text.split_at(at);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::look::PLAIN;

    fn rows(row: &Row, width: usize) -> Vec<String> {
        wrap(row, width).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_line_breaks_at_blanks_and_its_other_rows_are_set_in() {
        let row = Row::text("• one two three four", PLAIN).hang(2);
        assert_eq!(rows(&row, 10), ["• one two ", "  three ", "  four"]);
    }

    #[test]
    fn a_word_that_is_too_long_is_broken_anywhere() {
        assert_eq!(rows(&Row::text("ab cdefghijkl", PLAIN), 5), ["ab cd", "efghi", "jkl"]);
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(rows(&Row::text("日本語の", PLAIN), 5), ["日本", "語の"]);
        assert_eq!(cut("日本語の", 5), "日本…");
    }

    #[test]
    fn code_keeps_its_blanks() {
        assert_eq!(rows(&Row::text("a      b", PLAIN).exact(), 6), ["a     ", " b"]);
        let spans = ["a     ", " ", "b"].map(Span::raw);
        assert_eq!(rows(&Row::new(spans.to_vec()).exact(), 6), ["a     ", " b"], "in any pieces");
    }

    #[test]
    fn an_empty_line_is_one_row() {
        assert_eq!(rows(&Row::blank(), 40), [""]);
    }
}
