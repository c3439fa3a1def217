//! Source text by language: comments and strings, matching brackets, ends of statements. A lexer for a dozen languages,
//! not a parser: it knows nothing of names, types or scopes.

mod language;
mod lexer;
mod shape;

use std::ops::Range;

pub(crate) use language::Language;
pub(crate) use lexer::{after, line_end, spans};

/// A text with its comments and strings located. Offsets are bytes, the same in all its forms.
#[derive(Debug, Clone)]
pub(crate) struct Source<'a> {
    pub(crate) language: Language,
    pub(crate) text: &'a str,
    /// The text with comments and the contents of strings blanked; quotation marks stay.
    pub(crate) bare: String,
    /// Strings with their quotation marks and prefixes.
    pub(crate) strings: Vec<Range<usize>>,
    pub(crate) comments: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(language: Language, text: &'a str) -> Self {
        let (strings, comments) = lexer::spans(language, text);
        let contents = strings.iter().map(|span| inside(text, span));
        let bare = blanked(text, comments.iter().cloned().chain(contents));
        Self { language, text, bare, strings, comments }
    }

    pub(crate) fn of(path: &str, text: &'a str) -> Option<Self> {
        Some(Self::new(Language::of(path, text)?, text))
    }

    /// The text without comments, strings kept.
    pub(crate) fn code(&self) -> String {
        blanked(self.text, self.comments.iter().cloned())
    }

    /// The text without comments and, in Python, without strings that are statements of their own.
    pub(crate) fn code_without_docstrings(&self) -> String {
        if self.language != Language::Python {
            return self.code();
        }
        let lines = self.logical_lines(0..self.text.len()).into_iter();
        let docstrings =
            lines.map(|line| self.trimmed(line)).filter(|line| self.strings.contains(line));
        blanked(self.text, self.comments.iter().cloned().chain(docstrings))
    }

    /// The line number of an offset, from 1.
    pub(crate) fn line_number(&self, at: usize) -> u32 {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        u32::try_from(before.iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
    }

    /// The whole line at an offset.
    pub(crate) fn line_at(&self, at: usize) -> &'a str {
        let range = line_range(self.text, at);
        &self.text[range]
    }

    /// The content of a string, without quotation marks.
    pub(crate) fn content(&self, string: &Range<usize>) -> &'a str {
        &self.text[inside(self.text, string)]
    }
}

/// The line around an offset, without its end.
pub(crate) fn line_range(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let at = at.min(bytes.len());
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |n| n + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| at + n);
    start..end
}

/// A text with everything in these ranges blanked but line breaks.
pub(crate) fn blanked(text: &str, spans: impl Iterator<Item = Range<usize>>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for span in spans {
        for byte in bytes.get_mut(span).unwrap_or_default().iter_mut().filter(|b| **b != b'\n') {
            *byte = b' ';
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// A string without prefix and quotation marks.
fn inside(text: &str, span: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'/');
    let Some(first) = bytes[span.clone()].iter().position(is_quote) else { return span.clone() };
    let (mut start, mut end) = (span.start + first, span.end);
    let quote = bytes[start];
    let hashes = bytes[span.start..start].iter().filter(|byte| **byte == b'#').count();
    end = end.saturating_sub(hashes);
    let triple = end - start >= 6 && bytes[start..start + 3].iter().all(|byte| *byte == quote);
    let width = if triple { 3 } else { 1 };
    start = (start + width).min(span.end);
    let closed = end > start && bytes[end - 1] == quote;
    if closed {
        end = end.saturating_sub(width).max(start);
    }
    start..end.max(start)
}

#[cfg(test)]
mod tests;
