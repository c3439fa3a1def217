//! Signs in a change that its tests are deceived rather than satisfied. They are shown to a person, with the line; they
//! prove nothing by themselves, so each is narrow: honest work must not raise questions. Test results are evaluated
//! elsewhere.

mod answers;
mod equality;
mod exits;
mod goal;
mod lies;
mod literals;
mod production;
mod runner;
mod shadows;
mod sign;
mod state;
mod stubs;
mod weak;
mod writes;

use crate::files::{FileKind, only_unit_tests, without_unit_tests};
use crate::pattern::pattern;
use production::Production;
use sign::sign;
use types::FindingKind;

pub use goal::{left_out, named_things};
pub use sign::{Change, ChangedFile, Sign};

/// Maximum number of signs of one kind in one file.
const MOST: usize = 10;

/// The signs of a change.
#[must_use]
pub fn signs(change: &Change<'_>) -> Vec<Sign> {
    // Rust unit tests are in code files: their text counts as tests.
    let holds_tests = |text: &&&str| text.contains("#[cfg(test)]");
    let new =
        change.files.iter().filter(|file| file.kind == FileKind::Code).filter_map(|file| file.new);
    let inner: Vec<&str> =
        change.code.iter().copied().chain(new).filter(|text| holds_tests(&text)).collect();
    let inner: Vec<String> = inner.into_iter().map(only_unit_tests).collect();
    let code: Vec<String> = change.code.iter().map(|text| without_unit_tests(text)).collect();
    let tests: Vec<&str> =
        change.tests.iter().copied().chain(inner.iter().map(String::as_str)).collect();
    let code: Vec<&str> = code.iter().map(String::as_str).collect();
    signs_apart(&Change { tests: &tests, code: &code, ..*change })
}

fn signs_apart(change: &Change<'_>) -> Vec<Sign> {
    let mut found = Vec::new();
    for file in change.files {
        found.extend(conflict_markers(file));
        found.extend(weak::signs(file));
        if file.kind != FileKind::Code {
            continue;
        }
        let Some(production) = Production::of(file) else { continue };
        let view = production.view();
        for part in [
            exits::signs(change, &view),
            runner::signs(change, &view),
            equality::signs(&view),
            lies::signs(change, &view),
            shadows::signs(change, &view),
            state::signs(change, &view),
            literals::signs(change, &view),
            answers::signs(change, &view),
            stubs::signs(change, &view),
            writes::signs(change, &view),
        ] {
            found.extend(part.into_iter().take(MOST));
        }
    }
    found.extend(weak::hollow_tests(change));
    found.extend(stubs::comments_only(change));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|sign| seen.insert(sign.clone()));
    found
}

fn conflict_markers(file: &ChangedFile<'_>) -> Option<Sign> {
    let marked = |text: &str| {
        [r"<<<<<<<", r"=======", r">>>>>>>"].iter().all(|mark| {
            text.lines().any(|line| {
                line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        })
    };
    let new = file.new.filter(|text| marked(text))?;
    if file.old.is_some_and(marked) {
        return None;
    }
    let line = pattern!(r"(?m)^<<<<<<<.*$").find(new)?;
    Some(sign(FindingKind::ConflictMarkers, file.path, line.as_str()))
}

#[cfg(test)]
mod tests;
