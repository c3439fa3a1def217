//! The choices of questions that change a run's state, as recorded.

/// Ends the run, in order.
pub const STOP: &str = "stop";
/// Evaluates a gate again.
pub const AGAIN: &str = "again";
/// Passes a gate despite its no-go.
pub const GO: &str = "go";
/// Repeats the work before a gate.
pub const RETRY: &str = "retry";
/// Accepts a result in spite of its checks.
pub const ACCEPT: &str = "accept";
/// The same, and drops the checks that object to it.
pub const DROP: &str = "drop";
/// Names another check for the untouched tree.
pub const CHECK: &str = "check";
/// Adds a set-up command for fresh checkouts.
pub const SETUP: &str = "setup";
/// Drops a check that fails on the untouched tree.
pub const LEAVE: &str = "leave";
