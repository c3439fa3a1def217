//! The arguments of the commands about results: their changes, reviews, proofs, and whether they are accepted.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use types::ModelRef;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Compares the result so far with the run's base commit. On a terminal, the patch is coloured and control characters are \
made visible; in a pipe or file, it is unmodified git output.

Examples:
  bosun diff                        changes of the newest run
  bosun diff r_1a2b T2              changes of one task
  bosun diff T2.1                   changes of one attempt, in the newest run
  bosun diff r_1a2b --stat
  bosun diff r_1a2b > result.patch")]
pub(crate) struct Diff {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository, else of all]
    pub(crate) run: Option<RunRef>,
    /// Task, such as T2, or attempt, such as T2.1 [default: the whole result]
    #[arg(value_name = "TASK")]
    pub(crate) part: Option<String>,
    #[command(flatten)]
    pub(crate) form: DiffForm,
    /// Print a JSON object: run, of, from, to, files, patch
    #[arg(long, conflicts_with_all = ["stat", "name_only"])]
    pub(crate) json: bool,
}

/// How much of a change to show.
#[derive(Debug, Args)]
pub(crate) struct DiffForm {
    /// Print only the number of changed lines per file
    #[arg(long, conflicts_with = "name_only")]
    pub(crate) stat: bool,
    /// Print only file names
    #[arg(long)]
    pub(crate) name_only: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Includes all messages to the model and its replies, tool calls with their results, questions and answers. Text from \
models, tools and files is escaped for the terminal, Markdown and HTML.

Examples:
  bosun transcript                             all attempts in the newest run
  bosun transcript r_1a2b T1.2                 one attempt
  bosun transcript r_1a2b T1                   all attempts at a task
  bosun transcript r_1a2b --format html --out r_1a2b.html
  bosun transcript newest --format json | jq -r .text")]
pub(crate) struct Transcript {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Attempt, such as T1.2, or task, such as T1 [default: all attempts]
    #[arg(value_name = "ATTEMPT")]
    pub(crate) part: Option<String>,
    /// Output format [default: by the extension of --out, else text]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<TranscriptFormat>,
    /// Output file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Include system prompts, reasoning and untruncated output
    #[arg(long)]
    pub(crate) whole: bool,
    /// Same as --format json: JSON Lines, one per entry
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// Output format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// For a terminal
    Text,
    Markdown,
    /// Single page with inline styles and no scripts
    Html,
    /// JSON Lines, one per entry
    Json,
}

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
#[command(
    after_help = "Fast-forwards your branch to the result and updates your files. Uncommitted changes in other files stay as they are; refused if it would overwrite any, if \
    the checked-out branch is not the one the run was started on, or if the run did not end as \
    done.\n\nExamples:\n  bosun accept\n  bosun accept r_1a2b --merge\n  bosun accept r_1a2b --author me\n  bosun accept r_1a2b --tests"
)]
pub(crate) struct Accept {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository that can be accepted]
    pub(crate) run: Option<RunRef>,
    /// Create a merge commit if your branch has advanced since the run was started
    #[arg(long)]
    pub(crate) merge: bool,
    /// Accept the result of a run that failed, was cancelled, ran out of budget or got a no-go
    #[arg(long)]
    pub(crate) force: bool,
    /// Author of the commits: bosun keeps the run's commits, as named in its proof; me recreates them under your name, with reason and evidence in the messages
    #[arg(long, value_name = "WHO", value_enum, default_value_t)]
    pub(crate) author: Author,
    /// Commit the tests by another author that the result passed on top of it; works after acceptance, too
    #[arg(long)]
    pub(crate) tests: bool,
    /// Print a JSON object: run, how, commit, way (forwarded, merged or already), and with --tests also tests (files, commit)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Author of the commits of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Author {
    #[default]
    Bosun,
    Me,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Removes the run's branch and worktrees; the log is kept. An accepted result cannot be \
    discarded.\n\nExample:\n  bosun discard r_1a2b3c4d --yes"
)]
pub(crate) struct Discard {
    /// Run id, unique prefix, or `newest`; if omitted, asks about the newest one in this repository (terminal only)
    pub(crate) run: Option<RunRef>,
    /// Skip confirmation; requires RUN
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print a JSON object: run, how, commit
    #[arg(long)]
    pub(crate) json: bool,
}

const PROVE_HELP: &str = "\
Writes in-toto statements in DSSE envelopes, one per line: the checks of the run, its gates, and the run itself with \
the last hashes of its logs, its policy, models, evidence and answers. See docs/proof.md for the format, and for \
verification with only ssh-keygen and jq.

Examples:
  bosun prove r_1a2b --sign ~/.ssh/id_ed25519 --out r_1a2b.intoto.jsonl
  bosun prove --verify r_1a2b.intoto.jsonl --signers allowed_signers --repo .

Exit codes of --verify, which needs no journal: 0 verified, and the run is done; 1 unsigned, signer not \
allowed, or the commit is not in the repository; 65 not a proof; 76 changed after signing, or inconsistent statements; \
otherwise the exit code of the run (6 no-go, 4 out of budget, ...).";

/// Write or verify a portable, signed proof of a run's outcome.
#[derive(Debug, Args)]
#[command(after_help = PROVE_HELP)]
pub(crate) struct Prove {
    /// Run id, unique prefix, or `newest` [default: newest]
    #[arg(conflicts_with = "verify")]
    pub(crate) run: Option<RunRef>,
    /// SSH key to sign with: a private key, or the public key of one held by your SSH agent
    #[arg(long, value_name = "KEY", conflicts_with = "verify")]
    pub(crate) sign: Option<PathBuf>,
    /// Output file [default: standard output]
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) out: Option<PathBuf>,
    /// Verify a proof and report what it proves and what it does not
    #[arg(long, value_name = "FILE")]
    pub(crate) verify: Option<PathBuf>,
    /// Allowed signers file, in the format of ssh-keygen and git
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) signers: Option<PathBuf>,
    /// Repository that must contain the result commit with the named tree
    #[arg(long, value_name = "DIR", requires = "verify")]
    pub(crate) repo: Option<PathBuf>,
    /// Print a JSON object describing the proof written (with --out) or verified
    #[arg(long)]
    pub(crate) json: bool,
}
