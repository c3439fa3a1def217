//! Here-documents: texts that stand in the line itself, after the line that asks for them.

use super::Word;
use super::source::{Read, Source, Unclear, ends_word};
use super::word::word;

/// A here-document whose body has not come yet.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) number: usize,
    pub(super) end: String,
    /// Nothing in the body is expanded.
    pub(super) quoted: bool,
    /// Tabs at the beginning of lines do not count.
    pub(super) strip: bool,
}

impl Source<'_> {
    /// The word that ends a document, and whether any of it is quoted.
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
                            Some('\n') | None => return Err(Unclear("a here-document has no end")),
                            Some(next) => end.push(next),
                        }
                    }
                }
                '\\' => {
                    quoted = true;
                    end.extend(self.next());
                }
                '$' | '`' => return Err(Unclear("a here-document has an odd end")),
                _ => end.push(c),
            }
        }
        if end.is_empty() && !quoted {
            Err(Unclear("a here-document has no end"))
        } else {
            Ok((end, quoted))
        }
    }

    /// Reads the bodies that were waiting for the end of the line.
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
                return Err(Unclear("a here-document has no end"));
            }
            let from = self.at;
            self.comment();
            let line = self.written(from);
            if !document.quoted && line.ends_with('\\') {
                return Err(Unclear("a line is broken inside a here-document"));
            }
            let line = if document.strip { line.trim_start_matches('\t') } else { &line };
            let closed = self.passes("\n");
            if line == document.end {
                // The end of the line belongs to whatever comes after the document.
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
