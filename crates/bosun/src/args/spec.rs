//! Arguments of the commands about specs and plans.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
A spec says what is wanted and how one will see that it is there; docs/spec.md has the format.

Examples:
  bosun spec init export.yaml --title \"Export to CSV\"
  bosun spec check export.yaml
  bosun spec approve export.yaml
  bosun run --spec export.yaml --spec-out export.yaml")]
pub(crate) struct Spec {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Write a spec to start from; never overwrites anything
    Init {
        /// Where to
        #[arg(default_value = "spec.yaml")]
        file: PathBuf,
        /// What it is called
        #[arg(long, default_value = rules::spec::TITLE)]
        title: String,
        /// What is wanted, and why
        #[arg(long, default_value = rules::spec::INTENT)]
        intent: String,
    },
    /// Read a spec and say everything that is wrong with it, with path and line; exit code 65 if anything is
    Check {
        /// The spec
        file: PathBuf,
        /// Whether it could also stand as an Intent Spec: every requirement with a verification, something out of scope
        #[arg(long)]
        intent: bool,
        /// Print one JSON object: ok, or kind (parse, validation) with the issues
        #[arg(long)]
        json: bool,
    },
    /// Write a spec in its canonical form: keys in order, two blanks for each step, no line folded, no comments
    Fmt {
        /// The spec
        file: PathBuf,
        /// Change the file instead of printing
        #[arg(long, short)]
        write: bool,
        /// Print nothing; exit code 1 if the file is not in its canonical form
        #[arg(long, conflicts_with = "write")]
        check: bool,
    },
    /// What is different between two versions, by dotted path; when they were written is no difference
    Diff {
        /// The older version
        old: PathBuf,
        /// The newer version
        new: PathBuf,
        /// Print a JSON line for each difference: path, type (added, removed, changed), old_value, new_value
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the format
    Schema {
        /// Of the Intent Spec, as a product agent hands it in
        #[arg(long)]
        intent: bool,
    },
    /// Approve a draft, so that a run may work on it: writes the next version into the file
    Approve {
        /// The spec
        file: PathBuf,
        /// Print one JSON object: version, digest
        #[arg(long)]
        json: bool,
    },
}
