//! The event loop of Bosun and the library's public interface: start, follow, steer, stop and resume runs and sessions.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use runtime::{Bosun, Config, NewRun};
//!
//! let journal = Arc::new(store::SqliteJournal::open("state/journal.db".as_ref()).await?);
//! let bosun = Bosun::new(Config::new(journal, "state"));
//! let model = bosun.keep_script(&std::fs::read_to_string("script.toml")?).await?;
//! let run = bosun.start(NewRun::new("Add a tide command", "path/to/repository", model)?).await?;
//! let left = run.finished().await?;
//! println!("{}", left.view.status.as_str());
//! # Ok(()) }
//! ```
//!
//! One agent alone is a [`Session`]. It has a loop of its own, can be steered while it works, and resumes after any
//! crash ([`Bosun::reopen`]):
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use runtime::{Bosun, Config, NewSession};
//!
//! let journal = Arc::new(store::MemoryJournal::new());
//! let bosun = Bosun::new(Config::new(journal, "state"));
//! let model = bosun.keep_script(&std::fs::read_to_string("script.toml")?).await?;
//! let session = bosun.open(NewSession::new("path/to/folder", model)?).await?;
//! session.submit("Why does the test fail?").await?;
//! session.steer("Look at the clock first.").await?;
//! session.rest().await;
//! println!("{}", session.last_words().await?);
//! # Ok(()) }
//! ```
//!
//! [`Session::events`] follows it, [`Session::events_as`] does so in the formats of other programs. Tools,
//! environments, models, the journal and the clock are traits: [`tools::Tool`], [`sandbox::Environment`],
//! [`llm::Model`], [`store::Journal`], [`Clock`]. The folder `examples/` has one program for each of the first two, one
//! whose agent runs sandboxed commands, and a minimal one.
//!
//! This crate owns time and concurrency, and contains no rule: `engine` decides what happens next.

mod active;
mod activity;
mod api;
pub mod audit;
pub mod beside;
pub mod bundle;
mod by_hand;
mod check_trees;
mod clock;
mod diff;
mod driver;
mod effects;
mod error;
mod event_loop;
mod feed;
mod find;
pub mod fork;
mod gc;
pub mod grants;
mod held_back;
mod history;
mod hub;
mod in_flight;
mod inbox;
mod integrity;
mod listing;
mod look;
mod models;
mod overview;
mod places;
mod prepare;
pub mod presets;
mod preview;
mod project_survey;
mod projected;
mod prompt_facts;
mod prompts;
mod pull_request;
mod question_groups;
mod raise;
pub mod replay;
mod repository;
mod review;
mod runs;
mod sandbox_factory;
mod services;
mod session;
pub mod settings;
mod settle;
#[cfg(test)]
mod sim;
mod small_file;
mod start;
mod stats;
mod sweep;
mod transcript;
pub mod trust;
mod watch;
mod web;
mod worktrees;

pub use active::ActiveRun;
pub use activity::{Activity, LastAction, RunningCheck, TaskActivity};
pub use api::{Bosun, NewRun, draw_run_id};
pub use by_hand::{HandCall, Made, MadeOutcome, Person};
pub use clock::{Clock, ManualClock, RealClock};
pub use diff::{DiffError, Landed, RunDiff, RunPart};
pub use driver::Delivered;
pub use error::{Error, RaiseError};
pub use event_loop::DriveError;
pub use feed::{Feed, FeedFilter, FeedItem, MaySee};
pub use find::{FindError, NEWEST};
pub use gc::{Collected, GcRules};
pub use hub::{Delta, DeltaKind, SessionItem};
pub use in_flight::Order;
pub use integrity::{Flaw, Integrity, integrity};
pub use listing::{Entry, Found, ListFilter, ListState};
pub use models::{KeepError, Models, SCRIPT};
pub use overview::Overview;
pub use prepare::proposed_workspace;
pub use preview::Preview;
pub use project_survey::{ProjectSurvey, project_survey};
pub use projected::{Projected, Words};
pub use prompts::{PromptError, Prompts};
pub use pull_request::{ProposedRequest, PullRequestError};
pub use question_groups::{QuestionGroup, evidence_lines, open_questions};
pub use review::{Comment, ReviewError};
pub use rules::folder::MachineFolders;
pub use runs::RunsError;
pub use sandbox_factory::Isolation;
pub use services::Config;
pub use session::{
    Conflict, NewSession, ReplyCheck, SchemaRetries, Session, SessionError, Undone, asking_for,
};
pub use settle::{Acceptance, AddedTests, CommitAuthor, SettleError, Settlement};
pub use start::{Handle, Left};
pub use sweep::Leftovers;
pub use watch::{Mix, recorded};

pub use engine::calls_of;
pub use engine::export::{SessionConfig, ToolResultEntry, Turn};
pub use rules::truncate::{Cut, Gaps};
pub use {llm, sandbox, store, tools, types};
