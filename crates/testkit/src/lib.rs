//! Scenarios as tests. A TOML file has the contents of a repository, the model's replies and the expected result; it is
//! read here, played with real files, git, processes and journal, and played again with the power cut at any line of
//! any log. Also a model server on the loopback that imitates the providers (`wire`); for tests of the server, a real
//! browser (`browser`) and a small HTTP client (`client`); for benchmarks, the server as a process (`served`) and
//! journals with many runs (`stored`); the commands shown in the documentation (`documents`); and the requirements on
//! every journal (`conformance`), every execution environment (`environments`) and every provider of models
//! (`parity`).

pub mod browser;
pub mod client;
pub mod conformance;
mod counted;
mod cut;
pub mod documents;
pub mod environments;
mod kept;
pub mod parity;
mod play;
mod points;
mod scenario;
pub mod served;
pub mod stored;
mod talk;
mod trace;
mod unread;
pub mod wire;

pub use play::{Played, play, play_and_cut, play_below, policy_of, scenarios};
pub use points::{Point, Points};
pub use scenario::{BadScenario, Scenario, Step, all_below, rewrite_trace};
pub use talk::{Talked, talk, talk_and_cut};
pub use unread::unread;
