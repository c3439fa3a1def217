//! Hard limits on the length of files and functions.

use crate::code;
use crate::finding::Finding;
use crate::tree::Tree;

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;
const IMPORT_LINES: usize = 25;

/// Files that are one long list, each with the reason.
const CATALOGUES: &[(&str, &str)] = &[
    ("crates/bosun/src/args.rs", "every flag in one place, with its help"),
    ("crates/types/src/event.rs", "every event in one place: one enum"),
];

/// Functions that are one match over every event, without an arm for the rest.
const EXHAUSTIVE: &[(&str, &str)] =
    &[("crates/engine/src/state/apply.rs", "take"), ("crates/engine/src/agent/apply.rs", "apply")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        let blank = code::without_prose(text);
        let code: Vec<&str> = blank.lines().collect();
        findings.extend(file_length(path, code.len()));
        findings.extend(imports(path, &code));
        if !code::is_test_file(path) {
            findings.extend(functions(path, &code));
        }
    }
    findings
}

fn file_length(path: &str, lines: usize) -> Option<Finding> {
    let catalogue = CATALOGUES.iter().any(|(name, _)| *name == path);
    (lines > FILE_LINES && !catalogue).then(|| {
        let what = format!("{lines} lines, at most {FILE_LINES}; split the file by idea");
        Finding::new(path, FILE_LINES + 1, what)
    })
}

/// Counts lines, not statements: a statement over half a page is as much to read. A `pub use` is not an import.
fn imports(path: &str, code: &[&str]) -> Option<Finding> {
    let starts = code.iter().enumerate().filter(|(_, line)| line.starts_with("use "));
    let lengths = starts.map(|(at, _)| {
        code[at..].iter().position(|line| line.ends_with(';')).map_or(1, |lines| lines + 1)
    });
    let lines: usize = lengths.sum();
    (lines > IMPORT_LINES).then(|| {
        let what = format!(
            "{lines} lines of imports, at most {IMPORT_LINES}; the file knows too many things"
        );
        Finding::new(path, 1, what)
    })
}

fn functions(path: &str, code: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, name, lines) in code::functions(code) {
        if lines > FUNCTION_LINES && !EXHAUSTIVE.contains(&(path, name)) {
            let what = format!(
                "function `{name}` has {lines} lines, at most {FUNCTION_LINES}; \
                 give its steps names of their own"
            );
            findings.push(Finding::new(path, at + 1, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    fn function(lines: usize) -> String {
        format!("    pub fn long() {{\n{}    }}\n", "        x();\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_a_catalogue() {
        let text = "x\n".repeat(FILE_LINES + 1);
        let finding = "crates/a/src/a.rs:401: 401 lines, at most 400; split the file by idea";
        assert_eq!(found("crates/a/src/a.rs", &text), [finding]);
        assert_eq!(found("crates/bosun/src/args.rs", &text), [""; 0]);
        assert_eq!(found("crates/a/src/a.rs", &text[2..]), [""; 0]);
    }

    #[test]
    fn a_long_function_is_found_with_its_name() {
        let text = format!("impl A {{\n{}}}\n", function(FUNCTION_LINES + 1));
        let long = found("crates/a/src/a.rs", &text);
        assert!(
            long[0].starts_with("crates/a/src/a.rs:2: function `long` has 61 lines"),
            "{long:?}"
        );
        assert_eq!(found("crates/a/src/a.rs", &function(FUNCTION_LINES)), [""; 0]);
    }

    #[test]
    fn tests_may_be_long() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(FUNCTION_LINES + 9));
        assert_eq!(found("crates/a/src/a.rs", &text), [""; 0]);
        assert_eq!(found("crates/a/src/a/tests.rs", &function(FUNCTION_LINES + 9)), [""; 0]);
    }

    #[test]
    fn imports_are_counted_in_lines_and_re_exports_are_not() {
        let text = format!("use a::{{\n{}}};\n{}", "    b,\n".repeat(23), "pub use c;\n".repeat(9));
        assert_eq!(found("crates/a/src/a.rs", &text), [""; 0]);
        let many = found("crates/a/src/a.rs", &format!("{text}use d;\n"));
        assert!(many[0].contains("26 lines of imports"), "{many:?}");
    }
}
