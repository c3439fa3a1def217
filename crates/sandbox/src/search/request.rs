//! What a search is asked for and what it answers. How files are found is not decided here.

use types::WorkPath;

/// What to look for in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// A regular expression in the syntax of ripgrep.
    pub pattern: String,
    /// A folder, with all below it, or one file.
    pub path: WorkPath,
    /// Only files whose name (or path, if it has a slash) fits this glob.
    pub include: Option<String>,
    pub ignore_case: bool,
    /// How many lines around each match are shown.
    pub context: usize,
    /// The most matching lines in all.
    pub max: usize,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    pub path: WorkPath,
    /// How many lines match.
    pub count: u64,
    /// Matching lines and those around them, in order.
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// Whether it matches, or only stands near one that does.
    pub matched: bool,
    pub text: String,
}

/// What files to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobRequest {
    /// A glob over paths below `path`; `**` stands for any number of folders.
    pub pattern: String,
    pub path: WorkPath,
    pub max: usize,
}

/// What was found, and whether the limit kept more from being found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    pub items: Vec<T>,
    pub more: bool,
    /// Files that may fit and that no path can name, escaped; the first of them.
    pub unnamed: Vec<String>,
}

/// How many files that no path can name are told of.
pub(crate) const MAX_UNNAMED: usize = 50;
