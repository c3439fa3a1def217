//! The arguments of `bosun review`, `bosun pr`, `bosun completions` and `bosun man`.

use std::path::PathBuf;

use clap::Args;
use types::ModelRef;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows the changes of each task with line numbers. On a terminal, prompts for comments after each task: PATH:LINE TEXT, \
PATH TEXT, or TEXT for the whole task. Comments are kept until sent or cleared.

--send starts a follow-up run on top of the result. Its plan consists of the tasks with comments, in their original \
scopes, with your comments as feedback. Its result includes the original one; accept the result of the follow-up.

Examples:
  bosun review
  bosun review r_1a2b T2
  bosun review r_1a2b --comment T2:src/main.rs:12 \"use the parser of std\"
  bosun review r_1a2b --comment T1 \"no new dependency, please\" --send
  bosun review r_1a2b --comments")]
pub(crate) struct Review {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository, else of all]
    pub(crate) run: Option<RunRef>,
    /// Show only this task
    #[arg(value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Comment on TASK, TASK:PATH or TASK:PATH:LINE; repeatable
    #[arg(long = "comment", value_names = ["PLACE", "TEXT"], num_args = 2)]
    pub(crate) new: Vec<String>,
    /// List the comments instead of the changes
    #[arg(long)]
    pub(crate) comments: bool,
    /// Delete the existing comments on the run first
    #[arg(long)]
    pub(crate) clear: bool,
    /// Start a follow-up run that works on the comments
    #[arg(long)]
    pub(crate) send: bool,
    /// Model for --send [default: the model of the run]
    #[arg(long, short, value_name = "MODEL", requires = "send")]
    pub(crate) model: Option<ModelRef>,
    /// Scripted replies for --send, instead of a model
    #[arg(long, value_name = "FILE", requires = "send", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Print JSON Lines: tasks with changes and comments; with --send, the events of the new run
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The first line is the title. The body is Markdown: changes, reason, tasks, evidence, open issues. With --open, the run's \
branch is pushed to `origin` with your own git, and the pull request is opened with gh or glab under your account.

Examples:
  bosun pr
  bosun pr r_1a2b --out pull-request.md
  bosun pr r_1a2b --open")]
pub(crate) struct PullRequest {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository, else of all]
    pub(crate) run: Option<RunRef>,
    /// Output file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Push the branch and open the pull request
    #[arg(long)]
    pub(crate) open: bool,
    /// Print a JSON object: run, title, body, head, base, and address (with --open)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun completions bash > ~/.local/share/bash-completion/completions/bosun
  bosun completions zsh > ~/.zfunc/_bosun
  bosun completions fish > ~/.config/fish/completions/bosun.fish")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun man | man -l -
  bosun man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for the pages of all commands [default: print the main page to standard output]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
