//! The kind of a change: code, tests, documents. Derived from file names, and from whether anything but comments
//! changed.

use evidence::files::{FileKind, kind_of};
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
            match kind_of(change, tests) {
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
}
