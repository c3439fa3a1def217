//! Arithmetic. The shell evaluates the values of variables as expressions in their turn, and subscripts in those can
//! run commands; so arithmetic on anything but numbers counts as code that cannot be read.

use types::Deed;

use super::source::{Read, Source, Unclear};
use super::word::Atom;
use super::{Part, Word};

impl Source<'_> {
    /// From after `((` to after its `))`. In the head of a loop there are semicolons too.
    pub(super) fn arithmetic(&mut self, in_loop: bool) -> Read<()> {
        let from = self.at;
        let (mut open, mut atoms) = (0_u32, Vec::new());
        loop {
            match (self.peek(), self.peek_at(1)) {
                (None, _) => return Err(Unclear("arithmetic is not closed")),
                (Some('('), _) => open += 1,
                (Some(')'), _) if open > 0 => open -= 1,
                (Some(')'), Some(')')) => break,
                (Some(')'), _) => return Err(Unclear("it may be arithmetic or a subshell")),
                (Some('\'' | '"' | '\\'), _) => {
                    return Err(Unclear("there are quotes in arithmetic"));
                }
                (Some(_), _) => {}
            }
            self.deeper(|source| source.inside_double(false, &mut atoms))?;
        }
        let text = self.written(from);
        self.at += 2;
        let odd = |atom: &Atom| matches!(atom, Atom::Char { c, .. } if !(is_arithmetic(*c) || in_loop && *c == ';'));
        if atoms.iter().any(odd) {
            return Err(Unclear("it may be arithmetic or a subshell"));
        }
        let number = |atom: &Atom| matches!(atom, Atom::Char { c, .. } if !c.is_ascii_alphabetic() && !matches!(c, '_' | '['));
        if atoms.iter().all(number) { Ok(()) } else { self.evaluates(&format!("(({text}))")) }
    }

    /// Puts on record that an expression is evaluated.
    pub(super) fn evaluates(&mut self, text: &str) -> Read<()> {
        let mut part = Part { words: vec![Word::of(text)], ..Part::default() };
        part.risks.insert(Deed::RunsCode);
        self.add(part)
    }
}

fn is_arithmetic(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_ \t\n+-*/%<>=!&|^~?:,()[]#@".contains(c)
}
