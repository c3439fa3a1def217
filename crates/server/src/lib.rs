//! `bosun serve`: an HTTP API, live streams and a page over the runs of one journal.
//!
//! This crate owns listening sockets and nothing else. It keeps no state of its own about runs: whatever it shows is read
//! from the journal through `runtime`, and whatever it does is done by the functions that the terminal uses too.

pub mod views;
