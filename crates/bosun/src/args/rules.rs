//! Arguments of the commands around decisions: why, policy, init, show.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::Phase;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Without EVENT, every decision of the run is listed with its place. With one, its whole story is told: what it \
was decided from, and each rule up to the one that matched. The rules are asked again, with the policy that the run \
was started with and what it knew then.

Examples:
  bosun why r_1a2b            every decision, one line each
  bosun why r_1a2b 12         line 12 of the run's log
  bosun why r_1a2b T1.2:7     line 7 of the log of an attempt
  bosun why r_1a2b T1         everything about a task and its attempts
  bosun why T1                the same, in the newest run
  bosun why r_1a2b q0         why a question was asked")]
pub(crate) struct Why {
    /// The run, by its id or the beginning of it [default: the newest one of this repository]
    pub(crate) run: Option<RunRef>,
    /// A line, a task, an attempt, or a question
    #[arg(value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// Print a JSON line for each decision
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
    /// Read a file of rules, hold each rule to its examples, and say what is wrong, line by line; exit code 2 if anything is
    Check {
        /// The file
        file: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show rules in their order: those of a preset or a file, or those that a run in this folder would have
    Show {
        /// A preset's name, or a file [default: the project's .bosun/policy.toml, or else crew]
        #[arg(value_name = "PRESET|FILE")]
        what: Option<String>,
        /// Print the whole policy as one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Looks at the repository, proposes checks, set-up, model and budget, and asks about them on a terminal. Writes \
.bosun/config.toml, .bosun/policy.toml, .bosun/prompts/ and context/ at the top of the repository, and trusts what it \
wrote; for strict .bosun/policy.toml, \
config/, prompts/, kb/, workspace/, runs/, docs/ and README.md. What is there already is left as it is; where the \
rules of another preset are there, nothing is written.

Examples:
  bosun init
  bosun init --preset strict")]
pub(crate) struct Init {
    /// The preset to start from
    #[arg(long, default_value = "crew", value_name = "NAME")]
    pub(crate) preset: String,
    /// The repository
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Take what is proposed, without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print one JSON object: what was written, what was there
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun show r_1a2b --junit > checks.xml
  bosun show r_1a2b --sarif > findings.sarif")]
pub(crate) struct Show {
    /// The run, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// Print a JSON line
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the response object: status, decision, deliverables, resources, next steps, blockers
    #[arg(long, conflicts_with_all = ["json", "state"])]
    pub(crate) response: bool,
    /// Print the spec as the run has brought it on: tasks, decisions, blockers, status
    #[arg(long, conflicts_with_all = ["json", "response", "state"])]
    pub(crate) spec: bool,
    /// Print the whole state of the project as one JSON object
    #[arg(long, conflicts_with = "json")]
    pub(crate) state: bool,
    /// Print the report of one gate as Markdown: initiation, planning, execution, monitoring or closure
    #[arg(long, value_name = "PHASE", value_parser = phase, conflicts_with_all = ["json", "response", "state", "spec"])]
    pub(crate) gate: Option<Phase>,
    /// Print the reports of all gates
    #[arg(long, conflicts_with_all = ["gate", "json", "response", "state", "spec"])]
    pub(crate) gates: bool,
    /// Print its checks as JUnit XML: those on the base, on each task's last attempt and on the merged tree
    #[arg(long, conflicts_with_all = ["sarif", "gate", "gates", "json", "response", "state", "spec"])]
    pub(crate) junit: bool,
    /// Print its findings, doubts and failed checks as SARIF 2.1.0
    #[arg(long, conflicts_with_all = ["gate", "gates", "json", "response", "state", "spec"])]
    pub(crate) sarif: bool,
}

impl Show {
    /// Whether something is wanted that only a run has.
    pub(crate) fn of_a_run(&self) -> bool {
        let gates = self.gates || self.gate.is_some();
        self.response || self.state || self.spec || gates || self.junit || self.sarif
    }
}

fn phase(word: &str) -> Result<Phase, String> {
    serde_json::from_value(serde_json::Value::from(word)).map_err(|error| error.to_string())
}
