//! The stages of a run, from admission to the report. Each reads the state and returns events; none changes anything,
//! and the state below knows none of them. `coordinator/decide.rs` has their order.

pub(crate) mod advice;
pub(crate) mod baseline;
pub(crate) mod brief;
pub(crate) mod brief_json;
pub(crate) mod budget;
pub(crate) mod context;
pub(crate) mod failure;
pub mod gate;
pub mod intake;
pub(crate) mod intent;
pub(crate) mod isolation;
pub(crate) mod limits;
pub(crate) mod merge;
pub mod plan;
pub(crate) mod question;
#[cfg(test)]
mod question_tests;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod route;
pub(crate) mod schedule;
pub(crate) mod tester;
pub(crate) mod trials;
pub(crate) mod verify;
