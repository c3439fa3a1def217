//! `bosun serve`: an HTTP API, live streams and a page over the runs of one journal.
//!
//! This crate owns listening sockets and nothing else. It keeps no state of its own about runs: it reads everything
//! from the journal through `runtime`, and acts through the functions that the terminal uses too. A request passes
//! `guard.rs` (host, origin, sender), then the handler of its entry in `routes.rs`; the OpenAPI document is generated
//! from the same entries.

mod access;
mod api;
mod app;
mod connections;
mod drivers;
mod extract;
mod factory;
mod guard;
mod limit;
mod listen;
mod openapi;
mod operation;
mod page;
mod problem;
mod router;
mod routes;
mod serve;
mod stream;
mod tls;
mod transport;
mod turns;
pub mod views;
mod webhook;

pub use access::{Access, AccessError, OWNER, Project, Role, User};
pub use connections::most_connections;
pub use factory::{ModelItem, PolicyItem, RunFactory, Unfit, WantedRun, WantedSession};
pub use serve::{ServeError, Server, ServerConfig};
pub use tls::TlsError;
pub use webhook::Webhook;
