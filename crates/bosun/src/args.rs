//! The command line: commands, flags and their help.

mod audit;
mod color;
mod question;
mod results;
mod rules;
mod run;
mod runs;
mod serve;
mod session;

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand};
use serde::de::DeserializeOwned;
use types::{Artifact, Hint};

pub(crate) use audit::{Anchor, Anchored, Audit, AuditCommand, Check, Export, Verify};
pub(crate) use color::{Color, wants_json};
pub(crate) use question::{Answer, Questions};
pub(crate) use results::{
    Accept, Author, Diff, DiffForm, Discard, Prove, PullRequest, Review, Transcript,
    TranscriptFormat,
};
pub(crate) use rules::{
    Chosen, Config, ConfigCommand, Init, Policy, PolicyCommand, Schema, Show, Spec, SpecCommand,
    Trust, Why,
};
pub(crate) use run::{Plan, Planned, Run};
pub(crate) use runs::{
    Backup, Cancel, Fork, Gc, List, ListState, Log, Replay, Restore, Resume, Since, Stats, Top,
    Watch,
};
pub(crate) use serve::{LogFormat, Project, ProjectCommand, Serve, User, UserCommand};
pub(crate) use session::{Ask, Chat, Models, Rewind, Words};

/// A coordinator for coding agents: plans a goal, runs a crew of agents in separate worktrees, runs the checks itself,
/// merges the results that pass, and can prove afterwards what happened and why.
#[derive(Debug, Parser)]
#[command(name = "bosun", version, max_term_width = 110, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Folder for the journal and worktrees [default: BOSUN_HOME, else the user's state folder]
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) home: Option<PathBuf>,
    /// Print only results, warnings and errors; `bosun list -q` prints ids
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Print every event and info-level logs; -vv for debug logs (BOSUN_LOG overrides the level)
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = EVERYWHERE)]
    pub(crate) verbose: u8,
    /// When to use colours; auto enables them on a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    pub(crate) color: Color,

    /// Ignore the repository's .bosun/ folder, as BOSUN_NO_PROJECT=1 does
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) no_project: bool,
    /// Disable the bell and desktop notifications for questions and the end of long runs, as BOSUN_NO_NOTIFY=1 does
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) no_notify: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Fills in global options from the environment. Not with clap's `env`, which counts them as given: a bare `bosun`
    /// would be an error instead of a request for help, and every usage line would demand them.
    pub(crate) fn with_environment(mut self, value: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| value(name).filter(|value| !value.is_empty());
        let is_set = |name: &str| {
            value(name).is_some_and(|value| !FALSE.iter().any(|no| value.eq_ignore_ascii_case(no)))
        };
        self.home = self.home.or_else(|| value("BOSUN_HOME").map(PathBuf::from));
        self.no_project |= is_set("BOSUN_NO_PROJECT");
        self.no_notify |= is_set("BOSUN_NO_NOTIFY");
        self
    }
}

/// Values of an environment variable that leave an option unset.
const FALSE: [&str; 6] = ["0", "false", "no", "off", "n", "f"];
const EVERYWHERE: &str = "Global options";
const AFTER_HELP: &str = "\
Examples:
  bosun demo                                         try a complete run without a model
  bosun run \"Fix the crash in src/parse.rs\"          work on a goal in this repository
  bosun list --here                                  list the runs in this repository
  bosun diff                                         show the changes of the newest run
  bosun accept                                       apply its result to your branch

A run is named by its id, a unique prefix of it, or `newest`; most commands default to the newest run.
With --json, results are printed to standard output as JSON, and errors to standard error as a JSON object.
See `bosun help COMMAND` for the examples and exit codes of a command; -h prints a summary.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the pipeline on a sample repository with a scripted model; no API key needed
    Demo(Demo),
    /// Work on a goal in a repository
    Run(Run),
    /// Plan a goal without executing it
    Plan(Plan),
    /// Create, check, compare and approve specs
    Spec(Spec),
    /// Chat with a single agent about the files in a folder
    Chat(Chat),
    /// Resume a stopped or interrupted run
    Resume(Resume),
    /// Answer a run's open question and resume the run
    Answer(Answer),
    /// List the open questions of all runs
    Questions(Questions),
    /// Follow a run driven by another process in the live view
    Watch(Watch),
    /// Show all unfinished runs in a live table
    Top(Top),
    /// Serve the HTTP API, live event streams and web interface
    Serve(Serve),
    /// Manage server users, their tokens and login links
    User(User),
    /// Manage the projects the server works in
    Project(Project),
    /// Cancel a run permanently
    Cancel(Cancel),
    /// Show the changes of a run, task or attempt
    Diff(Diff),
    /// Show the transcript of a run's attempts or of a session
    Transcript(Transcript),
    /// Review a result task by task, and send comments to a follow-up run
    Review(Review),
    /// Write a pull request for a result, or open it with gh or glab
    Pr(PullRequest),
    /// Apply a run's result to your branch
    Accept(Accept),
    /// Discard a run's result
    Discard(Discard),
    /// Undo a session's own changes to files after a line of its log
    Rewind(Rewind),
    /// List runs and sessions, newest first
    List(List),
    /// Show statistics of all runs: completion, recovery, forecast and cost
    Stats(Stats),
    /// Remove old runs and the data used only by them
    #[command(visible_alias = "prune")]
    Gc(Gc),
    /// Show a run's state or report
    Show(Show),
    /// Print or verify the log of a run
    Log(Log),
    /// Back up the journal to a new file while runs continue
    Backup(Backup),
    /// Restore the journal from a backup
    Restore(Restore),
    /// Write or verify a portable, signed proof of a run's outcome
    Prove(Prove),
    /// Replay a run's decisions from its logs and show the first difference
    Replay(Replay),
    /// Start a new run from any point of another one, including its files
    Fork(Fork),
    /// Export runs for verification on other machines, and anchor their logs
    Audit(Audit),
    /// Explain a run's decisions: matching rule, inputs, and rules that did not match
    Why(Why),
    /// Show a policy, or check a policy file
    Policy(Policy),
    /// Set up a repository with configuration, policy, prompts and documents
    Init(Init),
    /// Show the configuration and the origin of each value
    Config(Config),
    /// Trust a repository's .bosun/ files
    Trust(Trust),
    /// Print the JSON Schema of a file format
    Schema(Schema),
    /// Send a single prompt to a model
    Ask(Ask),
    /// List known models and providers, with prices and key status
    Models(Models),
    /// Explain how the policy judges a command, without running it
    Permit(Permit),
    /// Explain how a request would be admitted and routed, without running it
    Route(Route),
    /// List the tools available to agents, with their arguments
    Tools(Tools),
    /// Make a tool call with the permissions, sandbox and truncation of an agent's call
    Tool(Tool),
    /// Check prerequisites and self-test the sandbox
    Doctor(Doctor),
    /// Print shell completions
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(Man),
}

/// A reference to a run or session: its id, a prefix of it, or `newest`. The runtime resolves it in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRef(String);

impl RunRef {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it can only be a run, where other words are also possible.
    pub(crate) fn is_certain(&self) -> bool {
        self.0.starts_with("r_") || self.0 == runtime::NEWEST
    }
}

impl FromStr for RunRef {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// Parses a word of one of the formats that Bosun reads.
fn parsed<T: DeserializeOwned>(word: &str) -> Result<T, String> {
    serde_json::from_value(word.into()).map_err(|error| error.to_string())
}

/// Parses the operator's hint on the request type.
fn hint() -> impl TypedValueParser<Value = Hint> {
    let words = ["technical", "product", "ambiguous"];
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<Hint>(word.into()))
}

#[derive(Debug, Args)]
#[command(
    after_help = "Finds every command in the line, including those in substitutions and those started by other programs, \
    and judges each separately; the strictest verdict wins. Exit codes: 0 allow, 3 ask, 5 deny.\n\nExamples:\n  \
    bosun permit -- \"git push --force\"\n  bosun permit --json -- \"curl x | sh\""
)]
pub(crate) struct Permit {
    /// Policy file: complete, or only [[permissions]] to overlay on crew [default: the project's .bosun/policy.toml, else the configured preset, else crew]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Writable paths of the task, as in a plan: files, or folders ending with a slash
    #[arg(long, value_name = "PATH", num_args = 1.., default_value = "./")]
    pub(crate) scope: Vec<Artifact>,
    /// Print a JSON object: verdict, rule and reason, for the line and for each part
    #[arg(long)]
    pub(crate) json: bool,
    /// Command line, preferably as one quoted argument; several are joined with spaces; - reads standard input
    #[arg(required = true, allow_hyphen_values = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Shows admission, routing and document selection, each with its rule. Exit codes: 0 the request would \
    be worked on, 3 a person must answer or decide first, 5 it would be refused.\n\nExamples:\n  bosun \
    route \"Rename get_user in api/users.py\"\n  bosun route --json --type product \"Add dark mode\""
)]
pub(crate) struct Route {
    /// Request; several words are joined with spaces; - or no text reads standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// JSON file (- for standard input): a request object, or coordinator input (`task_id`, `input`, `context_registry`, `policy`)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) request: Option<PathBuf>,
    /// Request type, as a hint for routing
    #[arg(long = "type", value_name = "HINT", value_parser = hint())]
    pub(crate) hint: Option<Hint>,
    /// Repository whose documents may be selected
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Policy preset [default: the project's .bosun/policy.toml, else the configured preset, else crew]
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) preset: Option<String>,
    /// Policy file: complete, or an overlay on crew
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun tools
  bosun tools --profile openai --json")]
pub(crate) struct Tools {
    /// Tool profile (tool names and arguments): openai, anthropic, gemini, portable, basic, or one defined by the policy
    #[arg(long, value_name = "PROFILE", default_value = "portable")]
    pub(crate) profile: String,
    /// Print JSON Lines, one per tool: name, description, schema
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the call succeeded, 1 the call failed or is invalid, 3 a person would be asked, 5 denied by \
    the policy.\n\nExamples:\n  bosun tool read_file --args '{\"path\": \"README.md\"}'\n  \
    bosun tool shell --args '{\"command\": \"make test\"}' --repo ../shop --json"
)]
pub(crate) struct Tool {
    /// Tool name; `bosun tools` lists them
    pub(crate) name: String,
    /// Arguments as JSON; - reads standard input, @FILE a file
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    pub(crate) args: String,
    /// Repository or folder to work in
    #[arg(long = "repo", alias = "workspace", default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// Policy file [default: the workspace's .bosun/policy.toml, else the configured preset, else crew]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Writable path: a file, or a folder ending with a slash; repeatable [default: the whole workspace]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) scope: Vec<Artifact>,
    /// Tool profile (tool names and arguments): openai, anthropic, gemini, portable, basic, or one defined by the policy
    #[arg(long, value_name = "PROFILE", default_value = "portable")]
    pub(crate) profile: String,
    /// Ask for approval on standard error and read the answer (`allow` or other) from standard input; without it, such calls are not made
    #[arg(long)]
    pub(crate) ask: bool,
    /// Repeat the call N times, to detect interference; only the last result is shown
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) times: u32,
    /// Print a JSON object: outcome, rule, reason, content, metadata
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun demo
  bosun demo --keep              keep the repository and the script for inspection")]
pub(crate) struct Demo {
    /// Keep the repository and the run for inspection
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun doctor
  bosun doctor --models --json")]
pub(crate) struct Doctor {
    /// Repository to check
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Also contact the model providers that have a key or need none
    #[arg(long)]
    pub(crate) models: bool,
    /// Print JSON Lines, one per finding
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun completions bash > ~/.local/share/bash-completion/completions/bosun
  bosun completions zsh > ~/.zfunc/_bosun
  bosun completions fish > ~/.config/fish/completions/bosun.fish")]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun man | man -l -
  bosun man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for the pages of all commands [default: print the main page to standard output]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod documented;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
