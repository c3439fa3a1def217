//! Edits of a test file, and the file that they make. Which edits are made is decided beside it.

use std::ops::Range;

/// A test file that must fail now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    pub text: String,
    /// The tests that must fail, as they are named in the file. Empty for a script, which must fail as a whole.
    pub tests: Vec<String>,
    /// The lines that were altered: number and text as they were.
    pub lines: Vec<(u32, String)>,
    /// The name of the failing test that was added; for a script, the line.
    pub planted: Option<String>,
}

/// A piece of text to put in the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: Range<usize>,
    pub(super) with: String,
    /// Whether a literal is changed, which tells more than a condition that is turned round.
    pub(super) telling: bool,
}

/// The text with all edits made; None without any.
pub(super) fn applied(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| (edit.at.start, edit.at.end));
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        if edit.at.start < at {
            continue;
        }
        out.push_str(&text[at..edit.at.start]);
        out.push_str(&edit.with);
        at = edit.at.end;
    }
    out.push_str(&text[at..]);
    Some(out)
}
