//! Views of a run for the page and other clients: plain data, computed from its state and its recorded lines. Nothing
//! here reads a journal or a socket.

pub mod artifacts;
pub mod checks;
pub mod diff;
pub mod events;
pub mod gate;
pub mod graph;
pub mod money;
pub mod source;
pub mod spec;
pub mod task;
pub mod timeline;
pub mod why;

pub use source::Recorded;

#[cfg(test)]
mod every_line_tests;
#[cfg(test)]
mod testing;
