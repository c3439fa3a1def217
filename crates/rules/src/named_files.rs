//! Files named in a request, and the scope for writing that follows from them.

use types::WorkPath;

use crate::reading;

/// Maximum number of files that a generated Intent Spec names.
pub const MOST_FILES: usize = 20;

/// The scope of a request for writing: the files that it names or, if it names none, the whole workspace.
#[must_use]
pub fn places(text: &str) -> Vec<String> {
    match named_in(text).as_slice() {
        [] => vec!["./".to_owned()],
        files => files.iter().map(ToString::to_string).collect(),
    }
}

/// The files that a text names, sorted by path.
#[must_use]
pub fn named_in(text: &str) -> Vec<WorkPath> {
    let mut files = reading::files(text);
    files.sort();
    files.dedup();
    files.truncate(MOST_FILES);
    files
}
