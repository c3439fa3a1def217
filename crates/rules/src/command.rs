//! A command line, read as bash would read it, without running anything: every command that stands in it, wherever it
//! stands, with its words, assignments and redirections. What bash would only know when it runs is marked as unknown;
//! what cannot be read with certainty is a part that says so. Never fails, and takes bounded time and space.
//!
//! An own reader, and not a grammar for editors: it has to answer "which words would run", it may give up at any
//! doubt, and it has to be as pure as the rest of this crate.

mod arithmetic;
mod assign;
mod braces;
mod compound;
mod dangerous_flags;
mod expand;
mod feed;
mod grammar;
mod here;
mod inline;
mod looks;
mod pattern;
mod place;
mod program;
mod quote;
mod redirect;
mod risks;
mod shells;
mod simple;
mod source;
#[cfg(test)]
mod tests;
mod unwrap;
mod word;
mod wrappers;

use std::collections::BTreeSet;
use std::ops::Range;

use types::Deed;

pub use looks::only_looks;
pub use pattern::Pattern;
pub use redirect::{Direction, Redirection};
pub use word::{Piece, Word};

/// The longest line that is read, in bytes.
pub const MOST_BYTES: usize = 64 * 1024;
/// The most parts that are found in one line.
pub const MOST_PARTS: usize = 4_000;
/// How deep things may stand in one another.
pub const MOST_DEPTH: u32 = 48;

/// One command of a line: a program with its words, or only assignments or redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Variables that are set, for this command or for those after it.
    pub assigns: Vec<(String, Word)>,
    pub redirections: Vec<Redirection>,
    /// What it does, beside being called what it is called.
    pub risks: BTreeSet<Deed>,
    /// It only starts another command, which is a part of its own.
    pub carries: bool,
    /// Why it could not be read, if it could not.
    pub unclear: Option<&'static str>,
    /// How deep it stands in other commands.
    depth: u32,
    /// It runs beside what comes after it.
    background: bool,
    /// The part of the line as written that it comes from.
    origin: usize,
    /// Parts that stand inside its words.
    inside: Range<usize>,
    /// Parts whose output it may be given.
    upstream: Vec<Range<usize>>,
    /// Where commands before it have gone.
    stands: Stands,
    /// The shells beside the line's own that it stands in, the nearest first: what goes on in them stays in them.
    shells: Vec<usize>,
    /// The part that starts it.
    carrier: Option<usize>,
    /// Functions that it stands in.
    functions: Vec<String>,
}

impl Part {
    /// The part in one line, for people; not necessarily something to type.
    #[must_use]
    pub fn shown(&self) -> String {
        let assigns = self.assigns.iter().map(|(name, value)| format!("{name}={}", value.shown()));
        // `export A=b` has its assignments among its words too.
        let assigns = assigns.filter(|text| !self.words.iter().any(|word| word.shown() == *text));
        let words = self.words.iter().map(Word::shown);
        let redirections = self.redirections.iter().map(Redirection::shown);
        assigns.chain(words).chain(redirections).collect::<Vec<_>>().join(" ")
    }

    /// A part that stands for something that could not be read.
    fn unclear(why: &'static str, text: String) -> Self {
        let words = vec![Word::unknown(text)];
        Self { words, unclear: Some(why), risks: BTreeSet::from([Deed::Opaque]), ..Self::default() }
    }
}

/// Where a command is run, as far as the line itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stands {
    /// Where the line began: in the workspace.
    #[default]
    Here,
    /// Somewhere else, perhaps deeper in the workspace.
    Elsewhere,
    /// Outside the workspace.
    Outside,
}

/// All commands of a line, in the order in which they were found. There is always at least one.
#[must_use]
pub fn read(line: &str) -> Vec<Part> {
    let mut found = source::Found::default();
    if line.len() > MOST_BYTES {
        let head = line.chars().take(200).collect();
        return vec![Part::unclear("it is too long to be read", head)];
    }
    if line.contains('\0') {
        return vec![Part::unclear("there is a zero character in it", String::new())];
    }
    source::Source::read_script(&mut found, line, 0);
    unwrap::all(&mut found);
    let mut parts = found.parts;
    risks::note(&mut parts, &found.documents);
    if parts.is_empty() {
        // Nothing but blanks and comments: nothing happens.
        parts.push(Part::default());
    }
    parts
}
