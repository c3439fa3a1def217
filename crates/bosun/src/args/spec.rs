//! Arguments of `bosun spec`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
A spec describes a change and how it is verified; see docs/spec.md for the format.

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
    /// Write a spec template; never overwrites a file
    Init {
        /// File to write
        #[arg(default_value = "spec.yaml")]
        file: PathBuf,
        /// Title of the spec
        #[arg(long, default_value = rules::spec::TITLE)]
        title: String,
        /// Intended change and the reason for it
        #[arg(long, default_value = rules::spec::INTENT)]
        intent: String,
    },
    /// Check a spec, reporting all problems by path and line (exit code 65)
    Check {
        /// Spec file
        file: PathBuf,
        /// Also check that it is a valid Intent Spec: all requirements verified, something out of scope
        #[arg(long)]
        intent: bool,
        /// Print a JSON object: ok; on failure also kind (parse, validation) and issues
        #[arg(long)]
        json: bool,
    },
    /// Print a spec in canonical form: ordered keys, two-space indent, no folding or comments
    Fmt {
        /// Spec file
        file: PathBuf,
        /// Write to the file instead of standard output
        #[arg(long, short)]
        write: bool,
        /// Print nothing; exit with 1 if the file is not in canonical form
        #[arg(long, conflicts_with = "write")]
        check: bool,
    },
    /// Show the differences between two versions by dotted path, ignoring timestamps
    Diff {
        /// Older version
        old: PathBuf,
        /// Newer version
        new: PathBuf,
        /// Print JSON Lines, one per difference: path, type (added, removed, changed), old_value, new_value
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of specs
    Schema {
        /// Print the schema of the Intent Spec submitted by product agents instead
        #[arg(long)]
        intent: bool,
    },
    /// Approve a draft so that runs may work on it; writes the next version to the file
    Approve {
        /// Spec file
        file: PathBuf,
        /// Print a JSON object: status, version, digest
        #[arg(long)]
        json: bool,
    },
}
