//! Invariants for any input, for the fuzzer. Not part of the library.

use crate::alter;
use crate::files::FileKind;
use crate::report;
use crate::signs::{Change, ChangedFile, signs};

/// Names of test files, one for each known language.
const TESTS: &[&str] =
    &["t_test.go", "test_t.py", "t.test.ts", "tests/t.rs", "t_spec.rb", "TTest.java"];

/// The output of a test runner is read or ignored.
pub fn test_output(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(report::read(&text, &[]));
}

/// An XML report is read or ignored.
pub fn junit(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    drop(report::read("", &[("report.xml".to_owned(), text)]));
}

/// A change from any text to any other has a bounded number of signs.
pub fn change(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (old, new) = text.split_once('\0').unwrap_or((&text, ""));
    for path in TESTS.iter().chain(&["src/a.py", "package.json"]) {
        let kind = if TESTS.contains(path) { FileKind::Test } else { FileKind::Code };
        let file = ChangedFile { path, kind, old: Some(old), new: Some(new) };
        let found = signs(&Change {
            goal: "Add a flag",
            files: &[file],
            tests: &[new],
            code: &[old],
            documents: &[],
        });
        assert!(found.len() < 1_000, "{} signs", found.len());
    }
}

/// A test file with altered expectations differs from the original, if there is one.
pub fn altered(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for path in TESTS {
        drop(alter::altered(path, &text, &[]));
        drop(alter::one_by_one(path, &text));
    }
}
