//! A change as files, hunks and rows, with syntax highlighting. The patch comes from git, the text in it from an agent:
//! sizes are bounded, invalid UTF-8 is replaced, and control characters that could disguise a line are made visible.

mod kinds;
mod patch;

use evidence::highlight::{self, Class};
use runtime::RunDiff;
use schemars::JsonSchema;
use serde::Serialize;
use types::{CommitId, visible};

pub use kinds::{DiffStatus, RowKind};
use patch::{RawFile, RawHunk, RawRow};

/// Maximum number of rows of a file, and of all files.
pub const MOST_ROWS: usize = 20_000;
const MOST_ROWS_IN_ALL: usize = 60_000;
/// Maximum number of files.
const MOST_FILES: usize = 3_000;
/// Maximum number of bytes highlighted; the rest is plain.
const MOST_COLOURED: usize = 2 * 1024 * 1024;

/// What was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffView {
    pub from: CommitId,
    pub to: CommitId,
    pub files: Vec<DiffFile>,
    pub added: u64,
    pub removed: u64,
    /// How many files are not listed, because there are too many.
    pub left_out: u64,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffFile {
    pub path: String,
    /// What it was called before, if it was renamed.
    pub old_path: Option<String>,
    pub status: DiffStatus,
    /// The new mode, if that changed, such as `100755`.
    pub mode: Option<String>,
    pub added: u64,
    pub removed: u64,
    /// It is not text, so there are no rows.
    pub binary: bool,
    pub hunks: Vec<DiffHunk>,
    /// How many rows are not here, because there are too many.
    pub left_out: u64,
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffHunk {
    /// As git writes it, with the function that it is in.
    pub header: String,
    pub rows: Vec<DiffRow>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffRow {
    pub kind: RowKind,
    /// Its number before, and after; not there where it was added or removed.
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// Its text, in parts of one colour.
    pub spans: Vec<DiffSpan>,
    /// How many characters are not here, because the line is too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The file ends here without the end of a line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffSpan {
    pub class: SpanClass,
    pub text: String,
}

/// Keyword, string, comment, number, or nothing of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum SpanClass {
    #[serde(rename = "")]
    Plain,
    #[serde(rename = "k")]
    Keyword,
    #[serde(rename = "s")]
    String,
    #[serde(rename = "c")]
    Comment,
    #[serde(rename = "n")]
    Number,
}

impl From<Class> for SpanClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Plain => Self::Plain,
            Class::Keyword => Self::Keyword,
            Class::String => Self::String,
            Class::Comment => Self::Comment,
            Class::Number => Self::Number,
        }
    }
}

/// The view of a change.
#[must_use]
pub fn diff(diff: &RunDiff) -> DiffView {
    let (from, to) = (diff.from.clone(), diff.to.clone());
    let raw = patch::read(&diff.patch, MOST_ROWS, MOST_ROWS_IN_ALL, MOST_FILES);
    let mut coloured = 0;
    let files: Vec<DiffFile> =
        raw.files.into_iter().map(|file| shown(file, &mut coloured)).collect();
    let sum = |of: fn(&DiffFile) -> u64| files.iter().map(of).fold(0, u64::saturating_add);
    DiffView {
        from,
        to,
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
        files,
        left_out: raw.left_out,
    }
}

fn shown(file: RawFile, coloured: &mut usize) -> DiffFile {
    let path = visible(&file.path);
    let hunk = |hunk: RawHunk| {
        let bytes: usize = hunk.rows.iter().map(|row| row.text.len() + 1).sum();
        *coloured = coloured.saturating_add(bytes);
        let plain = *coloured > MOST_COLOURED;
        let rows = if plain { colours("", &hunk.rows) } else { colours(&file.path, &hunk.rows) };
        DiffHunk { header: visible(&hunk.header), rows }
    };
    DiffFile {
        old_path: file.old_path.as_deref().map(visible),
        status: file.status,
        mode: file.mode,
        added: file.added,
        removed: file.removed,
        binary: file.binary,
        hunks: file.hunks.into_iter().map(hunk).collect(),
        left_out: file.left_out,
        path,
    }
}

/// The rows of a hunk with syntax highlighting.
fn colours(path: &str, rows: &[RawRow]) -> Vec<DiffRow> {
    let line = |row: &RawRow| {
        let sign = match row.kind {
            RowKind::Added => '+',
            RowKind::Removed => '-',
            RowKind::Context => ' ',
        };
        (sign, visible(&row.text))
    };
    let pieces = highlight::hunk(path, &rows.iter().map(line).collect::<Vec<_>>());
    let span = |(class, text): (Class, String)| DiffSpan { class: class.into(), text };
    let row = |(row, pieces): (&RawRow, Vec<(Class, String)>)| DiffRow {
        kind: row.kind,
        old: row.old,
        new: row.new,
        spans: pieces.into_iter().map(span).collect(),
        left_out: row.left_out,
        no_newline: row.no_newline,
    };
    rows.iter().zip(pieces).map(row).collect()
}

#[cfg(test)]
mod tests;
