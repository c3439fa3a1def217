//! Simple commands: assignments first, then words and redirections in any order. Includes brace expansion, which turns
//! one word into several before any other expansion.

use super::part::Part;
use super::source::{Read, Source, Unclear, is_name};
use super::word::{Atom, Word, bare_text, word, words};

/// Builtins whose arguments may be assignments.
const DECLARE: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

/// Reserved words of the shell, if unquoted.
const RESERVED: [&str; 22] = [
    "!", "[[", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "]]",
];

/// Maximum number of words that brace expansion may make of one.
const MOST: usize = 512;
/// Maximum number of braces in one word.
const MOST_BRACES: usize = 64;
/// Maximum number of characters in all words of an expansion.
const MOST_ATOMS: usize = 200_000;

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
                return Err(Unclear("a redirection cannot be parsed"));
            }
            let reserved = |word: String| RESERVED.contains(&word.as_str());
            if part.words.is_empty() && bare_text(&atoms).is_some_and(reserved) {
                // Written over two lines, or after an assignment.
                return Err(Unclear("a shell keyword is in an unexpected position"));
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
        let Some(name) = name else { return Err(Unclear("a command contains a parenthesis")) };
        self.at += 1;
        self.blanks();
        self.expect(")", "a command contains a parenthesis")?;
        self.function_body(&name)
    }

    fn take_word(&mut self, part: &mut Part, atoms: &[Atom]) -> Read<()> {
        let declares = part
            .words
            .first()
            .and_then(Word::known)
            .is_some_and(|name| DECLARE.contains(&name.as_str()));
        if (part.words.is_empty() || declares)
            && let Some((name, subscript, value)) = assignment(atoms)
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

    /// `(a b c)` after `name=`: its values stay unknown, but commands in it are found.
    fn values(&mut self) -> Read<Word> {
        let from = self.at;
        self.at += 1;
        loop {
            self.gap()?;
            if self.passes(")") {
                return Ok(Word::unknown(self.written(from)));
            }
            if self.atoms()?.is_empty() {
                return Err(Unclear("an array value cannot be parsed"));
            }
        }
    }
}

/// The name, whether a subscript must be evaluated, and the value; none if it is no assignment.
fn assignment(atoms: &[Atom]) -> Option<(String, bool, &[Atom])> {
    let equals = atoms.iter().position(|atom| atom.is_bare('='))?;
    let (before, value) = (&atoms[..equals], &atoms[equals + 1..]);
    let before = match before.split_last() {
        Some((last, before)) if last.is_bare('+') => before,
        _ => before,
    };
    let open = before.iter().position(|atom| atom.is_bare('['));
    let name = bare_text(&before[..open.unwrap_or(before.len())]).filter(|name| is_name(name))?;
    let Some(open) = open else { return Some((name, false, value)) };
    let (subscript, last) =
        before.get(open + 1..)?.split_last().map(|(last, rest)| (rest, last))?;
    let number = |atom: &Atom| matches!(atom, Atom::Char { c, .. } if c.is_ascii_digit());
    last.is_bare(']').then(|| (name, !subscript.iter().all(number), value))
}

/// The words that brace expansion makes of one.
fn braces(atoms: &[Atom]) -> Read<Vec<Vec<Atom>>> {
    if atoms.iter().filter(|atom| atom.is_bare('{')).count() > MOST_BRACES {
        return Err(Unclear("there are too many braces in a word"));
    }
    let mut left = 4_096;
    expand(atoms, &mut left)
}

fn expand(atoms: &[Atom], left: &mut usize) -> Read<Vec<Vec<Atom>>> {
    *left = left.checked_sub(1).ok_or(Unclear("braces expand to too many words"))?;
    for (open, atom) in atoms.iter().enumerate() {
        if !atom.is_bare('{') {
            continue;
        }
        let Some((close, commas)) = matching(atoms, open) else { continue };
        let inside = &atoms[open + 1..close];
        let choices: Vec<Vec<Atom>> = if commas.is_empty() {
            match sequence(inside)? {
                Some(choices) => choices,
                None => continue,
            }
        } else {
            let mut choices = Vec::new();
            let mut from = open + 1;
            for comma in commas.iter().copied().chain([close]) {
                choices.extend(expand(&atoms[from..comma], left)?);
                from = comma + 1;
            }
            choices
        };
        let ends = expand(&atoms[close + 1..], left)?;
        let words = choices.len().saturating_mul(ends.len());
        if words > MOST || words.saturating_mul(atoms.len()) > MOST_ATOMS {
            return Err(Unclear("braces expand to too many words"));
        }
        let start = &atoms[..open];
        let joined = |choice: &Vec<Atom>, end: &Vec<Atom>| [start, choice, end].concat();
        return Ok(choices
            .iter()
            .flat_map(|choice| ends.iter().map(move |end| joined(choice, end)))
            .collect());
    }
    Ok(vec![atoms.to_vec()])
}

/// The closing brace of an open one, and the commas on its level.
fn matching(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let (mut level, mut commas) = (0_u32, Vec::new());
    for (place, atom) in atoms.iter().enumerate().skip(open + 1) {
        match atom {
            _ if atom.is_bare('{') => level += 1,
            _ if atom.is_bare('}') && level == 0 => return Some((place, commas)),
            _ if atom.is_bare('}') => level -= 1,
            _ if atom.is_bare(',') && level == 0 => commas.push(place),
            _ => {}
        }
    }
    None
}

/// `1..5` and `a..e`.
fn sequence(inside: &[Atom]) -> Read<Option<Vec<Vec<Atom>>>> {
    let Some(text) = bare_text(inside) else {
        // Variables are not expanded yet when braces are, so they never make a sequence.
        return Ok(None);
    };
    let Some((from, to)) = text.split_once("..") else { return Ok(None) };
    let word = |text: String| text.chars().map(Atom::bare).collect::<Vec<_>>();
    let plain = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits == "0" || !digits.starts_with('0')
    };
    if let (Ok(a), Ok(b)) = (from.parse::<i64>(), to.parse::<i64>()) {
        if !plain(from) || !plain(to) || a.abs_diff(b) >= MOST as u64 {
            return Err(Unclear("a sequence in braces is zero-padded or too long"));
        }
        let numbers: Vec<i64> = if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() };
        return Ok(Some(numbers.into_iter().map(|n| word(n.to_string())).collect()));
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    match (letter(from), letter(to)) {
        (Some(a), Some(b)) if a.is_ascii_lowercase() == b.is_ascii_lowercase() => {
            let letters: Vec<char> =
                if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() };
            Ok(Some(letters.into_iter().map(|c| word(c.to_string())).collect()))
        }
        (None, _) | (_, None) if !to.contains("..") => Ok(None),
        _ => Err(Unclear("a sequence in braces cannot be parsed")),
    }
}
