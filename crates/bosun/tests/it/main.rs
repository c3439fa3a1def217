//! The integration tests, in one binary.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

// Every scenario as it is written.
mod scenarios;
// The same run twice.
mod twice;
// Every scenario with the power cut after each kind of line.
mod crash;
// The commands of the real binary, with valid and invalid input.
mod commands;
// Layered settings, trust, and mistakes that are detected before anything starts.
mod config;
// The reference pages match the code.
mod pages;
// Every documented command, run.
mod documented;
// How runs are named and listed; options of every command.
mod naming;
// Mistakes of the first hour.
mod mistakes;
// What a weak model is told.
mod small_model;
// What a program can find out about a trial.
mod alike;
// What agents can find of hidden checks and documents.
mod held_back;
// Results of a run: diff, transcript, review, pull request, commits.
mod results;
// A doubtful result that a person accepted.
mod doubt;
// Confirmations and comments on a terminal.
mod asked_here;
// Help, completions, manual pages, closed pipes.
mod help;
// Drivers of runs: exiting, killed, resumed; lost lines.
mod driver;
// One question to one model.
mod ask;
// A model that fails or stays unreachable.
mod away;
// Budgets that real sessions fit, and runs that are paused without one.
mod budget;
// Damage to the journal, readers, backups.
mod journal;
// Removal of old runs.
mod gc;
// Journals of every released format.
mod formats;
// Protection of the real binary's memory.
mod memory;
// The real binary killed at many moments.
mod kill;
// A single agent, killed during a call.
mod killed;
// Verdicts of the rules on commands.
mod permit;
// The agents of the preset `audited`.
mod audited;
mod presets;
mod stats;
mod strict;
// Proofs, and the checks and findings of a run in the formats of other tools.
mod prove;
// Open questions.
mod questions;
// Requests as files and pipes.
mod requests;
// Replay, forks, and verification elsewhere.
mod replay;
mod route;
// Decisions explained, rules shown and checked, a repository's own rules, and responses for programs.
mod rules;
// Specs and plans, from a draft on disk to the output of a run.
mod spec;
// Tools called by hand.
mod tools;
// A chat on a terminal.
mod chat;
// A chat apart from the conversation: commits, grants, processes, the user's own commands.
mod chat_work;
mod clone;
// A run on a terminal, and runs of other processes.
mod layers;
mod live;
// A single agent without a person.
mod solo;
// Undo of what a single agent has changed.
mod undo;
// Folders that are not projects, and what stays closed in them.
mod folders;
// Accepting and discarding a result.
mod settle;
// Repositories with dependencies, submodules and environments.
mod workspace;
// Repositories with failing tests, without a check, with one that cannot run; work that was not done.
mod ordinary;
// Right results behind quiet or wrong checks, builds in a worktree, folders below a broken repository.
mod honest;
// The time limits of checks.
mod limits;
// The API of the server.
mod serve;
// Access to the server.
mod serve_access;
// The page in a real browser.
mod page;
// Hostile texts and hostile sites in a real browser.
mod page_attacks;
// Screenshots, accessibility, and external programs, with `cargo xtask`.
mod gallery;
// Helper: runs the server.
mod served;
// Helper: opens the page in a browser.
mod looked;
// Helper: makes a repository and runs a goal in it.
mod stage;
// Helper: runs the real binary.
mod binary;
// Helper: runs it in a terminal.
mod screen;
