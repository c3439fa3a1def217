//! What the input line is used for beside typing: a grant that is edited, a search, a list of files. Data only; what the keys
//! make of it is elsewhere.

/// What is being edited before it is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granting {
    pub(crate) question: u32,
    /// In every session.
    pub(crate) always: bool,
}

/// A search under way.
#[derive(Debug, Default)]
pub(crate) struct HistorySearch {
    pub(crate) query: String,
    /// How many matches are passed over.
    pub(crate) skipped: usize,
    /// What was being typed when it began.
    pub(crate) before: String,
}

/// The files of the folder, as far as they are known.
#[derive(Debug, Default)]
pub(crate) enum Files {
    #[default]
    Unknown,
    /// Somebody is looking.
    Wanted,
    /// Each with its name in lower case.
    Found(Vec<(String, String)>),
}
