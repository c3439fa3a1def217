//! The text being parsed, the position in it, and the results so far. Moves forward only; the grammar is elsewhere.

use std::collections::BTreeMap;

use super::part::Part;
use super::word::Word;

/// The longest line that is read, in bytes.
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Maximum number of parts in one line.
pub(crate) const MOST_PARTS: usize = 4_000;
/// The deepest nesting.
pub(super) const MOST_DEPTH: u32 = 48;

/// Why the text cannot be read with certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unclear(pub(super) &'static str);

pub(super) type Read<T> = Result<T, Unclear>;

/// Everything found in this text and in those inside it.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) parts: Vec<Part>,
    /// The bodies of here-documents and here-strings.
    pub(super) documents: Vec<Word>,
    /// Values of variables; none where the value is unknown or not always the same.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// How many values were guessed.
    pub(super) guesses: u32,
    /// Names of functions that the text defines.
    pub(super) functions: Vec<String>,
    /// The number of subshells.
    pub(super) shells: usize,
}

impl Found {
    /// Puts all parts from this one on into a subshell.
    pub(super) fn subshell(&mut self, from: usize) {
        self.shells += 1;
        for part in self.parts.iter_mut().skip(from) {
            part.shells.push(self.shells);
        }
    }

    /// Records the value of a variable.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) {
        let known =
            self.variables.entry(name.to_owned()).or_insert_with(|| value.map(str::to_owned));
        if known.as_deref() != value {
            *known = None;
        }
    }
}

/// A here-document whose body has not been read yet.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) number: usize,
    pub(super) end: String,
    /// The body is not expanded.
    pub(super) quoted: bool,
    /// Leading tabs are stripped.
    pub(super) strip: bool,
}

/// A text being read.
pub(super) struct Source<'a> {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: u32,
    pub(super) found: &'a mut Found,
    /// Here-documents whose bodies begin after this line.
    pub(super) awaited: Vec<Document>,
}

impl<'a> Source<'a> {
    pub(super) fn new(found: &'a mut Found, text: &str, depth: u32) -> Self {
        Self { text: text.chars().collect(), at: 0, depth, found, awaited: Vec::new() }
    }

    /// Reads a text taken out of this one, one level deeper.
    pub(super) fn read_inside<T>(
        &mut self,
        text: &str,
        how: impl FnOnce(&mut Source<'_>) -> Read<T>,
    ) -> Read<T> {
        if self.depth >= MOST_DEPTH {
            return Err(Unclear("it is nested too deeply"));
        }
        let mut inner = Source::new(self.found, text, self.depth + 1);
        how(&mut inner)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Passes this text if it comes next.
    pub(super) fn passes(&mut self, wanted: &str) -> bool {
        let same = wanted.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c));
        if same {
            self.at += wanted.chars().count();
        }
        same
    }

    pub(super) fn expect(&mut self, wanted: &str, why: &'static str) -> Read<()> {
        if self.passes(wanted) { Ok(()) } else { Err(Unclear(why)) }
    }

    /// The text from a position up to here, as written.
    pub(super) fn written(&self, from: usize) -> String {
        self.text.get(from..self.at).unwrap_or_default().iter().collect()
    }

    /// Skips blanks and line continuations, but no newline.
    pub(super) fn blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (Some(' ' | '\t'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines, and reads the here-documents that begin after a newline.
    pub(super) fn gap(&mut self) -> Read<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some('#') => self.comment(),
                Some('\n') => {
                    self.at += 1;
                    self.take_documents()?;
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn comment(&mut self) {
        self.skip(|c| c != '\n');
    }

    /// Skips all characters of this kind.
    pub(super) fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.at += 1;
        }
    }

    /// Runs `how` one level deeper.
    pub(super) fn deeper<T>(&mut self, how: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MOST_DEPTH {
            return Err(Unclear("it is nested too deeply"));
        }
        self.depth += 1;
        let done = how(self);
        self.depth -= 1;
        done
    }

    pub(super) fn add(&mut self, mut part: Part) -> Read<()> {
        if self.found.parts.len() >= MOST_PARTS {
            return Err(Unclear("it contains too many commands"));
        }
        part.origin = self.found.parts.len();
        part.depth = self.depth;
        self.found.parts.push(part);
        Ok(())
    }
}

/// Whether a character ends a word.
pub(super) const fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' | '(' | ')')
}

/// Whether a character may be in the name of a variable.
pub(super) const fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a text is a valid variable name.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(in_name)
}
