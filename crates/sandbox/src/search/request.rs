//! Requests and results of searches, independent of how files are found.

use types::WorkPath;

/// A search for file contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// A regular expression in the syntax of ripgrep.
    pub pattern: String,
    /// A folder, with everything below it, or one file.
    pub path: WorkPath,
    /// Only files whose name (or path, if the glob has a slash) matches this glob.
    pub include: Option<String>,
    pub ignore_case: bool,
    /// Number of lines shown around each match.
    pub context: usize,
    /// Maximum number of matching lines in total.
    pub max: usize,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    pub path: WorkPath,
    /// Number of matching lines.
    pub count: u64,
    /// Matching lines and their context, in order.
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// Whether the line matches; otherwise it is context.
    pub matched: bool,
    pub text: String,
}

/// A search for file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobRequest {
    /// A glob over paths below `path`; `**` stands for any number of folders.
    pub pattern: String,
    pub path: WorkPath,
    pub max: usize,
}

/// Search results, and whether the limit cut them off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    pub items: Vec<T>,
    pub more: bool,
    /// The first files that may match but whose names no path can express, escaped.
    pub unnamed: Vec<String>,
}

/// Maximum number of entries in [`Found::unnamed`].
pub(crate) const MAX_UNNAMED: usize = 50;
