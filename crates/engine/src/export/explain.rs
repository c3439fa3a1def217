//! Explanations of decisions: evaluates the same rules again, one by one.

mod tables;
mod why;

pub use why::{Given, Why, decision, is_about, is_decided, place, why};
