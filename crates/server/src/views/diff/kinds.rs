//! The parts of a change: files, hunks, rows, and their kinds.

use evidence::highlight::Class;
use schemars::JsonSchema;
use serde::Serialize;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum RowKind {
    #[serde(rename = " ")]
    Context,
    #[serde(rename = "+")]
    Added,
    #[serde(rename = "-")]
    Removed,
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

impl DiffRow {
    /// Its whole text.
    pub(super) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
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
