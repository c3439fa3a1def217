//! The model layer from outside: recorded answers of real providers, and servers that misbehave.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "these are tests"
)]

mod broken;
mod bulk;
mod clouds;
mod faults;
mod injected;
mod onion;
mod server;
mod traffic;
mod whole;
