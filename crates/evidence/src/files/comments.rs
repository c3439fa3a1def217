//! Whether a change of a file is one of comments alone, or of what reads like them: documentation strings, annotations of
//! Python, lints and links to documentation in Rust, a package's own version. Compares the text without them, line by
//! line; what a comment can do (directives of tools, tests in documentation) is a change of more than words.

use std::ops::Range;

use super::annotations::without_annotations;
use crate::pattern::pattern;
use crate::source::{Language, Source, blanked};

/// Parts of comments that tools act on, and tests in documentation.
const fn acted_on_in(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &[
            "#!", ">>>", "coding:", "coding=", "type:", "noqa", "pragma", "pylint", "fmt: ",
            "mypy:", "ruff:", "isort:",
        ],
        Language::JavaScript => &[
            "#!",
            "@ts-",
            "eslint",
            "@jest",
            "@vitest",
            "istanbul",
            "c8 ",
            "-ignore",
            "/// <reference",
            "sourceMapping",
            "@jsx",
        ],
        Language::Rust => &["```", "#!"],
        Language::Go => &["go:", "+build", "cgo", "nolint"],
        Language::C => &["NOLINT", "clang-", "#!"],
        Language::Shell | Language::Ruby | Language::Php => &[
            "#!",
            "shellcheck",
            "rubocop",
            "coding:",
            "frozen_string_literal",
            "@codeCoverage",
            "phpcs",
        ],
        Language::Java | Language::Kotlin | Language::CSharp => &["CHECKSTYLE", "ktlint", "#"],
    }
}

/// Whether two versions of a file differ in comments alone; false for languages that are not known.
#[must_use]
pub fn only_comments(path: &str, old: &str, new: &str) -> bool {
    let (Some(old), Some(new)) = (Source::of(path, old), Source::of(path, new)) else {
        return false;
    };
    old.language == new.language && bare(&old) == bare(&new) && acted_on(&old) == acted_on(&new)
}

/// The lines with code.
fn bare(source: &Source<'_>) -> Vec<String> {
    let code = blanked(&source.code_without_docstrings(), idle(source).into_iter());
    let code = without_annotations(source, &code);
    let lines = code.lines().map(|line| line.trim_end().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Lints, hints and links to documentation in Rust.
fn inert_attributes(source: &Source<'_>) -> Vec<Range<usize>> {
    let inert = pattern!(
        r"#!?\[\s*(?:doc\s*\(|(?:allow|warn|deny|forbid|expect)\s*\(|must_use\b|inline\b|deprecated\b|rustfmt::)"
    );
    let found = inert.find_iter(&source.bare).filter_map(|found| {
        let open = found.start() + found.as_str().find('[')?;
        Some(found.start()..source.closing(open)? + 1)
    });
    found.collect()
}

/// The lines that state a Python package's own version, as a text or in parts, and compute one from the other.
fn versions(source: &Source<'_>) -> Vec<Range<usize>> {
    const COMPUTED: &[&str] =
        &["for", "in", "int", "join", "map", "split", "str", "tuple", "part", "segment", "x", "i"];
    let named = pattern!(r"^(?:_*(?:version|VERSION)(?:_(?:info|tuple|INFO))?_*\s*=\s*)+([^=]+)$");
    let value = pattern!(r#"["'(]\s*\d+\s*[.,]|__version"#);
    let states = |line: &Range<usize>| {
        let (bare, text) = (&source.bare[line.clone()], &source.text[line.clone()]);
        let Some(stated) = named.captures(bare).and_then(|found| found.get(1)) else {
            return false;
        };
        let mut words = pattern!(r"[A-Za-z_]\w*").find_iter(stated.as_str());
        let known = |word: &str| COMPUTED.contains(&word) || word.starts_with("__version");
        words.all(|word| known(word.as_str())) && value.is_match(&text[stated.start()..])
    };
    let lines = source.logical_lines(0..source.text.len()).into_iter();
    let lines =
        lines.filter(|line| source.indent(line.start) == 0).map(|line| source.trimmed(line));
    lines.filter(states).collect()
}

/// Code that does nothing when the program runs.
fn idle(source: &Source<'_>) -> Vec<Range<usize>> {
    match source.language {
        Language::Rust => inert_attributes(source),
        Language::Python => versions(source),
        _ => vec![],
    }
}

/// The lines that more than a reader looks at, wherever they are.
fn acted_on(source: &Source<'_>) -> Vec<String> {
    let parts = acted_on_in(source.language);
    let told = |line: &&str| parts.iter().any(|part| line.contains(part));
    let text = blanked(source.text, idle(source).into_iter());
    let mut lines: Vec<String> =
        text.lines().map(str::trim).filter(told).map(str::to_owned).collect();
    lines.extend(examples(source));
    lines
}

/// Examples in comments that are run and compared: what those of Go and Python are to print, and blocks of code in Rust.
fn examples(source: &Source<'_>) -> Vec<String> {
    let prints = pattern!(r"(?i)^//\s*(?:unordered\s+)?output:");
    let (mut inside, mut found) = (false, Vec::new());
    for line in source.text.lines().map(str::trim) {
        let fence = line.starts_with("//") && line.contains("```");
        match source.language {
            Language::Go => inside = line.starts_with("//") && (inside || prints.is_match(line)),
            Language::Python => {
                let goes_on = inside && !line.is_empty() && !line.starts_with(['"', '\'']);
                inside = line.starts_with(">>>") || goes_on;
            }
            Language::Rust if fence => inside = !inside,
            Language::Rust => inside = inside && line.starts_with("//"),
            _ => return found,
        }
        found.extend(inside.then(|| line.to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_comments_and_docstrings_are_no_code() {
        for (path, old, new) in [
            (
                "a.rs",
                "/// One.\nfn f() -> u8 { 1 } // b\n",
                "/// The one.\n/// Two.\nfn f() -> u8 { 1 }\n",
            ),
            ("a.py", "# one\nx = 1\n", "x = 1  # two\n"),
            (
                "a.py",
                "def f():\n    \"\"\"One.\"\"\"\n    return 1\n",
                "def f():\n    \"\"\"Two.\"\"\"\n    return 1\n",
            ),
            ("a.ts", "/* a */\nconst b = 1;\n", "/* c\n d */\nconst b = 1;\n"),
            (
                "a.rs",
                "//! See [`core::fmt::Formatter`], encoding: ignored.\nfn f() {}\n",
                "fn f() {}\n",
            ),
            ("a.py", "__version__ = '1.0'\nx = 1\n", "__version__ = \"1.1\"\nx = 1\n"),
            (
                "a.py",
                "__version_info__ = (1, 4, 3)\n__version__ = '.'.join(map(str, __version_info__))\n",
                "__version__ = '1.4.4'\n__version_info__ = tuple(int(part) for part in __version__.split('.'))\n",
            ),
            (
                "a.py",
                "__version__ = version = '1.0'\nversion_tuple = (1, 0)\n",
                "__version__ = version = '1.1'\nversion_tuple = (1, 1)\n",
            ),
            (
                "a.rs",
                "#![doc(html_root_url = \"https://a/1.0\")]\n#![allow(unused)]\nfn f() {}\n",
                "#![doc(html_root_url = \"https://a/1.1\")]\n#![allow(\n    unused,\n    dead_code\n)]\n#[must_use]\nfn f() {}\n",
            ),
        ] {
            assert!(only_comments(path, old, new), "{path}: {new}");
        }
    }

    #[test]
    fn code_strings_directives_and_tests_in_documentation_are_more() {
        for (path, old, new) in [
            ("a.rs", "fn f() -> u8 { 1 }\n", "fn f() -> u8 { 2 }\n"),
            ("a.rs", "const A: &str = \"// a\";\n", "const A: &str = \"// b\";\n"),
            ("a.rs", "/// ```\n/// assert!(true);\n/// ```\nfn f() {}\n", "/// a\nfn f() {}\n"),
            (
                "a.rs",
                "/// ```\n/// assert_eq!(f(), 1);\n/// ```\nfn f() {}\n",
                "/// ```\n/// assert_eq!(f(), 2);\n/// ```\nfn f() {}\n",
            ),
            (
                "a_test.go",
                "func ExampleF() {\n\tF()\n\t// Output:\n\t// 1\n}\n",
                "func ExampleF() {\n\tF()\n\t// Output:\n\t// 2\n}\n",
            ),
            (
                "a.py",
                "def f():\n    \"\"\"One.\n\n    >>> f()\n    1\n    \"\"\"\n",
                "def f():\n    \"\"\"One.\n\n    >>> f()\n    2\n    \"\"\"\n",
            ),
            ("a_test.go", "F()\n// unordered output: 1\n", "F()\n// unordered output: 2\n"),
            ("a_test.go", "F()\n//output: 1\n", "F()\n// Prints 1.\n"),
            ("a.py", "x = \"# a\"\n", "x = \"# b\"\n"),
            ("a.py", "if a:\n    b()\n", "if a:\n    pass\nb()\n"),
            ("a.go", "// Package a.\npackage a\n", "//go:build never\n\npackage a\n"),
            ("a.py", "import os\n", "import os  # noqa\n"),
            ("a.js", "f()\n", "// f()\n"),
            ("a.py", "protocol_version = '1.0'\n", "protocol_version = '1.1'\n"),
            ("a.py", "__version__ = '1.0'\n", "__version__ = load('1.1')\n"),
            ("a.py", "version = 1\n", "version = 2\n"),
            ("def.py", "def f():\n    version = '1.0'\n", "def f():\n    version = '1.1'\n"),
            ("a.rs", "fn f() {}\n", "#[cfg(test)]\nfn f() {}\n"),
            ("a.rs", "#[test]\nfn f() {}\n", "#[test]\n#[ignore]\nfn f() {}\n"),
            ("README", "a\n", "b\n"),
        ] {
            assert!(!only_comments(path, old, new), "{path}: {new}");
        }
    }
}
