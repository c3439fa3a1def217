//! A changed file of production code: its text without unit tests, its new lines, and its kind as far as its form
//! tells: a program, or a library.

use types::FindingKind;

use super::sign::{ChangedFile, Sign, sign};
use crate::files::without_unit_tests;
use crate::pattern::pattern;
use crate::source::{Language, Source};

pub(super) struct Production {
    pub(super) path: String,
    language: Language,
    text: String,
    old: Option<String>,
}

/// A parsed file of production code.
pub(super) struct View<'a> {
    pub(super) path: &'a str,
    pub(super) source: Source<'a>,
    /// The text without comments.
    pub(super) code: String,
    pub(super) old: Option<&'a str>,
    pub(super) lines: Vec<Line>,
}

/// A new line of code, without comments.
pub(super) struct Line {
    pub(super) at: usize,
    pub(super) text: String,
}

/// Extensions of other languages.
const OTHERS: &[&str] = &[
    "awk", "gawk", "pl", "pm", "lua", "sql", "tcl", "jq", "r", "jl", "ex", "erl", "hs", "ml", "fs",
    "clj", "lisp", "el", "scm", "nim", "zig", "d", "pas", "ps1", "cr", "sed", "bat", "vb", "mk",
    "cmake", "coffee", "elm",
];

/// The language that a file is read as. Other languages mostly share Python's strings and comments.
fn language(path: &str, text: &str) -> Option<Language> {
    let end = path.rsplit('/').next()?.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let other = match end {
        Some(end) => OTHERS.contains(&end.as_str()),
        None => text.starts_with("#!"),
    };
    Language::of(path, text).or(other.then_some(Language::Python))
}

impl Production {
    /// `None` for a deleted file or an unknown language.
    pub(super) fn of(file: &ChangedFile<'_>) -> Option<Self> {
        let new = file.new?;
        let language = language(file.path, new)?;
        let plain = |text: &str| match language {
            Language::Rust => without_unit_tests(text),
            _ => text.to_owned(),
        };
        Some(Self {
            path: file.path.to_owned(),
            language,
            text: plain(new),
            old: file.old.map(plain),
        })
    }

    pub(super) fn view(&self) -> View<'_> {
        let source = Source::new(self.language, &self.text);
        let code = source.code_without_docstrings();
        let lines = added(&code, &self.text, self.old.as_deref().unwrap_or_default());
        View { path: &self.path, source, code, old: self.old.as_deref(), lines }
    }
}

/// The lines of code that the old text does not have.
fn added(code: &str, text: &str, old: &str) -> Vec<Line> {
    let mut before: Vec<&str> = old.lines().map(str::trim).collect();
    let (mut at, mut found) = (0, Vec::new());
    for (line, raw) in code.split('\n').zip(text.split('\n')) {
        let known = before.iter().position(|other| *other == raw.trim());
        match known {
            Some(place) => drop(before.swap_remove(place)),
            None if line.trim().is_empty() => {}
            None => found.push(Line { at, text: line.to_owned() }),
        }
        at += line.len() + 1;
    }
    found
}

/// Whether a text has this word, not as a part of a longer one.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

impl View<'_> {
    pub(super) fn language(&self) -> Language {
        self.source.language
    }

    /// All new lines of code in one text.
    pub(super) fn added(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// A sign at the line around an offset, as written in the file.
    pub(super) fn sign(&self, kind: FindingKind, at: usize) -> Sign {
        sign(kind, self.path, self.source.line_at(at))
    }

    /// The new lines that are signs.
    pub(super) fn signs(&self, kind: FindingKind, is_sign: impl Fn(&Line) -> bool) -> Vec<Sign> {
        let lines = self.lines.iter().filter(|line| is_sign(line));
        lines.map(|line| self.sign(kind, line.at)).collect()
    }

    /// The code of a line without comments and the contents of strings.
    pub(super) fn bare(&self, line: &Line) -> &str {
        &self.source.bare[line.at..line.at + line.text.len()]
    }

    /// The offset of the first non-blank character of a line.
    pub(super) fn start(&self, line: &Line) -> usize {
        line.at + (line.text.len() - line.text.trim_start().len())
    }

    /// The code around a line.
    pub(super) fn around(&self, line: &Line, lines: usize) -> String {
        let number = self.code[..line.at.min(self.code.len())].matches('\n').count();
        let first = number.saturating_sub(lines);
        self.code.split('\n').skip(first).take(2 * lines + 1).collect::<Vec<_>>().join("\n")
    }

    /// Whether the file is a program rather than a library: by its path and name.
    pub(super) fn is_program(&self) -> bool {
        if self.language() == Language::Go {
            return pattern!(r"(?m)^package\s+main\b").is_match(&self.code);
        }
        pattern!(
            r"(?i)(?:^|/)(?:bin|cmd|scripts?|tools?|examples?|benches|xtask)/|(?:^|/)(?:main|cli|__main__|manage|server|index|app|setup|wsgi|run)\.\w+$|(?:^|/)\w*[_-]?cli\.\w+$|(?:^|/)[^./]+$"
        )
        .is_match(self.path)
    }

    /// Whether an offset is inside code that runs only when the file is started.
    pub(super) fn is_entry(&self, at: usize) -> bool {
        let entry = pattern!(
            r#"__main__|\b(?:def|fn|func|function|void|int|fun|sub)\s+(?:main|Main|cli|run_cli|cmd_\w+)\b|\bmain\s*=|require\.main\s*===?\s*module|import\.meta\.main|BASH_SOURCE|\bstatic\s+void\s+[mM]ain\b|^main\s*\(\)|PROGRAM_NAME|^\s*static\s+\w+\s+Main\b"#
        );
        self.source.heads(at).iter().any(|head| entry.is_match(head))
    }
}
