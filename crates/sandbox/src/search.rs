//! Searches files by content and by name: requests and results, patterns, and the fast search of this machine
//! (`walk.rs`). The generic search, based on an environment's listing and files, is in `environment.rs`. Links below
//! the start of a search are never followed.

mod hidden;
mod ignores;
mod lines;
mod notable;
mod odd;
mod pattern;
mod request;
mod survey;
pub(crate) mod walk;

pub(crate) use hidden::Hidden;
pub(crate) use lines::search_slice;
pub(crate) use notable::{NotableNames, OddPath};
pub(crate) use odd::remove_odd;
pub(crate) use pattern::{Include, below, glob_of, matcher};
pub(crate) use request::MAX_UNNAMED;
pub use request::{Found, GlobRequest, GrepRequest, Hits, Line};
pub(crate) use survey::Survey;

#[cfg(test)]
mod tests;
