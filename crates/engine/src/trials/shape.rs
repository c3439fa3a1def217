//! What sort of change a result is: code, tests, documents. Told by the names of files alone.

use evidence::files::{FileKind, kind};
use types::{ChangeKind, Changes};

/// What a change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// Code that runs.
    pub(crate) code: bool,
    /// Tests that were there, what they compare with, or what decides how they run.
    pub(crate) tests_touched: bool,
    /// Tests that are new or changed.
    pub(crate) brings_tests: bool,
    /// Data, which code or tests may read.
    pub(crate) data: bool,
}

impl Shape {
    pub(crate) fn of(changes: &Changes, tests: &[String]) -> Self {
        let mut shape = Self::default();
        for change in &changes.0 {
            let path = change.path.as_str();
            let new = change.how == ChangeKind::Added;
            match kind(path, tests) {
                FileKind::Code => {
                    shape.code = true;
                    // Unit tests may stand beside the code.
                    let beside = path.ends_with(".rs");
                    shape.tests_touched |= beside && !new;
                    shape.brings_tests |= beside;
                }
                FileKind::Test => {
                    shape.tests_touched |= !new;
                    shape.brings_tests |= change.how != ChangeKind::Deleted;
                }
                FileKind::Recipe => shape.tests_touched = true,
                FileKind::Data => {
                    shape.data = true;
                    shape.tests_touched |= !new;
                    shape.brings_tests |= !new;
                }
                FileKind::Document => {}
            }
        }
        shape
    }
}

/// Words for work that leaves behaviour as it is.
const KEEPING: &[&str] = &[
    "refactor",
    "rename",
    "reformat",
    "format",
    "tidy",
    "clean up",
    "cleanup",
    "simplify",
    "extract",
    "inline",
    "restructure",
    "reorganise",
    "reorganize",
    "deduplicate",
    "move",
    "type hint",
    "type annotation",
    "annotate",
    "lint",
    "dead code",
    "split",
];

/// Words for work that takes something away.
const TAKING_AWAY: &[&str] = &["delete", "remove", "drop", "unused", "get rid of", "retire"];

/// Whether a text asks for work that leaves behaviour as it is.
pub(super) fn keeps_behaviour(text: &str) -> bool {
    has_word(text, KEEPING)
}

/// Whether a text asks for something to be taken away.
pub(super) fn takes_away(text: &str) -> bool {
    has_word(text, TAKING_AWAY)
}

/// Whether a word of the list begins somewhere in a text.
fn has_word(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    let begins = |word: &str| {
        let before = |at: usize| text[..at].chars().next_back();
        text.match_indices(word).any(|(at, _)| !before(at).is_some_and(char::is_alphanumeric))
    };
    words.iter().any(|word| begins(word))
}
