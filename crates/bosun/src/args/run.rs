//! The arguments of `bosun run` and `bosun plan`.

use std::path::{Path, PathBuf};

use clap::Args;
use types::{ModelRef, Money};

use super::{Chosen, Words, parsed};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bosun run \"Fix the crash in src/parse.rs\" --check \"make test\"\n  bosun run --spec \
    export.yaml --spec-out export.yaml\n  bosun run --request order.json --response\n  gh issue view 12 --json title,body -q '.title + \"\\n\\n\" + .body' | bosun run --issue -\n  bosun run --preset solo -m \
    anthropic/claude-sonnet-4-5 \"Explain src/main.rs\"\n\nExit codes: 0 done, 1 failed, 2 usage, 3 waiting for a \
    person, 4 out of budget, 5 refused, 6 no-go at a gate; the README lists all of them."
)]
pub(crate) struct Run {
    /// Goal to work on; several words are joined with spaces
    #[arg(id = "goal", value_name = "GOAL")]
    pub(crate) goal_words: Vec<String>,
    /// The goal, wherever it comes from.
    #[arg(skip)]
    pub(crate) goal: String,
    /// Request file (- for standard input): plain text, or JSON with a request object (`user_request`, ...) or coordinator input (`task_id`, `input`, ...)
    #[arg(long, value_name = "FILE", conflicts_with = "goal")]
    pub(crate) request: Option<PathBuf>,
    /// Issue file (- for standard input): the first line or heading is the goal, the rest is passed on as third-party material
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "request", "spec"])]
    pub(crate) issue: Option<PathBuf>,
    /// Repository to work in [default: the `project_path` of the request object, else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Use scripted replies (TOML) instead of a model; `bosun demo --keep` leaves an example
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// Model, as provider/model [default: the configured model, else the first provider with a key]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// Check command that must pass; repeatable [default: checks found in the repository]
    #[arg(long = "check", value_name = "COMMAND", value_parser = check)]
    pub(crate) checks: Vec<String>,
    /// Token budget, such as 20000, 50k or 2M
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub(crate) tokens: Option<u64>,
    /// Cost budget in dollars, such as 1.50
    #[arg(long, value_name = "DOLLARS", value_parser = money, allow_negative_numbers = true)]
    pub(crate) money: Option<Money>,
    /// Budget of model calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) calls: Option<u64>,
    /// Time budget, in seconds or with a unit, such as 5m or 2h
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) time: Option<u64>,
    /// Policy preset [default: the project's .bosun/policy.toml, else the configured preset, else crew]
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) preset: Option<String>,
    /// Policy file
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Start from your files as they are, with uncommitted changes, instead of the last commit. They become a commit of the run's own branch, without .env files and keys; your branch and files stay as they are. Commit them yourself before you accept the result with --merge
    #[arg(long, conflicts_with = "spec")]
    pub(crate) with_changes: bool,
    /// Run unattended: deny tool calls that need a person's approval
    #[arg(long)]
    pub(crate) headless: bool,
    /// Allow working directly in your home folder; keys and Bosun's own state stay inaccessible
    #[arg(long)]
    pub(crate) here_anyway: bool,
    /// JSON Schema that the final answer must match (single agent only: --preset solo)
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Process results in the order the work was started, so that identical runs produce identical logs
    #[arg(long)]
    pub(crate) reproducible: bool,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the final response object: status, deliverables, resources, next steps
    #[arg(long, conflicts_with_all = ["json", "words"])]
    pub(crate) response: bool,
    /// Print events as JSON Lines in another event format
    #[arg(long = "as", value_name = "WORDS", value_enum, conflicts_with = "json")]
    pub(crate) words: Option<Words>,
    /// Allow remote models under an offline policy (--preset strict)
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) planned: Planned,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Set if the run ends with its plan; the file to write the plan to, if any.
    #[arg(skip)]
    pub(crate) only_plan: Option<Option<PathBuf>>,
}

impl Run {
    /// The repository to work in.
    pub(crate) fn repo(&self) -> &Path {
        self.repo.as_deref().unwrap_or(Path::new("."))
    }
}

/// The spec and plan of a run.
#[derive(Debug, Default, Args)]
pub(crate) struct Planned {
    /// Spec to work on; must be approved
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "request"])]
    pub(crate) spec: Option<PathBuf>,
    /// Write the resulting version of the spec to FILE
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub(crate) spec_out: Option<PathBuf>,
    /// Execute this plan (YAML or JSON, as written by `bosun plan --out`) instead of creating one
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Require a person's approval before executing the plan
    #[arg(long)]
    pub(crate) approve_plan: bool,
    /// Request type, as a hint for routing
    #[arg(long = "type", value_name = "HINT", value_parser = super::hint())]
    pub(crate) hint: Option<types::Hint>,
    /// Override admission rules that refuse or question the request and are not final; REASON is recorded
    #[arg(long, value_name = "REASON")]
    pub(crate) insist: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Admits the request, creates a plan and stops. The plan can be edited and executed later.

Examples:
  bosun plan \"Add a tide command\" --out plan.yaml
  bosun run --plan plan.yaml \"Add a tide command\"")]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) run: Run,
    /// Write the plan to FILE: YAML if it ends in .yaml or .yml, otherwise JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the JSON Schema of a plan and exit
    #[arg(long)]
    pub(crate) schema: bool,
}

/// New limits of a run or session, each a total that includes what is already spent.
#[derive(Debug, Default, Args)]
pub(crate) struct Raised {
    /// Raise the token limit to N in total, such as 2M
    #[arg(long, value_name = "N", value_parser = tokens)]
    tokens: Option<u64>,
    /// Raise the cost limit to this many dollars in total, such as 5
    #[arg(long, value_name = "DOLLARS", value_parser = money, allow_negative_numbers = true)]
    money: Option<Money>,
    /// Raise the limit of model calls to N in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Raise the time limit to this in total, in seconds or with a unit, such as 3h
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    time: Option<u64>,
}

impl Raised {
    /// The new totals, if any is named.
    pub(crate) fn budget(&self) -> Option<types::Budget> {
        let budget = types::Budget {
            tokens: self.tokens,
            money: self.money,
            calls: self.calls,
            time_ms: self.time.map(types::Millis::seconds),
        };
        (budget != types::Budget::default()).then_some(budget)
    }
}

/// Rejects an empty command, which would always pass.
fn check(command: &str) -> Result<String, String> {
    match command.trim() {
        "" => Err("expected a command that fails if something is wrong".to_owned()),
        _ => Ok(command.to_owned()),
    }
}

fn money(word: &str) -> Result<Money, String> {
    let amount: Money = parsed(word)?;
    if amount == Money::default() { Err("must be greater than 0".to_owned()) } else { Ok(amount) }
}

fn tokens(word: &str) -> Result<u64, String> {
    let number = types::tokens_in(word).filter(|number| *number > 0);
    number.ok_or_else(|| "expected a number of tokens, such as 20000, 50k or 2M".to_owned())
}

fn seconds(word: &str) -> Result<u64, String> {
    let (digits, unit) = match word.char_indices().last() {
        Some((at, 's')) => (&word[..at], 1),
        Some((at, 'm')) => (&word[..at], 60),
        Some((at, 'h')) => (&word[..at], 3_600),
        _ => (word, 1),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let number = number.filter(|number| *number > 0);
    number.ok_or_else(|| "expected a duration, such as 90 (seconds), 5m or 2h".to_owned())
}
