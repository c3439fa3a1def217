//! Judges of what Bosun saw: what a test runner reported, what a diff does, what a test would notice.
//!
//! Pure functions over texts. They know no run, no policy decisions and no files; whoever has the texts calls them,
//! and whoever decides reads what they return from the log.

pub mod alter;
mod cases;
pub mod files;
#[doc(hidden)]
pub mod fuzzing;
pub mod links;
mod pattern;
pub mod related;
pub mod report;
pub mod signs;
mod source;
pub mod workspace;
