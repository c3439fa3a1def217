//! Other uses of the input line: editing a grant, searching the history, listing files. Data only; the key handling is
//! elsewhere.

/// A grant being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granting {
    pub(crate) question: u32,
    /// For every session.
    pub(crate) always: bool,
}

/// An ongoing search.
#[derive(Debug, Default)]
pub(crate) struct HistorySearch {
    pub(crate) query: String,
    /// Number of matches passed over.
    pub(crate) skipped: usize,
    /// Input at the start of the search.
    pub(crate) before: String,
}

/// The known files of the folder.
#[derive(Debug, Default)]
pub(crate) enum Files {
    #[default]
    Unknown,
    /// The listing is in progress.
    Wanted,
    /// Paths, each with its lower-case form.
    Found(Vec<(String, String)>),
}
