//! Every decision of Bosun: pure, synchronous, deterministic.
//!
//! Two machines live here, and one loop drives both. [`Run`] is one request on its way along the line;
//! [`Attempt`] is one try at a task, with its conversation. Each is the fold of its own log:
//!
//! * [`Machine::decide`]: what happened because of this input. Total: it cannot fail.
//! * [`Machine::apply`]: the only place where state changes.
//! * [`Machine::pending`]: what the state now asks of the outside world.
//! * [`Run::view`]: plain data for every screen.
//!
//! Nothing here reads a clock, a file or the environment, draws a random number, or is async.

mod agent;
mod coordinator;
pub mod export;
#[cfg(test)]
mod laws_tests;
mod machine;
pub mod stages;
mod state;
#[cfg(test)]
mod testing;

pub use agent::{Attempt, calls_of};
pub use machine::{InFlight, Machine};
pub use state::Run;
