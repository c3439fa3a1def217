//! Judges that know no run: given a text, a plan, a call or a change, and a policy, what do the rules say? Pure,
//! synchronous, deterministic. Nothing here has state, asks a model, or knows which run a question comes from.

pub mod admission;
pub mod approval;
pub mod command;
pub mod condition;
pub mod context;
pub mod contract;
pub mod dag;
pub mod explain;
pub mod findings;
pub mod folder;
mod front_matter;
#[doc(hidden)]
pub mod fuzzing;
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
pub mod review_id;
pub mod routing;
pub mod spec;
pub mod truncate;
