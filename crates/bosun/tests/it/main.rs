//! The integration tests, in one binary.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

// Every scenario as it is written.
mod scenarios;
// The same story twice.
mod twice;
// Every scenario with the power cut after each line of each log.
mod crash;
// The commands of the real binary, with good and with bad input.
mod commands;
// Settings in layers, trust, and mistakes that are found before anything starts.
mod config;
// The reference pages say what the code does.
mod pages;
// Every command that the documents show, run.
mod documented;
// How runs are named and listed; what holds for every command.
mod naming;
// The mistakes of a first hour.
mod mistakes;
// What a run came to: change, transcript, review, pull request, commits.
mod results;
// What is asked on a terminal before something is done, and comments typed there.
mod asked_here;
// Help, completions, manual pages, closed pipes.
mod help;
// Who drives a run: leaving, killing, promises, lost lines.
mod driver;
// One question to one model.
mod ask;
// A model that breaks off or stays away.
mod away;
// Damage to the journal, readers, backups.
mod journal;
// Old runs are removed.
mod gc;
// Journals of every released format.
mod formats;
// What others can see of the real binary's memory.
mod memory;
// The real binary killed at random moments.
mod kill;
// One agent, killed in the middle of a call.
mod killed;
// What the rules say about commands.
mod permit;
mod presets;
mod stats;
mod strict;
// Proofs, and the checks and findings of a run in the forms of other tools.
mod prove;
// What waits for a person.
mod questions;
// Requests as files and pipes.
mod requests;
// What is on record, decided again, gone on with, and verified elsewhere.
mod replay;
mod route;
// Decisions explained, rules shown and checked, a repository's own rules; what programs are answered.
mod rules;
// Specs and plans, from a draft on disk to what a run hands out.
mod spec;
// Tools by hand.
mod tools;
// A conversation on a terminal.
mod chat;
// What a person and one agent do beside talking: commits, grants, processes, own commands.
mod chat_work;
mod clone;
// A run on a terminal, and runs of other processes.
mod live;
// One agent without a person.
mod solo;
// Folders that are no project, and what stays closed in them.
mod folders;
// What becomes of a result.
mod settle;
// Repositories with dependencies, submodules and environments.
mod workspace;
// Repositories whose tests fail already, without a check, with one that cannot run; work that was not done.
mod ordinary;
// The server, used by programs.
mod serve;
// Who may use it, and what is refused.
mod serve_access;
// The page, used in a real browser.
mod page;
// Hostile texts and hostile pages in a real browser.
mod page_attacks;
// Pictures, accessibility, and other programs: started by hand.
mod gallery;
// How to run the server.
mod served;
// How to look at it in a browser.
mod looked;
// How to make a repository and run a goal in it.
mod stage;
// How to run the real binary.
mod binary;
// How to run it in a terminal.
mod screen;
