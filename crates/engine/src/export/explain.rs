//! Why something was decided in a run: the same rules asked again, one by one.

mod tables;
mod why;

pub use why::{Given, Why, decision, is_about, is_decided, place, why};
