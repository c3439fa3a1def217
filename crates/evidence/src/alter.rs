//! Altered tests: a test file with changed expected values and a planted failing test, so that a working runner must
//! report failures. Statements directly in the body of a test are altered, because they are certain to run, and if there
//! are none, the last row of the table that it compares with.

mod c;
mod edit;
mod expect;
mod literal;
mod plant;
mod shell;
mod table;

use std::ops::Range;

use crate::cases::Case;
use crate::source::{Language, Source};
use edit::{Edit, applied};

pub use edit::Altered;

/// Maximum number of variants with a single altered expectation.
const MOST: usize = 8;

/// A test file with altered expectations and a planted test. `names` are tests from a runner's report; without any, all
/// tests of the file are altered. `None` if nothing can be altered or planted.
#[must_use]
pub fn altered(path: &str, text: &str, names: &[String]) -> Option<Altered> {
    let source = Source::of(path, text)?;
    let all = cases(&source);
    let mut edits = Vec::new();
    let mut tests = Vec::new();
    for case in all.iter().filter(|case| !case.is_special() && is_named(case, names)) {
        if let Some(edit) = last_expectation(&source, case) {
            edits.push(edit);
            tests.push(case.name.clone());
        }
    }
    if is_script(&source, &all) {
        edits.extend(expectations(&source, 0..text.len()));
    }
    let lines = lines(&source, &edits);
    let planted = plant::planted(&source, &all);
    let name = planted.as_ref().map(|(name, _)| name.clone());
    edits.extend(planted.map(|(_, edit)| edit));
    let text = applied(text, edits)?;
    Some(Altered { text, tests, lines, planted: name })
}

/// Variants of a test file with a single altered expectation each, the most telling first, and nothing planted. For
/// runners that do not name tests.
#[must_use]
pub fn one_by_one(path: &str, text: &str) -> Vec<Altered> {
    let Some(source) = Source::of(path, text) else {
        return literal::altered_document(path, text).into_iter().collect();
    };
    let all = cases(&source);
    let mut edits: Vec<(Edit, Option<String>)> = Vec::new();
    for case in all.iter().filter(|case| !case.is_special()) {
        edits.extend(last_expectation(&source, case).map(|edit| (edit, Some(case.name.clone()))));
    }
    if is_script(&source, &all) {
        let whole = expectations(&source, 0..text.len());
        edits.extend(whole.into_iter().map(|edit| (edit, None)));
    }
    edits.sort_by_key(|(edit, _)| (!edit.telling, edit.at.start));
    let single = |(edit, test): (Edit, Option<String>)| {
        let lines = lines(&source, std::slice::from_ref(&edit));
        let text = applied(text, vec![edit])?;
        Some(Altered { text, tests: test.into_iter().collect(), lines, planted: None })
    };
    edits.into_iter().take(MOST).filter_map(single).collect()
}

/// The last expectation of a test: everything before it must have run.
fn last_expectation(source: &Source<'_>, case: &Case) -> Option<Edit> {
    let edits = expectations(source, case.body.clone());
    let telling = edits.iter().rfind(|edit| edit.telling).cloned();
    telling.or_else(|| table::expectation(source, case)).or_else(|| edits.into_iter().next_back())
}

/// The tests of a file; in C also the program itself.
fn cases(source: &Source<'_>) -> Vec<Case> {
    match source.language {
        Language::C => c::cases(source),
        _ => crate::cases::cases(source),
    }
}

/// Whether a file runs as a whole and is a test by its top-level assertions.
fn is_script(source: &Source<'_>, all: &[Case]) -> bool {
    match source.language {
        Language::Shell => !all.iter().any(|case| case.word == "@test"),
        Language::Python | Language::JavaScript => all.is_empty(),
        _ => false,
    }
}

/// The edits that make single expectations of a block fail.
fn expectations(source: &Source<'_>, block: Range<usize>) -> Vec<Edit> {
    if source.language == Language::Shell {
        return shell::expectations(source, block);
    }
    let statements = source.statements(block);
    let expectation = match source.language {
        Language::C => c::expectation,
        _ => expect::expectation,
    };
    statements.into_iter().filter_map(|range| expectation(source, range)).collect()
}

/// Whether a test is among the named ones, as `file::Class::test`, `module.test`, `suite > test` or `test[parameters]`.
fn is_named(case: &Case, names: &[String]) -> bool {
    names.is_empty()
        || names.iter().any(|name| {
            let plain = name.split('[').next().unwrap_or(name).trim_end_matches("()");
            [plain, name.as_str()].iter().any(|name| {
                name.strip_suffix(case.name.as_str()).is_some_and(|before| {
                    !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            })
        })
}

fn lines(source: &Source<'_>, edits: &[Edit]) -> Vec<(u32, String)> {
    let line = |edit: &Edit| {
        (source.line_number(edit.at.start), source.line_at(edit.at.start).trim().to_owned())
    };
    edits.iter().map(line).collect()
}

#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
