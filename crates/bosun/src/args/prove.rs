//! The arguments of `bosun prove`.

use std::path::PathBuf;

use clap::Args;

use super::RunRef;

const HELP: &str = "\
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
#[command(after_help = HELP)]
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
