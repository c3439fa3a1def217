//! The syntax classes, and the parts of a text that have one.

use std::ops::Range;

/// The syntax class of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Plain,
    Keyword,
    String,
    Comment,
    Number,
}

/// Classified parts of a text, in order and without overlap.
pub(super) type Tokens = Vec<(Range<usize>, Class)>;
