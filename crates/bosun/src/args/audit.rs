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

Exit codes: 0 verified; 1 no anchor of the run in the given sources; 7 decided differently on replay; 65 not a bundle; \
76 changed, truncated, or different from an anchor. See docs/replay.md for the format and for what verification shows.";

/// Export runs for verification on other machines, and anchor their logs
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Write all log lines and blobs of a run to a bundle
    Export(Export),
    /// Verify a bundle without a journal: hash chains, blobs, anchors, and decisions by replay
    Verify(Verify),
    /// Print anchors of a run: the current ends of its logs, to keep elsewhere
    Anchor(Anchor),
    /// Compare the logs of a run in the journal with its anchors
    Check(Check),
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Run or session id, unique prefix, or `newest`
    pub(crate) run: RunRef,
    /// File to write; must not exist
    pub(crate) file: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Bundle to verify
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) anchored: Anchored,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Anchor {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Append the anchors to FILE [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Append the anchors to a git note on the run's base commit
    #[arg(long)]
    pub(crate) git_note: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    #[command(flatten)]
    pub(crate) anchored: Anchored,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sources of anchors.
#[derive(Debug, Args)]
pub(crate) struct Anchored {
    /// Anchor file; repeatable
    #[arg(long = "anchor", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Repository with anchors in the git note on the run's base commit
    #[arg(long, value_name = "REPO")]
    pub(crate) git_note: Option<PathBuf>,
    /// Proof of the run, which contains the ends of its logs; `bosun prove --verify` checks its signature
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
}

impl Anchored {
    /// Whether any source is given.
    pub(crate) fn is_named(&self) -> bool {
        !self.files.is_empty() || self.git_note.is_some() || self.proof.is_some()
    }
}
