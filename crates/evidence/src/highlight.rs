//! Syntax highlighting: finds keywords, strings, comments and numbers in a source text, by the name of its file. For
//! diffs that people read, in a browser or a terminal. A lexer, not a parser; a text that begins in the middle of a
//! file may be highlighted wrongly, which affects the display only.

mod formats;
mod words;

use std::ops::Range;

use crate::source::Language;
pub use formats::Class;
use formats::{Format, Tokens};

/// Texts longer than this are not highlighted.
const LONGEST_TEXT: usize = 256 * 1024;
/// Texts with a longer line are not highlighted either: they are generated, and lexing them may take quadratic time.
const LONGEST_LINE: usize = 2_000;

/// A part of one line with its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    pub class: Class,
    pub text: &'a str,
}

/// The lines of a text, each as pieces that together make up the line without its line ending.
#[must_use]
pub fn lines<'a>(path: &str, text: &'a str) -> Vec<Vec<Piece<'a>>> {
    let tokens = tokens(path, text);
    let mut tokens = tokens.iter().peekable();
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.split('\n') {
        let end = start + line.len();
        let mut pieces = Vec::new();
        let mut at = start;
        while let Some((range, class)) = tokens.peek().filter(|(range, _)| range.start < end) {
            let (from, to) = (range.start.max(at), range.end.min(end));
            push(&mut pieces, Class::Plain, text.get(at..from));
            push(&mut pieces, *class, text.get(from..to));
            at = to.max(at);
            // A token that continues on the next line is kept.
            if range.end > end {
                break;
            }
            tokens.next();
        }
        push(&mut pieces, Class::Plain, text.get(at..end));
        found.push(pieces);
        start = end + 1;
    }
    found
}

/// The lines of a hunk, each with its sign: `+`, `-`, or a blank for context. Removed lines are lexed with the old
/// text, all others with the new text: a comment may span several lines of one side only.
#[must_use]
pub fn hunk<T: AsRef<str>>(path: &str, rows: &[(char, T)]) -> Vec<Vec<(Class, String)>> {
    let side = |other: char| {
        let own = rows.iter().filter(|(sign, _)| *sign != other);
        own.map(|(_, text)| text.as_ref()).collect::<Vec<_>>().join("\n")
    };
    let (before, after) = (side('+'), side('-'));
    let (mut before, mut after) =
        (lines(path, &before).into_iter(), lines(path, &after).into_iter());
    let owned = |piece: Piece<'_>| (piece.class, piece.text.to_owned());
    let row = |(sign, _): &(char, T)| {
        let old = if *sign == '+' { None } else { before.next() };
        let new = if *sign == '-' { None } else { after.next() };
        new.or(old).unwrap_or_default().into_iter().map(owned).collect()
    };
    rows.iter().map(row).collect()
}

fn push<'a>(pieces: &mut Vec<Piece<'a>>, class: Class, text: Option<&'a str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        pieces.push(Piece { class, text });
    }
}

/// The classified parts of a text, in order and without overlap.
fn tokens(path: &str, text: &str) -> Tokens {
    let long = text.len() > LONGEST_TEXT || text.split('\n').any(|line| line.len() > LONGEST_LINE);
    if long {
        return vec![];
    }
    let (quoted, words, any_case) = if let Some(language) = Language::of(path, text) {
        (of_language(language, text), words::of(language), false)
    } else if let Some(format) = Format::of(path) {
        (format.quoted(text), format.words(), format.ignores_case())
    } else {
        return vec![];
    };
    let mut found = Vec::with_capacity(quoted.len() * 2);
    let mut at = 0;
    for (range, class) in quoted {
        code(text, at..range.start, words, any_case, &mut found);
        at = range.end;
        found.push((range, class));
    }
    code(text, at..text.len(), words, any_case, &mut found);
    found
}

/// The strings and comments of a text. A text that begins inside a block comment is classified as a comment up to its
/// end.
fn of_language(language: Language, text: &str) -> Tokens {
    let inside = if language.has_block_comments() { comment_before(text) } else { 0 };
    let rest = &text[inside..];
    let (strings, comments) = crate::source::spans(language, rest);
    let shifted = |range: Range<usize>| range.start + inside..range.end + inside;
    let strings = strings.into_iter().map(|range| (shifted(range), Class::String));
    let comments = comments.into_iter().map(|range| (shifted(range), Class::Comment));
    let before = (inside > 0).then_some((0..inside, Class::Comment));
    let mut all: Tokens = before.into_iter().chain(strings).chain(comments).collect();
    all.sort_by_key(|(range, _)| range.start);
    all
}

/// The end of a block comment that began before the text; 0 if there is none.
fn comment_before(text: &str) -> usize {
    let Some(close) = text.find("*/") else { return 0 };
    let opened = text.find("/*").is_some_and(|open| open < close);
    let ends_line = text[close + 2..].split('\n').next().is_some_and(|rest| rest.trim().is_empty());
    if opened || !ends_line { 0 } else { close + 2 }
}

/// The keywords and numbers of a part without strings and comments.
fn code(text: &str, part: Range<usize>, words: &str, any_case: bool, found: &mut Tokens) {
    let bytes = text.as_bytes();
    let mut at = part.start;
    while at < part.end {
        let first = bytes[at];
        if !is_word(first) {
            at += 1;
            continue;
        }
        let end = word_end(bytes, at, part.end);
        let word = &bytes[at..end];
        let class = if first.is_ascii_digit() {
            Some(Class::Number)
        } else {
            // `x.match` is a name.
            let member = at > 0 && bytes[at - 1] == b'.';
            (!member && is_keyword(word, words, any_case)).then_some(Class::Keyword)
        };
        found.extend(class.map(|class| (at..end, class)));
        at = end;
    }
}

/// The end of a word, or of a number with its decimal point.
fn word_end(bytes: &[u8], start: usize, most: usize) -> usize {
    let number = bytes[start].is_ascii_digit();
    let mut end = start;
    while end < most {
        let point = number
            && bytes[end] == b'.'
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
            && end + 1 < most;
        if !is_word(bytes[end]) && !point {
            break;
        }
        end += 1;
    }
    end
}

/// Every non-ASCII byte is part of a word, so that no character is split.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_keyword(word: &[u8], words: &str, any_case: bool) -> bool {
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let mut words = words.split_ascii_whitespace();
    if any_case {
        return words.any(|known| known.eq_ignore_ascii_case(word));
    }
    words.any(|known| known == word)
}

#[cfg(test)]
mod tests;
