//! The arguments of the commands about rules, settings and specs, and flags that set configuration keys.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::{Effort, ModelRef, Phase};

use super::{RunRef, parsed};

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
    #[arg(long, value_name = "PHASE", value_parser = parsed::<Phase>, conflicts_with_all = ["json", "response", "state", "spec"])]
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

/// Settings of `bosun run` and `bosun plan` besides the model.
#[derive(Debug, Default, Args)]
pub(crate) struct Chosen {
    /// Model for the planner
    #[arg(long, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) planner_model: Option<ModelRef>,
    /// Model for the coders
    #[arg(long, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) coder_model: Option<ModelRef>,
    /// Reasoning effort: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = parsed::<Effort>)]
    pub(crate) effort: Option<Effort>,
    /// Instruction appended to the system prompt of every agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// Endpoint to use instead of the provider's own; also applies when the run is resumed
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
}

impl Chosen {
    /// The configuration keys that are set, each with its flag.
    pub(crate) fn flags(
        &self,
        model: Option<&ModelRef>,
    ) -> Vec<(&'static str, &'static str, String)> {
        let text = |model: &ModelRef| model.to_string();
        let all = [
            ("--model", "model", model.map(text)),
            ("--planner-model", "roles.planner.model", self.planner_model.as_ref().map(text)),
            ("--coder-model", "roles.coder.model", self.coder_model.as_ref().map(text)),
            ("--effort", "effort", self.effort.map(|effort| effort.as_str().to_owned())),
            ("--instruction", "instruction", self.instruction.clone()),
        ];
        all.into_iter().filter_map(|(flag, key, value)| Some((flag, key, value?))).collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bosun config show --origin\n  bosun config path")]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the settings in effect in a folder
    #[command(
        after_help = "Examples:\n  bosun config show\n  bosun config show --origin\n  bosun config show --json"
    )]
    Show {
        /// Also show the layer, file and line that set each value
        #[arg(long)]
        origin: bool,
        /// Print JSON Lines, one per setting: key, value, layer, place
        #[arg(long)]
        json: bool,
        /// Folder to inspect
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
    },
    /// List the configuration files, lowest precedence first, and whether they are read
    Path {
        /// Print JSON Lines, one per file: layer, path, exists, read
        #[arg(long)]
        json: bool,
        /// Folder to inspect
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Covers .bosun/policy.toml, .bosun/config.toml and .bosun/prompts/. Trust applies to their exact content in this folder; \
after any change they must be trusted again.

Examples:
  bosun trust
  bosun trust --list
  bosun trust --revoke ../other")]
pub(crate) struct Trust {
    /// Repository
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Revoke trust
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List the trusted repositories
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) list: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bosun schema config > config.schema.json\n  bosun schema plan"
)]
pub(crate) struct Schema {
    /// File format: config, models, policy, plan, spec or intent
    pub(crate) name: String,
}

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
