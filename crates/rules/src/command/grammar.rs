//! Lists and pipelines: what stands beside what, and who is given whose output.

use super::source::{Read, Source, Unclear, ends_word};

/// Where a list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With the text.
    Text,
    Paren,
    /// Before one of these words, where a command would begin.
    Words(&'static [&'static str]),
    /// Before the end of a branch of `case`.
    Branch,
}

impl Source<'_> {
    /// The whole text as a script.
    pub(super) fn script(&mut self) -> Read<()> {
        self.list(End::Text)?;
        if !self.awaited.is_empty() {
            return Err(Unclear("a here-document has no end"));
        }
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(Unclear("something is closed that was not open"))
        }
    }

    /// Commands, up to where the list ends.
    pub(super) fn list(&mut self, end: End) -> Read<()> {
        let mut first = self.found.parts.len();
        loop {
            self.gap()?;
            if self.is_at(end) {
                return Ok(());
            }
            if self.peek().is_none() {
                return Err(Unclear("it is not finished"));
            }
            self.pipeline()?;
            self.blanks();
            match (self.peek(), self.peek_at(1)) {
                (Some(';'), Some(';' | '&')) if end == End::Branch => return Ok(()),
                (Some(';'), Some(';' | '&')) => return Err(Unclear("there are two semicolons")),
                (Some('&'), Some('&')) | (Some('|'), Some('|')) => {
                    self.at += 2;
                    continue;
                }
                (Some('&'), _) => {
                    self.at += 1;
                    for part in self.found.parts.iter_mut().skip(first) {
                        part.background = true;
                    }
                    self.found.apart(first);
                }
                (Some(';'), _) => self.at += 1,
                (None | Some('\n' | '#'), _) => {}
                (Some(')'), _) if matches!(end, End::Paren | End::Branch) => {}
                (Some(_), _) if self.is_at(end) => {}
                _ => return Err(Unclear("an operator stands where none is expected")),
            }
            first = self.found.parts.len();
        }
    }

    fn is_at(&self, end: End) -> bool {
        match end {
            End::Text => self.peek().is_none(),
            End::Paren => self.peek() == Some(')'),
            End::Words(words) => self.plain().is_some_and(|word| words.contains(&word.as_str())),
            End::Branch => {
                (self.peek() == Some(';') && matches!(self.peek_at(1), Some(';' | '&')))
                    || self.plain().as_deref() == Some("esac")
            }
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        let start = self.found.parts.len();
        loop {
            let stage = self.found.parts.len();
            self.deeper(Self::command)?;
            if stage > start {
                for part in self.found.parts.iter_mut().skip(stage) {
                    part.upstream.push(start..stage);
                }
            }
            self.blanks();
            let last = self.peek() != Some('|') || self.peek_at(1) == Some('|');
            if stage > start || !last {
                self.found.apart(stage);
            }
            if last {
                return Ok(());
            }
            self.at += 1;
            // `|&` sends the errors along.
            self.passes("&");
            self.gap()?;
        }
    }

    /// The next word, if it is written without any quoting, and not moved past.
    pub(super) fn plain(&self) -> Option<String> {
        let word: String = self
            .text
            .iter()
            .skip(self.at)
            .take_while(|c| !ends_word(**c))
            .take(crate::command::MOST_BYTES)
            .collect();
        let clean = !word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`']);
        clean.then_some(word)
    }
}
