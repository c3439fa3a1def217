//! Redirections and here-documents: where a command's input comes from and where its output goes.

use super::part::{Direction, Redirection};
use super::source::{Document, Read, Source, Unclear, ends_word, in_name};
use super::word::{Word, word};

/// The operators, longer ones before those that they begin with.
const OPERATORS: [&str; 10] = ["<<<", "<<-", "<<", "<&", ">&", "<>", ">>", ">|", ">", "<"];

impl Source<'_> {
    /// The redirection that begins here, if one does.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let start = self.at;
        if self.passes("&>") {
            self.passes(">");
            return self.target(Direction::Writes).map(Some);
        }
        if self.peek() == Some('{') {
            // `{name}>file` stores the descriptor in a variable; only the file matters.
            self.skip(|c| in_name(c) || c == '{');
            if !self.passes("}") {
                self.at = start;
            }
        } else {
            self.skip(|c| c.is_ascii_digit());
        }
        // A process substitution is a word, even after a number.
        if !matches!(self.peek(), Some('<' | '>')) || self.peek_at(1) == Some('(') {
            self.at = start;
            return Ok(None);
        }
        let Some(operator) = OPERATORS.into_iter().find(|sign| self.passes(sign)) else {
            return Err(Unclear("a redirection cannot be parsed"));
        };
        match operator {
            "<" => self.target(Direction::Reads),
            "<&" | ">&" => self.copied(),
            "<<<" => {
                let mut redirection = self.target(Direction::Reads)?;
                self.found.documents.push(redirection.target.clone());
                redirection.direction = Direction::Document(self.found.documents.len() - 1);
                Ok(redirection)
            }
            "<<" | "<<-" => self.document(operator == "<<-"),
            _ => self.target(Direction::Writes),
        }
        .map(Some)
    }

    fn target(&mut self, direction: Direction) -> Read<Redirection> {
        self.blanks();
        let atoms = self.atoms()?;
        if atoms.is_empty() {
            return Err(Unclear("a redirection has no target"));
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

    /// The delimiter of a here-document, and whether any of it is quoted.
    pub(super) fn delimiter(&mut self) -> Read<(String, bool)> {
        let (mut end, mut quoted) = (String::new(), false);
        while let Some(c) = self.peek().filter(|c| !ends_word(*c)) {
            self.at += 1;
            match c {
                '\'' | '"' => {
                    quoted = true;
                    loop {
                        match self.next() {
                            Some(next) if next == c => break,
                            Some('\n') | None => {
                                return Err(Unclear("a here-document has no end marker"));
                            }
                            Some(next) => end.push(next),
                        }
                    }
                }
                '\\' => {
                    quoted = true;
                    end.extend(self.next());
                }
                '$' | '`' => return Err(Unclear("a here-document has an unsupported end marker")),
                _ => end.push(c),
            }
        }
        if end.is_empty() && !quoted {
            Err(Unclear("a here-document has no end marker"))
        } else {
            Ok((end, quoted))
        }
    }

    /// Reads the bodies of the pending here-documents.
    pub(super) fn take_documents(&mut self) -> Read<()> {
        for document in std::mem::take(&mut self.awaited) {
            let body = self.body_of(&document)?;
            let body = if document.quoted { Word::of(&body) } else { self.expanded(&body)? };
            if let Some(place) = self.found.documents.get_mut(document.number) {
                *place = body;
            }
        }
        Ok(())
    }

    fn body_of(&mut self, document: &Document) -> Read<String> {
        let mut body = String::new();
        loop {
            if self.peek().is_none() {
                return Err(Unclear("a here-document has no end marker"));
            }
            let from = self.at;
            self.comment();
            let line = self.written(from);
            if !document.quoted && line.ends_with('\\') {
                return Err(Unclear("a here-document contains a line continuation"));
            }
            let line = if document.strip { line.trim_start_matches('\t') } else { &line };
            let closed = self.passes("\n");
            if line == document.end {
                // The newline belongs to the text after the document.
                if closed {
                    self.at -= 1;
                }
                return Ok(body);
            }
            body.push_str(line);
            body.push('\n');
        }
    }

    fn expanded(&mut self, body: &str) -> Read<Word> {
        self.read_inside(body, |inner| {
            let mut atoms = Vec::new();
            while inner.peek().is_some() {
                inner.inside_double(false, &mut atoms)?;
            }
            Ok(word(&atoms))
        })
    }
}
