//! The arguments of `bosun prove`.

use std::path::PathBuf;

use clap::Args;

use super::RunRef;

const HELP: &str = "\
Writes in-toto statements in DSSE envelopes, one to a line: the checks of the run, its gates, and the run itself with \
the last hashes of its logs, its policy, models, evidence and answers. docs/proof.md has the format, and how to verify \
it with ssh-keygen and jq alone.

Examples:
  bosun prove r_1a2b --sign ~/.ssh/id_ed25519 --out r_1a2b.intoto.jsonl
  bosun prove --verify r_1a2b.intoto.jsonl --signers allowed_signers --repo .

Exit codes of --verify, which needs no journal: 0 verified, and the run was done; 1 unsigned, signed by nobody on the \
list, or the commit is not in the repository; 65 not a proof; 76 changed after it was signed, or its statements do not \
agree; otherwise as the run ended (6 no-go, 4 out of budget, ...).";

/// What a run came to, as a proof that travels.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Prove {
    /// The run, by its id or the beginning of it [default: the newest one]
    #[arg(conflicts_with = "verify")]
    pub(crate) run: Option<RunRef>,
    /// Sign with this SSH key: a private key, or a public key that your agent holds the other half of
    #[arg(long, value_name = "KEY", conflicts_with = "verify")]
    pub(crate) sign: Option<PathBuf>,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) out: Option<PathBuf>,
    /// Check a proof and say what it proves and what not
    #[arg(long, value_name = "FILE")]
    pub(crate) verify: Option<PathBuf>,
    /// Who may have signed it: a file of allowed signers, as ssh-keygen and git read it
    #[arg(long, value_name = "FILE", requires = "verify")]
    pub(crate) signers: Option<PathBuf>,
    /// A repository in which the result commit must be, with the tree that is named
    #[arg(long, value_name = "DIR", requires = "verify")]
    pub(crate) repo: Option<PathBuf>,
    /// Print one JSON object about what was written (with --out) or verified
    #[arg(long)]
    pub(crate) json: bool,
}
