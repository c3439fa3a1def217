//! What one agent can do, held to be the same for every family of models: fifteen rows, each for the four profiles, with
//! scripted replies in the provider's own wire format over loopback HTTP. The dialects, the loop, the tools and the
//! files are real. Every request is held to the rules of its provider; a row fails when one of them breaks.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod agents;
mod commands;
mod faults;
mod files;
mod pieces;
mod stage;
mod talk;
