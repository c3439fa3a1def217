//! Arguments of `bosun why`, `bosun policy`, `bosun init` and `bosun show`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::Phase;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Without EVENT, lists every decision of the run with its position. With EVENT, explains a decision: its inputs, and \
each rule up to the one that matched. The rules are evaluated again, with the policy that the run was started with and \
its state at that point.

Examples:
  bosun why r_1a2b            every decision, one line each
  bosun why r_1a2b 12         line 12 of the run's log
  bosun why r_1a2b T1.2:7     line 7 of the log of an attempt
  bosun why r_1a2b T1         every decision about a task and its attempts
  bosun why T1                the same, in the newest run
  bosun why r_1a2b q0         why a question was asked")]
pub(crate) struct Why {
    /// Run id, unique prefix, or `newest` [default: newest run in this repository, else of all]
    pub(crate) run: Option<RunRef>,
    /// Log line, task, attempt or question
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// Print JSON Lines, one per decision
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun policy show
  bosun policy show strict
  bosun policy check .bosun/policy.toml")]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Check a policy file and the examples of its rules, reporting problems by line (exit code 2)
    Check {
        /// Policy file
        file: PathBuf,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show the rules of a preset, a file, or the policy in effect in this folder, in order
    Show {
        /// Preset or policy file [default: the project's .bosun/policy.toml, else the configured preset, else crew]
        #[arg(value_name = "PRESET|FILE")]
        what: Option<String>,
        /// Print the whole policy as a JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Inspects the repository, proposes checks, set-up, model and budget, and asks about them on a terminal. Writes \
.bosun/config.toml, .bosun/policy.toml, .bosun/prompts/ and context/ at the top of the repository; the strict preset \
writes .bosun/policy.toml, config/, prompts/, kb/, workspace/, runs/, docs/ and README.md. New .bosun/ files are \
trusted, unless there were others before. Existing files are never changed; if the repository has the policy of \
another preset, nothing is written.

Examples:
  bosun init
  bosun init --preset strict")]
pub(crate) struct Init {
    /// Preset to start from
    #[arg(long, default_value = "crew", value_name = "NAME")]
    pub(crate) preset: String,
    /// Repository
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Accept the proposals without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print a JSON object: folder, preset, written, kept
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun show r_1a2b --junit > checks.xml
  bosun show r_1a2b --sarif > findings.sarif")]
pub(crate) struct Show {
    /// Run or session id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the response object: status, decision, deliverables, resources, next steps, blockers
    #[arg(long, conflicts_with_all = ["json", "state"])]
    pub(crate) response: bool,
    /// Print the current version of the spec: tasks, decisions, blockers, status
    #[arg(long, conflicts_with_all = ["json", "response", "state"])]
    pub(crate) spec: bool,
    /// Print the complete project state as a JSON object
    #[arg(long, conflicts_with = "json")]
    pub(crate) state: bool,
    /// Print the report of a gate as Markdown: initiation, planning, execution, monitoring or closure
    #[arg(long, value_name = "PHASE", value_parser = phase, conflicts_with_all = ["json", "response", "state", "spec"])]
    pub(crate) gate: Option<Phase>,
    /// Print the reports of all gates as Markdown
    #[arg(long, conflicts_with_all = ["gate", "json", "response", "state", "spec"])]
    pub(crate) gates: bool,
    /// Print the checks as JUnit XML: on the base, on each task's last attempt and on the merged tree
    #[arg(long, conflicts_with_all = ["sarif", "gate", "gates", "json", "response", "state", "spec"])]
    pub(crate) junit: bool,
    /// Print findings, doubts and failed checks as SARIF 2.1.0
    #[arg(long, conflicts_with_all = ["gate", "gates", "json", "response", "state", "spec"])]
    pub(crate) sarif: bool,
}

impl Show {
    /// Whether the requested output exists only for runs, not for sessions.
    pub(crate) fn of_a_run(&self) -> bool {
        let gates = self.gates || self.gate.is_some();
        self.response || self.state || self.spec || gates || self.junit || self.sarif
    }
}

fn phase(word: &str) -> Result<Phase, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}
