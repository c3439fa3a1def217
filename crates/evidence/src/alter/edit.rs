//! Edits of a test file, and the resulting file. The parent module chooses the edits.

use std::ops::Range;

/// A test file that must now fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    pub text: String,
    /// The tests that must fail, by their names in the file. Empty for a script, which must fail as a whole.
    pub tests: Vec<String>,
    /// The altered lines: number and original text.
    pub lines: Vec<(u32, String)>,
    /// The name of the planted failing test; for a script, the line.
    pub planted: Option<String>,
}

/// A replacement of a piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: Range<usize>,
    pub(super) with: String,
    /// Whether a literal is changed, which tells more than a negated condition.
    pub(super) telling: bool,
}

/// The text with all edits applied; `None` without any.
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
