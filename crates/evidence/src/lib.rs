//! Analysis of evidence: reports of test runners, effects of diffs, and the sensitivity of tests.
//!
//! Pure functions over texts. They know no run, no policy decisions and no files; the caller provides the texts and
//! records the results.

pub mod alter;
mod cases;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod highlight;
pub mod links;
pub mod moved;
pub mod mutate;
mod pattern;
pub mod related;
pub mod report;
pub mod signs;
mod source;
pub mod workspace;
