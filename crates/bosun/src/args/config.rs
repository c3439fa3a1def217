//! Arguments of the configuration commands, and flags that set configuration keys.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use types::{Effort, ModelRef};

use super::effort;

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
    #[arg(long, value_name = "EFFORT", value_parser = effort)]
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
