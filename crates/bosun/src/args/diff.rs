//! The arguments of the commands that show what a run changed and said: `bosun diff`, `bosun transcript`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
The whole result is compared with the commit that the run began with, as far as it has come. On a terminal the patch is \
coloured and its control characters are shown as signs; in a pipe or a file it is as git writes it.

Examples:
  bosun diff                        what the newest run changed
  bosun diff r_1a2b T2              what its task T2 changed
  bosun diff T2.1                   what the first attempt at T2 of the newest run left
  bosun diff r_1a2b --stat
  bosun diff r_1a2b > result.patch")]
pub(crate) struct Diff {
    /// The run, by its id or the beginning of it [default: the newest one of this repository]
    pub(crate) run: Option<RunRef>,
    /// A task, such as T2, or an attempt, such as T2.1 [default: the whole result]
    #[arg(value_name = "TASK")]
    pub(crate) part: Option<String>,
    #[command(flatten)]
    pub(crate) form: DiffForm,
    /// Print one JSON object: run, from, to, files, patch
    #[arg(long, conflicts_with_all = ["stat", "name_only"])]
    pub(crate) json: bool,
}

/// How much of a change is shown.
#[derive(Debug, Args)]
pub(crate) struct DiffForm {
    /// Print only how many lines of each file changed
    #[arg(long, conflicts_with = "name_only")]
    pub(crate) stat: bool,
    /// Print only the names of the files
    #[arg(long)]
    pub(crate) name_only: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Everything that was said to the model, what it replied, each call with its result, the questions and the answers. What \
models, tools and files said is escaped for the terminal, for Markdown and for HTML.

Examples:
  bosun transcript                             all attempts of the newest run
  bosun transcript r_1a2b T1.2                 one attempt
  bosun transcript r_1a2b T1                   all attempts at a task
  bosun transcript r_1a2b --format html --out r_1a2b.html
  bosun transcript newest --format json | jq -r .text")]
pub(crate) struct Transcript {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// An attempt, such as T1.2, or a task, such as T1 [default: all attempts]
    #[arg(value_name = "ATTEMPT")]
    pub(crate) part: Option<String>,
    /// How it is written [default: text, or what the ending of --out says]
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) format: Option<TranscriptFormat>,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also the system prompts, the thinking, and outputs at full length
    #[arg(long)]
    pub(crate) whole: bool,
    /// The same as --format json: a JSON line for each entry
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TranscriptFormat {
    /// For a terminal
    Text,
    Markdown,
    /// One page without scripts, styles included
    Html,
    /// A JSON line for each entry
    Json,
}
