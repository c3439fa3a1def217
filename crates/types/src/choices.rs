//! The words of the choices that questions offer and that change a run's state, as they stand on record.

/// Ends the run, in order.
pub const STOP: &str = "stop";
/// Judges a gate again.
pub const AGAIN: &str = "again";
/// Passes a gate that was not passed.
pub const GO: &str = "go";
/// Does the work before a gate again.
pub const RETRY: &str = "retry";
/// Names another check for the untouched tree.
pub const CHECK: &str = "check";
/// Adds a set-up command for fresh checkouts.
pub const SETUP: &str = "setup";
/// Does without a check that fails on the untouched tree.
pub const LEAVE: &str = "leave";
