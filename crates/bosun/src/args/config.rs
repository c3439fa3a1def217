//! Arguments of the commands about the configuration, and the flags that set keys of it.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::{Effort, ModelRef};

use super::effort;

/// What `bosun run` and `bosun plan` can set beside the model itself.
#[derive(Debug, Default, Args)]
pub(crate) struct Chosen {
    /// The model of the planner
    #[arg(long, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) planner_model: Option<ModelRef>,
    /// The model of the coders
    #[arg(long, value_name = "MODEL", conflicts_with = "script")]
    pub(crate) coder_model: Option<ModelRef>,
    /// How hard to think: none, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
    pub(crate) effort: Option<Effort>,
    /// What every agent shall keep to, said after everything else
    #[arg(long, value_name = "TEXT")]
    pub(crate) instruction: Option<String>,
    /// The server to ask instead of the provider's own, for the whole run, also when it is continued later
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) base_url: Option<String>,
}

impl Chosen {
    /// The keys that are set, each with its flag.
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
    /// Show every setting that holds in a folder
    #[command(
        after_help = "Examples:\n  bosun config show\n  bosun config show --origin\n  bosun config show --json"
    )]
    Show {
        /// Also say which layer set each, in which file and line
        #[arg(long)]
        origin: bool,
        /// Print a JSON line for each: key, value, layer, place
        #[arg(long)]
        json: bool,
        /// The folder
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
    },
    /// Show which files are read, the weakest first, and whether they are there
    Path {
        /// Print a JSON line for each: layer, path, exists
        #[arg(long)]
        json: bool,
        /// The folder
        #[arg(long, default_value = ".", value_name = "DIR")]
        repo: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
The files are .bosun/policy.toml, .bosun/config.toml and .bosun/prompts/. Exactly their present content is trusted, in this \
folder; after any change they have to be trusted again.

Examples:
  bosun trust
  bosun trust --list
  bosun trust --revoke ../other")]
pub(crate) struct Trust {
    /// The repository
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) repo: PathBuf,
    /// Trust them no longer
    #[arg(long)]
    pub(crate) revoke: bool,
    /// List what is trusted
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
    /// config, models, policy, plan, spec or intent
    pub(crate) name: String,
}
