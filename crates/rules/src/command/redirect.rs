//! Redirections: where a command's input comes from and where its output goes.

use super::Word;
use super::here::Document;
use super::source::{Read, Source, Unclear};
use super::word::word;

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    pub direction: Direction,
    /// The file, or what stands for it.
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Reads,
    Writes,
    /// Another descriptor takes its place; no file is touched.
    Copies,
    /// A text that stands in the line itself, by its number.
    Document(usize),
}

impl Redirection {
    pub(super) fn shown(&self) -> String {
        let sign = match self.direction {
            Direction::Reads => "<",
            Direction::Writes => ">",
            Direction::Copies => ">&",
            Direction::Document(_) => "<<",
        };
        format!("{sign} {}", self.target.shown())
    }
}

impl Source<'_> {
    /// The redirection that begins here, if one does.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let start = self.at;
        if self.passes("&>") {
            self.passes(">");
            return self.target(Direction::Writes).map(Some);
        }
        if self.peek() == Some('{') {
            // `{name}>file` puts a number into a variable; what matters is the file.
            while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '{')) {
                self.at += 1;
            }
            if !self.passes("}") {
                self.at = start;
            }
        } else {
            while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                self.at += 1;
            }
        }
        // A process substitution is a word, even after a number.
        if !matches!(self.peek(), Some('<' | '>')) || self.peek_at(1) == Some('(') {
            self.at = start;
            return Ok(None);
        }
        let operators = [
            ("<<<", Kind::String),
            ("<<-", Kind::Document { strip: true }),
            ("<<", Kind::Document { strip: false }),
            ("<&", Kind::Copy),
            (">&", Kind::Copy),
            ("<>", Kind::Write),
            (">>", Kind::Write),
            (">|", Kind::Write),
            (">", Kind::Write),
            ("<", Kind::Read),
        ];
        let Some((_, kind)) = operators.into_iter().find(|(sign, _)| self.passes(sign)) else {
            return Err(Unclear("a redirection cannot be read"));
        };
        match kind {
            Kind::Read => self.target(Direction::Reads),
            Kind::Write => self.target(Direction::Writes),
            Kind::Copy => self.copied(),
            Kind::String => {
                let mut redirection = self.target(Direction::Reads)?;
                self.found.documents.push(redirection.target.clone());
                redirection.direction = Direction::Document(self.found.documents.len() - 1);
                Ok(redirection)
            }
            Kind::Document { strip } => self.document(strip),
        }
        .map(Some)
    }

    fn target(&mut self, direction: Direction) -> Read<Redirection> {
        self.blanks();
        let atoms = self.atoms()?;
        if atoms.is_empty() {
            return Err(Unclear("a redirection names no file"));
        }
        Ok(Redirection { direction, target: word(&atoms) })
    }

    /// `2>&1` copies a descriptor; `>&file` writes to a file.
    fn copied(&mut self) -> Read<Redirection> {
        let mut redirection = self.target(Direction::Writes)?;
        let number = |text: String| text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if redirection.target.known().is_some_and(number) {
            redirection.direction = Direction::Copies;
        }
        Ok(redirection)
    }

    fn document(&mut self, strip: bool) -> Read<Redirection> {
        self.blanks();
        let (end, quoted) = self.delimiter()?;
        self.found.documents.push(Word::default());
        let number = self.found.documents.len() - 1;
        let target = Word::of(&end);
        self.awaited.push(Document { number, end, quoted, strip });
        Ok(Redirection { direction: Direction::Document(number), target })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
    Copy,
    String,
    Document { strip: bool },
}
