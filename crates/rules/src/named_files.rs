//! The files that a request names, and where its work may write because of that.

use types::WorkPath;

use crate::reading;

/// The most files that an Intent Spec of ours names.
pub const MOST_FILES: usize = 20;

/// Where whoever carries out a request may write: the files that it names, or, if it names none, anywhere.
pub fn places(text: &str) -> Vec<String> {
    match named_in(text).as_slice() {
        [] => vec!["./".to_owned()],
        files => files.iter().map(ToString::to_string).collect(),
    }
}

/// The files that a text names, in the order of their paths.
#[must_use]
pub fn named_in(text: &str) -> Vec<WorkPath> {
    let mut files = reading::files(text);
    files.sort();
    files.dedup();
    files.truncate(MOST_FILES);
    files
}
