//! A change and its signs, as plain data. No detection happens here.

use types::FindingKind;

use crate::files::FileKind;

/// A line of a change that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sign {
    pub kind: FindingKind,
    pub path: String,
    pub line: String,
}

/// A file that a change touches.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    pub path: &'a str,
    pub kind: FileKind,
    /// None for a new file.
    pub old: Option<&'a str>,
    /// None for a deleted file.
    pub new: Option<&'a str>,
}

/// A change with its comparison data.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    pub goal: &'a str,
    pub files: &'a [ChangedFile<'a>],
    /// The texts of test files, before and after the change.
    pub tests: &'a [&'a str],
    /// The texts of production code before the change.
    pub code: &'a [&'a str],
    /// The texts of documents before the change.
    pub documents: &'a [&'a str],
}

impl Change<'_> {
    /// Whether a text occurs in the goal, or occurred in code or documents before the change.
    pub(super) fn knows(&self, text: &str) -> bool {
        self.goal.contains(text)
            || self.code.iter().chain(self.documents).any(|known| known.contains(text))
    }

    /// Whether code or the goal already mentioned something.
    pub(super) fn code_knows(&self, text: &str) -> bool {
        self.goal.contains(text) || self.code.iter().any(|known| known.contains(text))
    }
}

/// The longest line that is kept, in characters.
const LONGEST: usize = 160;

pub(super) fn sign(kind: FindingKind, path: &str, line: &str) -> Sign {
    Sign { kind, path: path.to_owned(), line: line.trim().chars().take(LONGEST).collect() }
}
