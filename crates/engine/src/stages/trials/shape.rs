//! The kind of a change: code, tests, documents. Derived from file names, and from whether anything but comments
//! changed.

use evidence::files::{FileKind, kind};
use types::{ChangeKind, Changes};

/// The kinds of files in a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// Executable code.
    pub(crate) code: bool,
    /// Existing tests, their expected data, or their configuration.
    pub(crate) tests_touched: bool,
    /// New or changed tests.
    pub(crate) brings_tests: bool,
    /// Data, which code or tests may read.
    pub(crate) data: bool,
    /// Comments.
    pub(crate) comments: bool,
}

impl Shape {
    pub(crate) fn of(changes: &Changes, tests: &[String]) -> Self {
        let mut shape = Self::default();
        for change in &changes.0 {
            let path = change.path.as_str();
            if change.only_comments {
                shape.comments = true;
                continue;
            }
            let new = change.how == ChangeKind::Added;
            match kind(path, tests) {
                FileKind::Code => {
                    shape.code = true;
                    // Unit tests may be in the source file.
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

/// Verbs for work that keeps behaviour unchanged.
const KEEPING: &[&str] = &[
    "refactor",
    "rename",
    "move",
    "reformat",
    "tidy",
    "clean",
    "cleanup",
    "simplify",
    "extract",
    "inline",
    "restructure",
    "reorganise",
    "reorganize",
    "deduplicate",
    "annotate",
];

/// Verbs for work that removes something.
const TAKING_AWAY: &[&str] = &["delete", "remove", "drop", "retire"];

/// Whether a text asks for work that keeps behaviour unchanged.
pub(super) fn keeps_behaviour(text: &str) -> bool {
    begins_with(text, KEEPING)
}

/// Whether a text asks for a removal.
pub(super) fn takes_away(text: &str) -> bool {
    begins_with(text, TAKING_AWAY)
}

/// Whether a text begins with one of these verbs. Later words may be part of a name.
fn begins_with(text: &str, verbs: &[&str]) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    verbs.contains(&first.to_lowercase().trim_end_matches(|c: char| !c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_comments_alone_changed_is_no_code() {
        let change = |path: &str, only_comments| types::FileChange {
            path: path.parse().expect("a path"),
            added: 1,
            removed: 1,
            how: ChangeKind::Modified,
            only_comments,
        };
        let shape = |changes: Vec<_>| Shape::of(&Changes(changes), &[]);
        let comments = Shape { comments: true, ..Shape::default() };
        assert_eq!(shape(vec![change("src/a.rs", true), change("tests/a.py", true)]), comments);
        assert!(shape(vec![change("src/a.rs", true), change("src/b.rs", false)]).code);
    }

    #[test]
    fn only_the_verb_of_a_request_says_that_behaviour_stays() {
        assert!(keeps_behaviour("Rename total to sum in stock.py"));
        assert!(keeps_behaviour("Clean up the parser"));
        assert!(!keeps_behaviour("Make format_amount move the sign to the end"));
        assert!(!keeps_behaviour("Split a bill among people"));
        assert!(takes_away("Delete the unused function shout"));
        assert!(!takes_away("Make drop_shadow return a colour"));
    }
}
