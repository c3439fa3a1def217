//! The command line: every command and flag, with its help.

mod ask;
mod audit;
mod color;
mod config;
mod demo;
mod diff;
mod gc;
mod journal;
mod models;
mod prove;
mod question;
mod replay;
mod review;
mod rules;
mod run;
mod run_ref;
mod runs;
mod serve;
mod session;
mod settle;
mod spec;
mod stats;
mod watch;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand};
use types::{Artifact, Hint};

pub(crate) use ask::{Ask, effort};
pub(crate) use audit::{Anchor, Anchored, Audit, AuditCommand, Check, Export, Verify};
pub(crate) use color::{Color, wants_json};
pub(crate) use config::{Chosen, Config, ConfigCommand, Schema, Trust};
pub(crate) use demo::Demo;
pub(crate) use diff::{Diff, DiffForm, Transcript, TranscriptFormat};
pub(crate) use gc::Gc;
pub(crate) use journal::{Backup, Restore};
pub(crate) use models::Models;
pub(crate) use prove::Prove;
pub(crate) use question::{Answer, Questions};
pub(crate) use replay::{Fork, Replay};
pub(crate) use review::{Completions, Man, PullRequest, Review};
pub(crate) use rules::{Init, Policy, PolicyCommand, Show, Why};
pub(crate) use run::{Plan, Run};
pub(crate) use run_ref::RunRef;
pub(crate) use runs::{Cancel, List, Log, Resume};
pub(crate) use serve::{LogFormat, Project, ProjectCommand, Serve, User, UserCommand};
pub(crate) use session::{Chat, Rewind, Words};
pub(crate) use settle::{Accept, Author, Discard};
pub(crate) use spec::{Spec, SpecCommand};
pub(crate) use stats::{Since, Stats};
pub(crate) use watch::{Top, Watch};

/// A coordinator for coding agents: takes a goal, has it planned, lets a crew of agents work on it in their own
/// worktrees, runs the checks itself, merges, and can prove afterwards what happened and why.
#[derive(Debug, Parser)]
#[command(name = "bosun", version, max_term_width = 110, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Where the journal and the worktrees are kept [default: the user's state folder]
    #[arg(long, global = true, env = "BOSUN_HOME", value_name = "DIR", help_heading = EVERYWHERE)]
    pub(crate) home: Option<PathBuf>,
    /// Print results and errors only, nothing beside them; `bosun list -q` prints ids
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = EVERYWHERE)]
    pub(crate) quiet: bool,
    /// Also print what only matters afterwards, and what the program itself logs; -vv logs more (BOSUN_LOG says exactly what)
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = EVERYWHERE)]
    pub(crate) verbose: u8,
    /// Whether to use colours; auto does on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = EVERYWHERE)]
    pub(crate) color: Color,

    /// Leave out the files that a repository brings for agents: .bosun/
    #[arg(long, global = true, env = "BOSUN_NO_PROJECT", value_parser = clap::builder::FalseyValueParser::new(), help_heading = EVERYWHERE)]
    pub(crate) no_project: bool,
    /// No bell and no desktop notification when a question comes up or a long run ends
    #[arg(long, global = true, env = "BOSUN_NO_NOTIFY", value_parser = clap::builder::FalseyValueParser::new(), help_heading = EVERYWHERE)]
    pub(crate) no_notify: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EVERYWHERE: &str = "Options of every command";
const AFTER_HELP: &str = "\
Examples:
  bosun demo                                         see a whole run, without a model
  bosun run \"Fix the crash in src/parse.rs\"          work on a goal in this repository
  bosun list --here                                  what was run here
  bosun diff                                         what the newest run changed
  bosun accept                                       take its result onto your branch

A run is named by its id, by the beginning of it, or by `newest`; most commands take the newest one if none is named.
With --json, results go to standard output as JSON, and errors to standard error as one JSON object.
`bosun help COMMAND` has the examples and exit codes of a command; -h is a summary.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the whole line on a sample repository, with a scripted model: no key, no set-up
    Demo(Demo),
    /// Work on a goal in a repository
    Run(Run),
    /// Have a plan made for a goal, and stop there
    Plan(Plan),
    /// Write, check, compare and approve specs
    Spec(Spec),
    /// Talk with one agent about the files in a folder, on the terminal
    Chat(Chat),
    /// Go on with a run that was stopped or cut off
    Resume(Resume),
    /// Answer the question that a run waits for, and go on with it
    Answer(Answer),
    /// List everything that waits for an answer, in all runs
    Questions(Questions),
    /// Follow a run that another process drives, in the same live view
    Watch(Watch),
    /// Show all runs that are not over in one table
    Top(Top),
    /// Serve an API, live streams and a page from which people run crews
    Serve(Serve),
    /// Manage who may use the server: users, their tokens, and links to log in with
    User(User),
    /// Manage the projects that the server works in
    Project(Project),
    /// Stop a run for good
    Cancel(Cancel),
    /// Show what a run, a task or an attempt changed
    Diff(Diff),
    /// Show what was said and done in a run's attempts or in a session; also as Markdown or HTML
    Transcript(Transcript),
    /// Go through a result task by task, comment on lines, and have the comments worked on
    Review(Review),
    /// Write title and body of a pull request for a result, or open it with gh or glab
    Pr(PullRequest),
    /// Take a run's result onto your own branch
    Accept(Accept),
    /// Throw a run's result away
    Discard(Discard),
    /// Put the files of a session back to what they were at an earlier line of its log
    Rewind(Rewind),
    /// List all runs, the newest first
    List(List),
    /// Figures over all runs: completed, first pass, recovered, forecast, cost by model, role and project
    Stats(Stats),
    /// Remove old runs and everything that only they need
    #[command(visible_alias = "prune")]
    Gc(Gc),
    /// Show where a run stands, or its report
    Show(Show),
    /// Show what was recorded of a run
    Log(Log),
    /// Copy the journal into a new file while runs go on
    Backup(Backup),
    /// Put a backup in the journal's place
    Restore(Restore),
    /// Write what a run came to as a signed proof that needs no journal, or verify one
    Prove(Prove),
    /// Decide a run with all its attempts again from its logs, and show the first difference
    Replay(Replay),
    /// Start a new run from any point of another one, files included
    Fork(Fork),
    /// Write a run into a file that another machine verifies and replays, and anchor its logs elsewhere
    Audit(Audit),
    /// Explain what was decided in a run: by which rule, from what, and why not by another
    Why(Why),
    /// Look at the rules, or check a file of your own
    Policy(Policy),
    /// Give a repository rules, documents and prompts of its own to start from
    Init(Init),
    /// Show what is set, and by which file, variable or flag
    Config(Config),
    /// Trust the files that a repository brings for agents
    Trust(Trust),
    /// Print the JSON Schema of a file that people write
    Schema(Schema),
    /// Put one question to one model
    Ask(Ask),
    /// List the models and providers that are known, with prices and whether there is a key
    Models(Models),
    /// Explain what the rules say about a command, without running it
    Permit(Permit),
    /// Explain what the rules say about a request, without running anything
    Route(Route),
    /// List the tools that agents can call, with their arguments
    Tools(Tools),
    /// Make one call with the same permissions, sandbox and truncation as an agent's call
    Tool(Tool),
    /// Look whether everything is here that the work needs, and attack the sandbox to see whether it holds
    Doctor(Doctor),
    /// Print the completions for a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(Man),
}

/// The operator's own word on what sort of request it is.
fn hint() -> impl TypedValueParser<Value = Hint> {
    let words = ["technical", "product", "ambiguous"];
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<Hint>(word.into()))
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every command that stands in the line is found, also inside of substitutions and of programs that start \
    others, and each is judged alone; the strictest verdict wins. The exit code is 0 for allow, 3 for ask \
    and 5 for deny.\n\nExamples:\n  bosun permit -- \"git push --force\"\n  bosun permit --json -- \"curl x | sh\""
)]
pub(crate) struct Permit {
    /// The rules to judge by: a whole policy, or only [[permissions]] that are laid over the crew's [default: the project's .bosun/policy.toml, or else crew]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Where the task may write, as in a plan: a file, or a folder with a slash at its end
    #[arg(long, value_name = "PATH", num_args = 1.., default_value = "./")]
    pub(crate) scope: Vec<Artifact>,
    /// Print one JSON object: verdict, rule, reason, and the same for each part
    #[arg(long)]
    pub(crate) json: bool,
    /// The command line, best as one argument in quotes; several are joined by blanks, and - reads standard input
    #[arg(required = true, allow_hyphen_values = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Admission, routing and the choice of documents, each with its rule. The exit code is 0 if the request \
    would be worked on, 3 if a person has to answer or decide first, and 5 if it would be refused.\n\nExamples:\n  bosun \
    route \"Rename get_user in api/users.py\"\n  bosun route --json --type product \"Add dark mode\""
)]
pub(crate) struct Route {
    /// What is wanted; several words are joined by blanks, and - or nothing reads standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// The same as a file (- is standard input): a request object, or a coordinator's input (`task_id`, `input`, `context_registry`, `policy`)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) request: Option<PathBuf>,
    /// What sort of request it is, in your own word
    #[arg(long = "type", value_name = "HINT", value_parser = hint())]
    pub(crate) hint: Option<Hint>,
    /// The repository whose documents may be handed out
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// The rules to judge by: a preset's name [default: the project's .bosun/policy.toml, or else crew]
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) preset: Option<String>,
    /// The rules to judge by: a whole policy, or what is laid over the crew's
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun tools
  bosun tools --profile openai --json")]
pub(crate) struct Tools {
    /// Tool profile (names and arguments of the tools): openai, anthropic, gemini, portable, basic, or one of the policy's own
    #[arg(long, value_name = "PROFILE", default_value = "portable")]
    pub(crate) profile: String,
    /// Print a JSON line for each tool: name, description, schema
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the call was made and succeeded, 1 it was made and failed or could not be understood, 3 a \
    person would be asked, 5 the rules deny it.\n\nExamples:\n  bosun tool read_file --args '{\"path\": \"README.md\"}'\n  \
    bosun tool shell --args '{\"command\": \"make test\"}' --repo ../shop --json"
)]
pub(crate) struct Tool {
    /// The tool; `bosun tools` lists them
    pub(crate) name: String,
    /// Its arguments as JSON; - reads them from standard input, @FILE from a file
    #[arg(long, value_name = "JSON", default_value = "{}", allow_hyphen_values = true)]
    pub(crate) args: String,
    /// The repository or folder that it works in
    #[arg(long = "repo", alias = "workspace", default_value = ".", value_name = "DIR")]
    pub(crate) workspace: PathBuf,
    /// The rules to work by: a file [default: the .bosun/policy.toml of the workspace, or else crew]
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Where it may write: a file, or a folder that ends with a slash; may be given several times [default: everywhere in the workspace]
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) scope: Vec<Artifact>,
    /// Tool profile (names and arguments of the tools): openai, anthropic, gemini, portable, basic, or one of the policy's own
    #[arg(long, value_name = "PROFILE", default_value = "portable")]
    pub(crate) profile: String,
    /// Ask on standard error what the rules want a person to be asked, and read the answers, `allow` or another, from standard input; without it, such a call is not made
    #[arg(long)]
    pub(crate) ask: bool,
    /// Make the same call so many times, to see whether something gets between; the last result is shown
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(crate) times: u32,
    /// Print one JSON object: outcome, rule, reason, content, metadata
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bosun doctor
  bosun doctor --models --json")]
pub(crate) struct Doctor {
    /// The repository to look at
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Also ask the servers of the models for which there is a key
    #[arg(long)]
    pub(crate) models: bool,
    /// Print a JSON line for each finding
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod documented;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
