//! Mutants of a change: the new version of a file with one small fault in a changed line, so that a test of that line
//! must fail. A condition is turned, a constant moved, a result emptied, a call dropped. Works on tokens, not on a syntax
//! tree: a mutant may fail to compile, and a few behave like the original, so one that goes unnoticed proves nothing by
//! itself.

mod operators;

use std::ops::Range;

use similar::{DiffOp, TextDiff};

use crate::files::test_modules;
use crate::source::{Language, Source, line_range};
use operators::Mutation;

/// The most changed lines of one part; longer ones are divided.
const MOST_LINES: usize = 12;
/// The most mutants of a part.
const MOST_EACH: usize = 3;

/// A file with one fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    pub text: String,
    /// The number of the line, from 1.
    pub line: u32,
    /// The line as it should be, and with the fault.
    pub was: String,
    pub is: String,
    /// It changes words in a string alone, which few tests compare.
    pub of_words: bool,
}

/// Whether the language of a file is known, so that a change without mutants is one without behaviour to be tested.
#[must_use]
pub fn is_known(path: &str, text: &str) -> bool {
    Language::of(path, text).is_some()
}

/// The mutants of each part of a change, the most telling first. Parts in which nothing can be mutated are left out; so
/// are test modules in Rust's source files.
#[must_use]
pub fn mutants(path: &str, old: &str, new: &str) -> Vec<Vec<Mutant>> {
    let Some(source) = Source::of(path, new) else { return vec![] };
    let tests = match source.language {
        Language::Rust => test_modules(new),
        _ => vec![],
    };
    let declared = operators::declarations(&source);
    let is_idle = |line: &Range<usize>| {
        tests.iter().chain(&declared).any(|range| range.contains(&line.start))
    };
    let parts = changed(old, new).into_iter().map(|lines| {
        let lines = lines.into_iter().filter(|line| !is_idle(line));
        let mut mutations: Vec<Mutation> = lines.flat_map(|line| of_line(&source, &line)).collect();
        // Mutations of different lines tell more than several in one.
        mutations.sort_by_key(|mutation| mutation.rank);
        let mut seen: Vec<Range<usize>> = Vec::new();
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for mutation in mutations {
            let line = line_range(new, mutation.at.start);
            let list = if seen.contains(&line) { &mut rest } else { &mut first };
            seen.push(line);
            list.push(mutation);
        }
        first.append(&mut rest);
        first.into_iter().take(MOST_EACH).map(|one| mutant(&source, &one)).collect()
    });
    parts.filter(|mutants: &Vec<Mutant>| !mutants.is_empty()).collect()
}

/// The ranges of the changed lines, part by part.
fn changed(old: &str, new: &str) -> Vec<Vec<Range<usize>>> {
    let diff = TextDiff::from_lines(old, new);
    let mut starts = vec![0];
    starts.extend(new.match_indices('\n').map(|(at, _)| at + 1));
    let mut parts = Vec::new();
    for op in diff.ops() {
        let (DiffOp::Insert { .. } | DiffOp::Replace { .. }) = op else { continue };
        let lines: Vec<Range<usize>> =
            op.new_range().filter_map(|n| Some(line_range(new, *starts.get(n)?))).collect();
        parts.extend(lines.chunks(MOST_LINES).map(<[_]>::to_vec));
    }
    parts
}

fn of_line(source: &Source<'_>, line: &Range<usize>) -> Vec<Mutation> {
    let bare = source.bare[line.clone()].trim();
    if operators::declares(source.language, bare) {
        return vec![];
    }
    operators::mutations(source, line)
}

fn mutant(source: &Source<'_>, mutation: &Mutation) -> Mutant {
    let text = source.text;
    let line = line_range(text, mutation.at.start);
    let (before, after) = (&text[..mutation.at.start], &text[mutation.at.end..]);
    let is = format!("{}{}{}", &text[line.start..mutation.at.start], mutation.with, {
        &text[mutation.at.end..line.end.max(mutation.at.end)]
    });
    Mutant {
        text: format!("{before}{}{after}", mutation.with),
        line: source.line_number(mutation.at.start),
        was: text[line].trim().to_owned(),
        is: is.trim().to_owned(),
        of_words: mutation.rank == operators::STRING,
    }
}

#[cfg(test)]
mod tests;
