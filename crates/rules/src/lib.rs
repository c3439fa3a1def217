//! Rules: pure, deterministic functions that evaluate a text, a plan, a call or a change by a policy. No state, no I/O,
//! no model calls, and no knowledge of the run.

pub mod admission;
pub mod approval;
pub mod beside;
pub mod command;
pub mod condition;
pub mod context;
pub mod contract;
pub mod dag;
pub mod explain;
pub mod findings;
pub mod folder;
mod front_matter;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod isolation;
pub mod ledger;
pub mod looked;
pub mod manifest;
pub mod named_files;
pub mod permit;
mod phrase;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod prompt;
pub mod reading;
pub mod routing;
pub mod spec;
pub mod truncate;
