//! The vocabulary of Bosun, each word defined once, as plain data: everything that is stored, sent and shown.
//!
//! | word | meaning |
//! |---|---|
//! | request | the input of a person: text or spec, hints, budget |
//! | run | one request being worked on, from admission to report |
//! | spec | the goal and how it will be checked; every version is immutable |
//! | plan, task | tasks with dependencies, roles, artifacts, acceptance; one of them |
//! | attempt | one try at a task, in its own worktree |
//! | role | a prompt, tools, limits, a model |
//! | session | one conversation with a model |
//! | turn, call | one model reply; one tool call in it |
//! | check | a command that Bosun itself runs |
//! | gate | go or no-go between two phases, from evidence |
//! | question | something only a person can decide |
//! | rule, decision | a named entry of a policy; its outcome, with reason and inputs |
//! | fault | a failure of the outside world or of an attempt; its class selects the remedy |
//! | event | a recorded fact; the only thing that is stored |
//! | input | anything that reaches the engine |
//! | effect | something the state asks of the outside world |
//! | report | the final result for the person |
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
mod nearest;
mod options;
mod path;
mod permission;
mod plan;
mod planning;
mod policy;
mod profile;
mod question;
mod recovery;
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
pub use nearest::{edit_distance, nearest};
pub use options::*;
pub use path::*;
pub use permission::*;
pub use plan::*;
pub use planning::*;
pub use policy::*;
pub use profile::*;
pub use question::*;
pub use recovery::*;
pub use report::*;
pub use request_rules::*;
pub use sensitive::{Sensitive, holds_key};
pub use session::*;
pub use session_view::*;
pub use shape::{Field, Problem, Shape};
pub use spec::*;
pub use spending::*;
pub use text::{count, one_line, shell_word, visible};
pub use time::*;
pub use tool::*;
pub use tool_policy::*;
pub use user_request::*;
pub use verify_policy::*;
pub use wording::Wording;
pub use workspace::*;
