//! Parser for bash command lines that runs nothing: finds every command in a line, however nested, with its words,
//! assignments and redirections. Values that bash knows only at run time are marked as unknown; text that cannot be
//! parsed with certainty becomes a part marked as such. Never fails; time and space are bounded.
//!
//! Hand-written rather than a grammar for editors: it answers "which words would run", gives up at any doubt, and is as
//! pure as the rest of this crate.

mod dangerous_flags;
mod expand;
mod flags;
mod grammar;
mod part;
mod paths;
mod pattern;
mod programs;
mod quote;
mod read_only;
mod redirect;
mod risks;
mod simple;
mod source;
#[cfg(test)]
mod tests;
mod unwrap;
mod word;
mod wrappers;

use source::MOST_BYTES;

pub use part::Part;
pub(crate) use pattern::Pattern;
pub use read_only::only_looks;
#[cfg(any(test, fuzzing))]
pub(crate) use source::MOST_PARTS;
pub use word::Word;

/// All commands of a line, in the order in which they are found. There is always at least one.
#[must_use]
pub fn read(line: &str) -> Vec<Part> {
    let mut found = source::Found::default();
    if line.len() > MOST_BYTES {
        let head = line.chars().take(200).collect();
        return vec![Part::unclear("it is too long to parse", head)];
    }
    if line.contains('\0') {
        return vec![Part::unclear("it contains a NUL character", String::new())];
    }
    grammar::read_script(&mut found, line, 0);
    unwrap::all(&mut found);
    let mut parts = found.parts;
    risks::note(&mut parts, &found.documents);
    if parts.is_empty() {
        // Nothing but blanks and comments: nothing happens.
        parts.push(Part::default());
    }
    parts
}
