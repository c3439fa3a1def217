//! The arguments of `bosun run` and `bosun plan`.

use std::path::{Path, PathBuf};

use clap::Args;
use types::{ModelRef, Money};

use super::{Chosen, Words};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bosun run \"Fix the crash in src/parse.rs\" --check \"make test\"\n  bosun run --spec \
    export.yaml --spec-out export.yaml\n  bosun run --request order.json --response\n  gh issue view 12 --json title,body -q '.title + \"\\n\\n\" + .body' | bosun run --issue -\n  bosun run --preset solo -m \
    anthropic/claude-sonnet-4-5 \"Explain src/main.rs\"\n\nExit codes: 0 done, 1 failed, 2 usage, 3 waits for a \
    person, 4 out of budget, 5 refused, 6 no-go at a gate; the README has all."
)]
pub(crate) struct Run {
    /// What you want done
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) goal: String,
    /// What you want done, as a file (- is standard input): a request object (`user_request`, ...) or a coordinator's input (`task_id`, `input`, ...) in JSON, or plain text
    #[arg(long, value_name = "FILE", conflicts_with = "goal")]
    pub(crate) request: Option<PathBuf>,
    /// What you want done, as the text of an issue (- is standard input): the first line or heading is the goal, the rest is handed on as material by somebody else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "request", "spec"])]
    pub(crate) issue: Option<PathBuf>,
    /// The repository to work in [default: the `project_path` of the request object, or else the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Answer from this script instead of a model (a TOML file; `bosun demo --keep` leaves one to look at)
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub(crate) script: Option<PathBuf>,
    /// The model to work with, as provider/model [default: the first provider for which there is a key]
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// A command that must pass in the end; may be given several times [default: those found in the repository]
    #[arg(long = "check", value_name = "COMMAND", value_parser = check)]
    pub(crate) checks: Vec<String>,
    /// The most tokens that may be spent
    #[arg(long, value_name = "N", value_parser = tokens)]
    pub(crate) tokens: Option<u64>,
    /// The most money that may be spent, in dollars, such as 1.50
    #[arg(long, value_name = "DOLLARS", value_parser = money, allow_negative_numbers = true)]
    pub(crate) money: Option<Money>,
    /// The most calls to a model that may be made
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) calls: Option<u64>,
    /// The most time that may be taken, in seconds or with a unit, such as 5m or 2h
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) time: Option<u64>,
    /// The rules to work by: a preset's name [default: the project's .bosun/policy.toml, or else crew]
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) preset: Option<String>,
    /// The rules to work by: a file
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Nobody can be asked: calls that a person would have to allow are denied
    #[arg(long)]
    pub(crate) headless: bool,
    /// Work in your home folder itself; keys and Bosun's own state stay closed there, too
    #[arg(long)]
    pub(crate) here_anyway: bool,
    /// For one agent alone (--preset solo): a JSON Schema that the final answer must fit
    #[arg(long, value_name = "FILE")]
    pub(crate) output_schema: Option<PathBuf>,
    /// Take results in the order in which work was started, so that the same run twice gives the same log
    #[arg(long)]
    pub(crate) reproducible: bool,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the response object at the end: status, deliverables, resources, next steps
    #[arg(long, conflicts_with_all = ["json", "words"])]
    pub(crate) response: bool,
    /// Print what happens in the words that a program expects: the events of one session, or those of a coordinator
    #[arg(long = "as", value_name = "WORDS", value_enum, conflicts_with = "json")]
    pub(crate) words: Option<Words>,
    /// Allow models on other machines where the rules work offline (--preset strict)
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) planned: Planned,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The run ends with its plan, which is written there, if anywhere.
    #[arg(skip)]
    pub(crate) only_plan: Option<Option<PathBuf>>,
}

impl Run {
    /// The repository to work in.
    pub(crate) fn repo(&self) -> &Path {
        self.repo.as_deref().unwrap_or(Path::new("."))
    }
}

/// What a run is to do about its spec and its plan.
#[derive(Debug, Default, Args)]
pub(crate) struct Planned {
    /// What you want done, as a spec; only an approved one is worked on
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "request"])]
    pub(crate) spec: Option<PathBuf>,
    /// Where to write the version of the spec that the run makes
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub(crate) spec_out: Option<PathBuf>,
    /// Carry out this plan (YAML or JSON, as `bosun plan --out` writes it) instead of having one made
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Ask a person before the plan is carried out
    #[arg(long)]
    pub(crate) approve_plan: bool,
    /// What sort of request it is, in your own word
    #[arg(long = "type", value_name = "HINT", value_parser = super::hint())]
    pub(crate) hint: Option<types::Hint>,
    /// Have it done although the rules refuse the request or ask about it; the reason is on record
    #[arg(long, value_name = "REASON")]
    pub(crate) insist: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Admits the request, has a plan made and stops there. The plan can be edited and carried out.

Examples:
  bosun plan \"Add a tide command\" --out plan.yaml
  bosun run --plan plan.yaml \"Add a tide command\"")]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) run: Run,
    /// Where to write the plan: YAML if it ends in .yaml or .yml, JSON otherwise
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the JSON Schema of a plan, and do nothing else
    #[arg(long)]
    pub(crate) schema: bool,
}

/// A command that does nothing passes always, and shows nothing.
fn check(command: &str) -> Result<String, String> {
    match command.trim() {
        "" => {
            Err("it is empty; name a command that fails as long as something is wrong".to_owned())
        }
        _ => Ok(command.to_owned()),
    }
}

fn money(word: &str) -> Result<Money, String> {
    let read = serde_json::from_value(serde_json::Value::from(word));
    let amount: Money = read.map_err(|error| error.to_string())?;
    if amount == Money::default() {
        Err("0 leaves nothing to spend".to_owned())
    } else {
        Ok(amount)
    }
}

fn tokens(word: &str) -> Result<u64, String> {
    let number = types::tokens_in(word).filter(|number| *number > 0);
    number.ok_or_else(|| "it is no number of tokens, such as 20000, 50k or 2M".to_owned())
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
    number.ok_or_else(|| "it is no time, such as 90 (seconds), 5m or 2h".to_owned())
}
