//! The arguments of `bosun review`, `bosun pr`, `bosun completions` and `bosun man`.

use std::path::PathBuf;

use clap::Args;
use types::ModelRef;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows each task's change with line numbers. On a terminal you are asked for comments after each task: PATH:LINE TEXT, \
PATH TEXT, or TEXT for the whole task. Comments are kept until they are sent or cleared.

--send starts a new run that begins with the result: its plan is the tasks that were commented on, in their own scopes, \
with your comments as feedback. Its result has both; accept that one.

Examples:
  bosun review
  bosun review r_1a2b T2
  bosun review r_1a2b --comment T2:src/main.rs:12 \"use the parser of std\"
  bosun review r_1a2b --comment T1 \"no new dependency, please\" --send
  bosun review r_1a2b --comments")]
pub(crate) struct Review {
    /// The run, by its id or the beginning of it [default: the newest one of this repository]
    pub(crate) run: Option<RunRef>,
    /// Only this task
    #[arg(value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Comment on TASK, TASK:PATH or TASK:PATH:LINE; may be given several times
    #[arg(long = "comment", value_names = ["PLACE", "TEXT"], num_args = 2)]
    pub(crate) new: Vec<String>,
    /// List the comments instead of the changes
    #[arg(long)]
    pub(crate) comments: bool,
    /// Remove all comments on the run first
    #[arg(long)]
    pub(crate) clear: bool,
    /// Have the comments worked on, in a new run that begins with the result
    #[arg(long)]
    pub(crate) send: bool,
    /// With --send: the model to work with [default: that of the run]
    #[arg(long, short, value_name = "MODEL", requires = "send")]
    pub(crate) model: Option<ModelRef>,
    /// With --send: answer from this script instead of a model
    #[arg(long, value_name = "FILE", requires = "send", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Print the tasks with their changes and comments as JSON lines; with --send, the events of the new run
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The first line is the title; the body is Markdown: what changed, why, the tasks, the evidence, what is open. With --open \
the run's branch is pushed to `origin` with your own git, and the pull request is opened with gh or glab, as you.

Examples:
  bosun pr
  bosun pr r_1a2b --out pull-request.md
  bosun pr r_1a2b --open")]
pub(crate) struct PullRequest {
    /// The run, by its id or the beginning of it [default: the newest one of this repository]
    pub(crate) run: Option<RunRef>,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Push the branch and open the pull request
    #[arg(long)]
    pub(crate) open: bool,
    /// Print one JSON object: title, body, head, base, and with --open its address
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
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun man | man -l -
  bosun man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder for the pages of all commands [default: the first page goes to standard output]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}
