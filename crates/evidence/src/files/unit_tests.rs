//! Inline Rust unit tests: removed, or replaced by those of another version. Only modules under `cfg(test)` count; a
//! single function under it is code.

use std::ops::Range;

use crate::pattern::pattern;
use crate::source::{Language, Source, blanked};

/// A test module: its name and range, attributes included.
struct Module {
    name: String,
    at: Range<usize>,
}

fn modules(text: &str) -> Vec<Module> {
    let source = Source::new(Language::Rust, text);
    let head = pattern!(
        r"#\[cfg\((?:all\(\s*)?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+(\w+)\s*([{;])"
    );
    let mut found: Vec<Module> = Vec::new();
    for part in head.captures_iter(&source.bare) {
        let (Some(whole), Some(name), Some(sign)) = (part.get(0), part.get(1), part.get(2)) else {
            continue;
        };
        if found.last().is_some_and(|last| whole.start() < last.at.end) {
            continue;
        }
        let end =
            if sign.as_str() == "{" { source.closing(sign.start()) } else { Some(sign.start()) };
        let end = end.map_or(text.len(), |end| end + 1);
        found.push(Module { name: name.as_str().to_owned(), at: whole.start()..end });
    }
    found
}

/// The ranges of the test modules of a Rust file.
pub(crate) fn test_modules(text: &str) -> Vec<Range<usize>> {
    modules(text).into_iter().map(|module| module.at).collect()
}

/// A Rust file with the test modules of another version: those of the same name in place, others at the end, and none
/// that the other lacks. `None` if neither has one.
#[must_use]
pub fn swapped_unit_tests(code_text: &str, tests_text: &str) -> Option<String> {
    let (old, new) = (modules(code_text), modules(tests_text));
    if old.is_empty() && new.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut at = 0;
    for module in &old {
        text.push_str(&code_text[at..module.at.start]);
        if let Some(other) = new.iter().find(|other| other.name == module.name) {
            text.push_str(&tests_text[other.at.clone()]);
        }
        at = module.at.end;
    }
    text.push_str(&code_text[at..]);
    for module in new.iter().filter(|new| !old.iter().any(|old| old.name == new.name)) {
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
        text.push_str(&tests_text[module.at.clone()]);
        text.push('\n');
    }
    Some(text)
}

/// A Rust file with its test modules blanked, keeping lines and offsets.
#[must_use]
pub fn without_unit_tests(text: &str) -> String {
    blanked(text, modules(text).into_iter().map(|module| module.at))
}

/// A Rust file with everything but its test modules blanked.
#[must_use]
pub fn only_unit_tests(text: &str) -> String {
    let mut rest = Vec::new();
    let mut at = 0;
    for module in modules(text) {
        rest.push(at..module.at.start);
        at = module.at.end;
    }
    rest.push(at..text.len());
    blanked(text, rest.into_iter())
}
