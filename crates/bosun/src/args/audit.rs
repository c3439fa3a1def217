//! The arguments of `bosun audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::RunRef;

const HELP: &str = "\
Examples:
  bosun audit export r_1a2b r_1a2b.audit.jsonl
  bosun audit anchor r_1a2b --file /mnt/elsewhere/anchors.jsonl --git-note
  bosun audit verify r_1a2b.audit.jsonl --anchor anchors.jsonl
  bosun audit check r_1a2b --anchor /mnt/elsewhere/anchors.jsonl

Exit codes: 0 everything holds; 1 no anchor of the run where one was named; 7 decided otherwise on replay; 65 not a \
bundle; 76 changed, cut off, or not what was anchored. docs/replay.md has the format, and what is shown by all this.";

/// A run as a file that another machine verifies, and anchors for its logs
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Write every line and blob of a run into one file
    Export(Export),
    /// Check such a file: its chains, its blobs, its anchors, and by replay every decision; needs no journal
    Verify(Verify),
    /// Say where the logs of a run end now, for keeping somewhere else
    Anchor(Anchor),
    /// Compare the logs of a run in the journal with anchors of it
    Check(Check),
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The run or session, by its id or the beginning of it; `newest` is the newest one
    pub(crate) run: RunRef,
    /// The file to write; it must not exist yet
    pub(crate) file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) anchored: Anchored,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Anchor {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// Add them to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Add them to a git note on the commit that the run began with
    #[arg(long)]
    pub(crate) git_note: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The run or session, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    #[command(flatten)]
    pub(crate) anchored: Anchored,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where anchors are.
#[derive(Debug, Args)]
pub(crate) struct Anchored {
    /// A file of anchors; may be given several times
    #[arg(long = "anchor", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// A repository with anchors in the note on the commit that the run began with
    #[arg(long, value_name = "REPO")]
    pub(crate) git_note: Option<PathBuf>,
    /// A proof of the run, which names the ends of its logs; who signed it is for `bosun prove --verify` to say
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
}

impl Anchored {
    /// Whether any place is named.
    pub(crate) fn is_named(&self) -> bool {
        !self.files.is_empty() || self.git_note.is_some() || self.proof.is_some()
    }
}
