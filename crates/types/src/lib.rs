//! The vocabulary of Bosun, each word defined once, as plain data: everything that is stored, sent and shown.
//!
//! ARCHITECTURE.md has the glossary.
//!
//! Nothing here decides or touches anything: parsing and printing is the only behaviour.

mod check;
pub mod choices;
mod commit;
mod contract;
mod decision;
mod described;
mod digest;
mod effect;
mod envelope;
mod event;
mod evidence;
mod exec;
mod family;
mod fault;
mod gate;
mod grants;
mod id;
mod input;
mod isolation;
mod issue;
mod kind;
mod listed;
mod message;
mod model;
mod model_failure;
mod model_ref;
mod money;
mod options;
mod path;
mod permission;
mod plan;
mod planning;
mod policy;
mod profile;
mod question;
mod report;
mod request_rules;
mod sensitive;
mod session;
mod session_view;
mod shape;
mod spec;
mod spending;
mod summary;
mod text;
mod time;
mod tool;
mod tool_policy;
mod user_request;
mod verify_policy;
mod wording;
mod workspace;
pub mod yaml;

pub use check::*;
pub use commit::*;
pub use contract::*;
pub use decision::*;
pub use digest::*;
pub use effect::*;
pub use envelope::*;
pub use event::*;
pub use evidence::*;
pub use exec::*;
pub use family::*;
pub use fault::*;
pub use gate::*;
pub use grants::*;
pub use id::*;
pub use input::*;
pub use isolation::*;
pub use listed::*;
pub use message::*;
pub use model::*;
pub use model_failure::*;
pub use model_ref::*;
pub use money::*;
pub use options::*;
pub use path::*;
pub use permission::*;
pub use plan::*;
pub use planning::*;
pub use policy::*;
pub use profile::*;
pub use question::*;
pub use report::*;
pub use request_rules::*;
pub use sensitive::{Sensitive, holds_key};
pub use session::*;
pub use session_view::*;
pub use shape::{Field, Problem, Shape};
pub use spec::*;
pub use spending::*;
pub use text::{count, edit_distance, headline, nearest, one_line, shell_word, visible};
pub use time::*;
pub use tool::*;
pub use tool_policy::*;
pub use user_request::*;
pub use verify_policy::*;
pub use wording::Wording;
pub use workspace::*;

/// For serde: whether a value is left out of what is written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// For serde: what is on unless it is turned off.
pub(crate) const fn yes() -> bool {
    true
}
