//! The arguments of `bosun diff` and `bosun transcript`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
