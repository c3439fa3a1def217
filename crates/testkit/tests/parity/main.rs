//! Parity: a single agent has the same abilities with every family of models. Fifteen rows, each for the four profiles,
//! with scripted replies in the provider's own wire format over loopback HTTP. The dialects, the loop, the tools and
//! the files are real. Every request is checked against the rules of its provider; a row fails if one is broken.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod agents;
mod commands;
mod faults;
mod files;
mod pieces;
mod stage;
mod talk;
