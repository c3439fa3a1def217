//! Expansions: `$name`, `${…}`, `$(…)`, backticks, `<(…)` and arithmetic. Commands inside are found; values are unknown
//! unless the line itself sets them.
//!
//! The shell evaluates values of variables as expressions in their turn, and subscripts in those can run commands; so
//! arithmetic on anything but numbers counts as code that cannot be read.

use types::CommandRisk;

use super::grammar::End;
use super::part::Part;
use super::source::{Read, Source, Unclear, in_name, is_name};
use super::word::{Atom, Word};

/// Maximum length of a guessed value, and maximum number of guesses.
const MOST_GUESS: usize = 64;
const MOST_GUESSES: u32 = 500;

impl Source<'_> {
    /// At a dollar sign.
    pub(super) fn dollar(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> Read<()> {
        let from = self.at;
        self.at += 1;
        match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => {
                self.at += 2;
                self.arithmetic(false)?;
                self.unknown(from, quoted, atoms);
            }
            Some('(') => {
                self.at += 1;
                let before = self.found.parts.len();
                self.substituted()?;
                self.substitution(before, from, quoted, atoms);
            }
            Some('{') => {
                self.at += 1;
                self.parameter(quoted)?;
                self.value(from, quoted, atoms);
            }
            Some('\\') if self.peek_at(1) == Some('\n') => {
                return Err(Unclear("a line continuation follows a dollar sign"));
            }
            Some('[') => return Err(Unclear("it uses the old arithmetic syntax $[...]")),
            Some('\'') if !quoted => {
                self.at += 1;
                self.ansi(atoms)?;
            }
            Some('"') if !quoted => self.double(atoms)?,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.skip(in_name);
                self.value(from, quoted, atoms);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.at += 1;
                self.unknown(from, quoted, atoms);
            }
            _ => atoms.push(Atom::Char { c: '$', quoted }),
        }
        Ok(())
    }

    fn unknown(&self, from: usize, quoted: bool, atoms: &mut Vec<Atom>) {
        // `"$@"` becomes several words even in quotes.
        let text = self.written(from);
        let splits = !quoted || text.contains('@');
        atoms.push(Atom::Unknown { text, splits });
    }

    /// The value of a substitution: a guess, if it is a single `echo`.
    fn substitution(&mut self, before: usize, from: usize, quoted: bool, atoms: &mut Vec<Atom>) {
        let output = match self.found.parts.get(before..) {
            Some([part]) if part.name().as_deref() == Some("echo") => {
                let words: Option<Vec<String>> =
                    part.words.iter().skip(1).map(Word::likely).collect();
                words.map(|words| words.join(" "))
            }
            _ => None,
        };
        match output {
            Some(output) if output.len() <= MOST_GUESS && self.found.guesses < MOST_GUESSES => {
                self.found.guesses += 1;
                // An empty guess is a guess too.
                atoms.push(Atom::Unsure);
                guess(&output, quoted, atoms);
            }
            _ => self.unknown(from, quoted, atoms),
        }
    }

    /// The value of a variable, if the line itself sets it.
    fn value(&mut self, from: usize, quoted: bool, atoms: &mut Vec<Atom>) {
        let text = self.written(from);
        let name = text.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
        let value = match self.found.variables.get(name) {
            Some(value) => value.clone(),
            None if name == "IFS" => Some(" \t\n".to_owned()),
            None => None,
        };
        match value {
            Some(value)
                if is_name(name)
                    && value.len() <= MOST_GUESS
                    && self.found.guesses < MOST_GUESSES =>
            {
                self.found.guesses += 1;
                guess(&value, quoted, atoms);
            }
            _ => self.unknown(from, quoted, atoms),
        }
    }

    /// From after `$(` to after its end.
    fn substituted(&mut self) -> Read<()> {
        let waiting = std::mem::take(&mut self.awaited);
        let (from, before) = (self.at, self.found.parts.len());
        self.deeper(|source| source.list(End::Paren))?;
        self.found.subshell(before);
        self.expect(")", "a substitution is not closed")?;
        if !waiting.is_empty() && self.written(from).contains('\n') {
            return Err(Unclear("a here-document begins inside a substitution"));
        }
        if !self.awaited.is_empty() {
            return Err(Unclear("a here-document is cut off by the end of a substitution"));
        }
        self.awaited = waiting;
        Ok(())
    }

    /// `<(…)` and `>(…)`.
    pub(super) fn process(&mut self, atoms: &mut Vec<Atom>) -> Read<()> {
        let from = self.at;
        self.at += 2;
        self.substituted()?;
        self.unknown(from, true, atoms);
        Ok(())
    }

    pub(super) fn backticks(&mut self, quoted: bool, atoms: &mut Vec<Atom>) -> Read<()> {
        let from = self.at;
        self.at += 1;
        let mut script = String::new();
        loop {
            match (self.next(), self.peek()) {
                (None, _) => return Err(Unclear("a backtick is not closed")),
                (Some('`'), _) => break,
                (Some('\\'), Some(c)) if "$`\\".contains(c) || (quoted && c == '"') => {
                    self.at += 1;
                    script.push(c);
                }
                (Some(c), _) => script.push(c),
            }
        }
        let before = self.found.parts.len();
        self.read_inside(&script, |inner| inner.script())?;
        self.found.subshell(before);
        self.substitution(before, from, quoted, atoms);
        Ok(())
    }

    /// From after `${` to after its end. Defaults and patterns may contain commands of their own.
    fn parameter(&mut self, quoted: bool) -> Read<()> {
        let from = self.at;
        let indirect = self.passes("!");
        if !indirect {
            self.passes("#");
        }
        // A special parameter is one character; an operator follows it.
        if self.peek().is_some_and(|c| "@*#?$!-".contains(c)) {
            self.at += 1;
        } else {
            self.skip(in_name);
        }
        let operator = self.at;
        if operator == from {
            // Newer shells run the content of `${ …; }`.
            return Err(Unclear("a ${ has no variable name"));
        }
        while self.peek() != Some('}') {
            self.operand(quoted)?;
        }
        let rest = self.written(operator);
        self.at += 1;
        let evaluates = indirect
            || rest.starts_with('[') && !matches!(rest.as_str(), "[@]" | "[*]" | "[0]" | "[1]")
            || rest.ends_with("@P")
            || rest.starts_with(':') && !rest[1..].starts_with(['-', '=', '?', '+']);
        let plain = |c: char| c.is_ascii_digit() || ":- []".contains(c);
        if evaluates && (indirect || !rest.chars().all(plain)) {
            self.evaluates(&format!("${{{}", self.written(from)))?;
        }
        Ok(())
    }

    /// One step after the name in `${name…}`.
    fn operand(&mut self, quoted: bool) -> Read<()> {
        let mut atoms = Vec::new();
        match (self.peek(), self.peek_at(1)) {
            (None, _) => return Err(Unclear("a ${ is not closed")),
            (Some('\''), _) if quoted => {
                return Err(Unclear("a quoted ${ contains a single quote"));
            }
            (Some('\''), _) => {
                self.at += 1;
                self.skip(|c| c != '\'');
                self.expect("'", "a single quote is not closed")?;
            }
            (Some('"'), _) => self.deeper(|source| source.double(&mut atoms))?,
            (Some('\\'), Some(_)) => self.at += 2,
            (Some('$'), _) => self.deeper(|source| source.dollar(quoted, &mut atoms))?,
            (Some('`'), _) => self.backticks(quoted, &mut atoms)?,
            (Some('<' | '>'), Some('(')) => self.process(&mut atoms)?,
            _ => self.at += 1,
        }
        Ok(())
    }

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
                    return Err(Unclear("arithmetic contains quotes"));
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

    /// Adds a part for an expression that is evaluated.
    pub(super) fn evaluates(&mut self, text: &str) -> Read<()> {
        let mut part = Part { words: vec![Word::of(text)], ..Part::default() };
        part.risks.insert(CommandRisk::RunsCode);
        self.add(part)
    }
}

/// The guessed value of a variable: several words, unless quoted.
fn guess(value: &str, quoted: bool, atoms: &mut Vec<Atom>) {
    for c in value.chars() {
        match c {
            ' ' | '\t' | '\n' if !quoted => {
                if atoms.last() != Some(&Atom::Break) {
                    atoms.push(Atom::Break);
                }
            }
            _ => atoms.push(Atom::Guess(c)),
        }
    }
}

fn is_arithmetic(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_ \t\n+-*/%<>=!&|^~?:,()[]#@".contains(c)
}
