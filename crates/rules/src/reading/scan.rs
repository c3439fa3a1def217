//! Splits a text into words: separates prose, quotations and code, and notes the pauses that punctuation makes. Total
//! and linear; mentions are recognised elsewhere.

use std::collections::BTreeSet;

use types::Mention;

use super::mention::{self, Form};
use super::word::{Pause, Voice, Word};

/// The longest quotation, in characters.
const LONGEST_QUOTE: usize = 300;

pub(super) fn scan(text: &str) -> (Vec<Word>, BTreeSet<Mention>) {
    let text: String = text.chars().filter(|c| !is_invisible(*c)).map(narrow).collect();
    let mut found = Found::default();
    if mention::is_trace(&text) {
        found.mentions.insert(Mention::Trace);
    }
    if mention::is_a_bare_list(&text) {
        found.mentions.insert(Mention::Blank);
    }
    for (voice, part) in parts(&text) {
        if voice == Voice::Prose && mention::has_a_blank(part, &text) {
            found.mentions.insert(Mention::Blank);
        }
        match voice {
            Voice::Prose => found.prose(part),
            Voice::Quoted => found.quoted(part),
            Voice::Code => found.code(part),
        }
    }
    mention::status_codes(&found.words, &mut found.mentions);
    (found.words, found.mentions)
}

/// A text cut into prose, quotations and code.
fn parts(text: &str) -> Vec<(Voice, &str)> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        let before = text[..at].chars().next_back();
        match enclosed(&text[at..], c, before) {
            Some((voice, open, length)) => {
                parts.push((Voice::Prose, &text[start..at]));
                parts.push((voice, &text[at + open..at + open + length]));
                // In all these pairs the closing mark is as long as the opening one.
                at = text.ceil_char_boundary(at + open + length + open);
                start = at;
            }
            None => at += c.len_utf8(),
        }
    }
    parts.push((Voice::Prose, &text[start..]));
    parts
}

/// A quotation or code that begins here: its voice, the length of its opening, the length of its content.
fn enclosed(rest: &str, c: char, before: Option<char>) -> Option<(Voice, usize, usize)> {
    if let Some(inside) = rest.strip_prefix("```") {
        return Some((Voice::Code, 3, inside.find("```").unwrap_or(inside.len())));
    }
    let after_a_word = before.is_some_and(char::is_alphanumeric);
    let (voice, close) = match c {
        '`' => (Voice::Code, '`'),
        '"' if !after_a_word => (Voice::Quoted, '"'),
        '\'' if !after_a_word => (Voice::Quoted, '\''),
        '“' => (Voice::Quoted, '”'),
        '„' => (Voice::Quoted, '“'),
        '«' => (Voice::Quoted, '»'),
        '「' => (Voice::Quoted, '」'),
        _ => return None,
    };
    let open = c.len_utf8();
    let inside = &rest[open..];
    let mut length = 0;
    for (count, (at, d)) in inside.char_indices().enumerate() {
        if count > LONGEST_QUOTE || (d == '\n' && voice == Voice::Quoted) {
            return None;
        }
        let next = inside[at + d.len_utf8()..].chars().next();
        if d == close && (close != '\'' || !next.is_some_and(char::is_alphanumeric)) {
            length = at;
            break;
        }
    }
    (length > 0).then_some((voice, open, length))
}

#[derive(Default)]
struct Found {
    words: Vec<Word>,
    mentions: BTreeSet<Mention>,
    pause: Option<Pause>,
}

impl Found {
    fn prose(&mut self, text: &str) {
        for (count, line) in text.split('\n').enumerate() {
            if count > 0 && begins_anew(line) {
                self.rest(Pause::Clause);
            }
            for chunk in line.split_whitespace() {
                self.chunk(chunk);
            }
        }
    }

    fn chunk(&mut self, chunk: &str) {
        if chunk.starts_with(['(', '[', '{']) {
            self.rest(Pause::Clause);
        }
        let voice = match mention::form(chunk) {
            Form::Plain => Voice::Prose,
            Form::Link => Voice::Code,
            Form::Mention(mention) => {
                self.mentions.insert(mention);
                if mention == Mention::Version { Voice::Prose } else { Voice::Code }
            }
        };
        self.cut(chunk, voice);
        match chunk.trim_end_matches(['"', '\'', '”', '»']).chars().next_back() {
            Some('.' | '!' | '?' | '…') => self.rest(Pause::Sentence),
            Some(',' | ';' | ':' | ')' | ']' | '}' | '–' | '—') => self.rest(Pause::Clause),
            Some('-') if chunk == "-" => self.rest(Pause::Clause),
            _ => {}
        }
    }

    fn quoted(&mut self, text: &str) {
        let last = self.words.iter().rev().take(2).map(|word| word.text.as_str());
        if mention::reports(last) && mention::sounds_like_an_error(text) {
            self.mentions.insert(Mention::Error);
        }
        for chunk in text.split_whitespace() {
            if let Form::Mention(mention) = mention::form(chunk)
                && mention != Mention::Version
            {
                self.mentions.insert(mention);
            }
        }
        self.cut(text, Voice::Quoted);
    }

    fn code(&mut self, text: &str) {
        let inside = text.split_whitespace().map(mention::form);
        let mentions = inside.filter_map(|form| match form {
            Form::Mention(mention) => Some(mention),
            Form::Plain | Form::Link => None,
        });
        self.mentions.extend(mentions);
        self.mentions.insert(Mention::Code);
        self.cut(text, Voice::Code);
    }

    /// The words of a piece. Characters of scripts that leave no blanks are words of their own.
    fn cut(&mut self, piece: &str, voice: Voice) {
        let mut word = String::new();
        let mut hyphen = false;
        let first = self.words.len();
        for c in piece.chars() {
            hyphen |= c == '-' && !word.is_empty();
            if is_ideograph(c) {
                self.push(&mut word, voice);
                word.push(c);
                self.push(&mut word, voice);
            } else if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            } else if !matches!(c, '\'' | '’') || word.is_empty() {
                self.push(&mut word, voice);
                match c {
                    '。' | '！' | '？' => self.rest(Pause::Sentence),
                    '，' | '、' | '；' | '：' => self.rest(Pause::Clause),
                    _ => {}
                }
            }
        }
        self.push(&mut word, voice);
        let several = self.words.len() > first + 1;
        if several && (hyphen || voice == Voice::Code) {
            self.words[first..].iter_mut().for_each(|word| word.tied = true);
        }
    }

    fn push(&mut self, word: &mut String, voice: Voice) {
        if word.is_empty() {
            return;
        }
        let text = std::mem::take(word);
        let pause = self.pause.take().unwrap_or(Pause::None);
        self.words.push(Word { text, voice, pause, tied: false });
    }

    fn rest(&mut self, pause: Pause) {
        self.pause = self.pause.max(Some(pause));
    }
}

/// Whether a line starts a new block.
fn begins_anew(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty()
        || line.starts_with(['-', '*', '•', '#', '>'])
        || line.starts_with(char::is_numeric)
}

/// Chinese and Japanese characters.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Invisible characters that only break words up.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The ordinary form of a full-width character.
fn narrow(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(c as u32 - 0xfee0).unwrap_or(c)
        }
        _ => c,
    }
}
