//! Every decision of Bosun: pure, synchronous, deterministic.
//!
//! There are two machines, driven by one loop. [`Run`] is one request on its way through the stages; [`Attempt`] is one
//! try at a task, with its conversation. Each is the fold of its own log:
//!
//! * [`Machine::decide`]: the events that follow from an input. Total: it cannot fail.
//! * [`Machine::apply`]: the only place where state changes.
//! * [`Machine::pending`]: the effects that the state now asks for.
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
