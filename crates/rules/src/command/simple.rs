//! A program with its words: assignments first, then words and redirections in any order.

use super::braces::braces;
use super::source::{Read, Source, Unclear};
use super::word::{Atom, word, words};
use super::{Part, assign};

/// Builtins whose arguments may be assignments.
const DECLARE: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Words that are not programs where a command begins.
const RESERVED: [&str; 22] = [
    "!", "[[", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "]]",
];

/// Whether a word is one of the shell's own, written without quotes.
pub(super) fn is_reserved(atoms: &[Atom]) -> bool {
    let bare = |atom: &Atom| match atom {
        Atom::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    let word: Option<String> = atoms.iter().map(bare).collect();
    word.is_some_and(|word| RESERVED.contains(&word.as_str()))
}

impl Source<'_> {
    pub(super) fn simple(&mut self) -> Read<()> {
        let from = self.found.parts.len();
        let mut part = Part::default();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                part.redirections.push(redirection);
                continue;
            }
            match (self.peek(), self.peek_at(1)) {
                (Some('<' | '>'), Some('(')) => {}
                (None | Some('\n' | ';' | '|' | ')' | '&'), _) => break,
                (Some('#'), _) => {
                    self.comment();
                    break;
                }
                (Some('('), _) => return self.defined(&part),
                _ => {}
            }
            let atoms = self.atoms()?;
            if atoms.is_empty() && self.peek().is_some_and(|c| matches!(c, '<' | '>' | '(')) {
                return Err(Unclear("a redirection cannot be read"));
            }
            if part.words.is_empty() && is_reserved(&atoms) {
                // Written over two lines, or after an assignment.
                return Err(Unclear("a word of the shell's own is hidden"));
            }
            self.take_word(&mut part, &atoms)?;
        }
        if part.words.is_empty() && part.assigns.is_empty() && part.redirections.is_empty() {
            return Err(Unclear("a command was expected"));
        }
        part.inside = from..self.found.parts.len();
        self.add(part)
    }

    /// `name () …`, at the parenthesis.
    fn defined(&mut self, part: &Part) -> Read<()> {
        let name = match part.words.as_slice() {
            [name] if part.assigns.is_empty() && part.redirections.is_empty() => name.known(),
            _ => None,
        };
        let Some(name) = name else { return Err(Unclear("a parenthesis stands in a command")) };
        self.at += 1;
        self.blanks();
        self.expect(")", "a parenthesis stands in a command")?;
        self.function_body(&name)
    }

    fn take_word(&mut self, part: &mut Part, atoms: &[Atom]) -> Read<()> {
        let declares = part
            .words
            .first()
            .and_then(super::Word::known)
            .is_some_and(|name| DECLARE.contains(&name.as_str()));
        if (part.words.is_empty() || declares)
            && let Some((name, subscript, value)) = assign::split(atoms)
        {
            if subscript {
                self.evaluates(&format!("{name}[…]=…"))?;
            }
            let list = value.is_empty() && self.peek() == Some('(');
            let value = if list { self.values()? } else { word(value) };
            self.found.set(&name, value.likely().as_deref());
            if declares {
                part.words.push(word(atoms));
            }
            part.assigns.push((name, value));
            return Ok(());
        }
        for run in braces(atoms)? {
            part.words.extend(words(&run));
        }
        Ok(())
    }

    /// `(a b c)` after `name=`: what it holds is not followed, but commands in it are found.
    fn values(&mut self) -> Read<super::Word> {
        let from = self.at;
        self.at += 1;
        loop {
            self.gap()?;
            if self.passes(")") {
                return Ok(super::Word::unknown(self.written(from)));
            }
            if self.atoms()?.is_empty() {
                return Err(Unclear("a list of values cannot be read"));
            }
        }
    }
}
