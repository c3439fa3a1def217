//! Words and their quotes: the protection by quoting, and the expansions that still happen inside it.

use super::source::{Read, Source, Unclear, ends_word};
use super::word::Atom;

impl Source<'_> {
    /// Reads one word, up to the blank or operator that ends it, and finds the commands inside it.
    pub(super) fn atoms(&mut self) -> Read<Vec<Atom>> {
        let mut atoms = Vec::new();
        while let Some(c) = self.peek() {
            match (c, self.peek_at(1)) {
                ('<' | '>', Some('(')) => self.process(&mut atoms)?,
                _ if ends_word(c) => break,
                ('\\', Some('\n')) => {
                    self.at += 2;
                    // The joined text may become an operator or a reserved word.
                    if self.peek().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n')) {
                        return Err(Unclear("a word contains a line continuation"));
                    }
                }
                ('\\', Some(next)) => {
                    self.at += 2;
                    atoms.push(Atom::quoted(next));
                }
                ('\'', _) => self.single(&mut atoms)?,
                ('"', _) => self.double(&mut atoms)?,
                ('`', _) => self.backticks(false, &mut atoms)?,
                ('$', _) => self.dollar(false, &mut atoms)?,
                _ => {
                    self.at += 1;
                    atoms.push(Atom::bare(c));
                }
            }
        }
        Ok(atoms)
    }

    fn single(&mut self, atoms: &mut Vec<Atom>) -> Read<()> {
        self.at += 1;
        atoms.push(Atom::Nothing);
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => atoms.push(Atom::quoted(c)),
                None => return Err(Unclear("a single quote is not closed")),
            }
        }
    }

    pub(super) fn double(&mut self, atoms: &mut Vec<Atom>) -> Read<()> {
        self.at += 1;
        atoms.push(Atom::Nothing);
        loop {
            match (self.peek(), self.peek_at(1)) {
                (None, _) => return Err(Unclear("a double quote is not closed")),
                (Some('"'), _) => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.inside_double(true, atoms)?,
            }
        }
    }

    /// One step inside double quotes, or inside a here-document, where the quote character has no meaning.
    pub(super) fn inside_double(&mut self, quotes: bool, atoms: &mut Vec<Atom>) -> Read<()> {
        match (self.peek(), self.peek_at(1)) {
            (Some('\\'), Some('\n')) => self.at += 2,
            (Some('\\'), Some(c)) if matches!(c, '$' | '`' | '\\') || (quotes && c == '"') => {
                self.at += 2;
                atoms.push(Atom::quoted(c));
            }
            (Some('`'), _) => self.backticks(true, atoms)?,
            (Some('$'), _) => self.dollar(true, atoms)?,
            (Some(c), _) => {
                self.at += 1;
                atoms.push(Atom::quoted(c));
            }
            (None, _) => {}
        }
        Ok(())
    }

    /// `$'…'`, from after the quote. It yields bytes, and the shell stops at a zero byte.
    pub(super) fn ansi(&mut self, atoms: &mut Vec<Atom>) -> Read<()> {
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            match self.next() {
                None => return Err(Unclear("a $' quote is not closed")),
                Some('\'') => break,
                Some('\\') => self.escape(&mut bytes)?,
                Some(c) => push_char(&mut bytes, c),
            }
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        let text =
            String::from_utf8(bytes).map_err(|_| Unclear("a $' quote is not valid UTF-8"))?;
        atoms.push(Atom::Nothing);
        atoms.extend(text.chars().map(Atom::quoted));
        Ok(())
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        let Some(c) = self.next() else { return Err(Unclear("a $' quote is not closed")) };
        match c {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => push_char(bytes, c),
            '0'..='7' => {
                self.at -= 1;
                // Three digits may exceed a byte; the shell keeps the low eight bits.
                let value = self.digits(8, 3).unwrap_or_default();
                bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
            }
            'x' => match self.digits(16, 2) {
                Some(value) => bytes.push(u8::try_from(value).unwrap_or_default()),
                None => return Err(Unclear("a $' quote has an invalid escape")),
            },
            'u' | 'U' => {
                let value = self.digits(16, if c == 'u' { 4 } else { 8 });
                let Some(c) = value.and_then(char::from_u32) else {
                    return Err(Unclear("a $' quote has an invalid escape"));
                };
                push_char(bytes, c);
            }
            'c' => return Err(Unclear("a $' quote has a control-character escape")),
            other => {
                bytes.push(b'\\');
                push_char(bytes, other);
            }
        }
        Ok(())
    }

    /// A number of at most `most` digits.
    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let from = self.at;
        while self.at - from < most && self.peek().is_some_and(|c| c.is_digit(radix)) {
            self.at += 1;
        }
        u32::from_str_radix(&self.written(from), radix).ok()
    }
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
