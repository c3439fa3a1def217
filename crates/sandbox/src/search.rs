//! Searching files by content and by name: requests and answers, patterns, and the fast search of this machine
//! (`walk.rs`). The search that works in any environment, by its listing and its files, is in `environment.rs`. Links are
//! never followed.

mod hidden;
mod lines;
mod near;
mod notable;
mod pattern;
mod request;
mod survey;
pub(crate) mod walk;

pub(crate) use hidden::Hidden;
pub(crate) use lines::search_slice;
pub(crate) use notable::NotableNames;
pub(crate) use pattern::{Include, below, glob_of, matcher};
pub(crate) use request::MAX_UNNAMED;
pub use request::{Found, GlobRequest, GrepRequest, Hits, Line};
pub(crate) use survey::Survey;

#[cfg(test)]
mod tests;
