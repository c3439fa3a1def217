//! The server over a real socket.
#![allow(clippy::disallowed_methods, reason = "the client's side of a socket")]
#![allow(clippy::expect_used, clippy::panic, reason = "a failed step ends its test")]

mod connections;
mod login;
mod stage;
mod streams;
