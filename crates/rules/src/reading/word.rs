//! The words of a text, with their notation and the preceding pause. How a text is cut into words is not decided here.

/// How a word is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Prose,
    /// Inside quotation marks.
    Quoted,
    /// Part of a path, a name or a piece of code.
    Code,
}

/// The punctuation before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pause {
    None,
    Clause,
    Sentence,
}

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case.
    pub(crate) text: String,
    pub(crate) voice: Voice,
    pub(crate) pause: Pause,
    /// It is joined to its neighbour, as in `to-do` or `get_user`.
    pub(crate) tied: bool,
}

impl Word {
    /// Whether it is only a part of a name in the code: `steal` in `steal_work()`.
    pub(crate) fn is_part_of_a_name(&self) -> bool {
        self.voice == Voice::Code && self.tied
    }

    /// Whether it is this word; with a star at its end, whether it begins so.
    pub(crate) fn is(&self, wanted: &str) -> bool {
        match wanted.strip_suffix('*') {
            Some(start) => self.text.starts_with(start),
            None => self.text == wanted,
        }
    }
}
