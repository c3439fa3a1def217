//! Interface to the program that embeds the server: machine configuration, models with their keys, and trusted
//! projects. It builds the runs and sessions that callers ask for, by the rules of the command line.

use std::path::Path;

use async_trait::async_trait;
use runtime::{NewRun, NewSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{Budget, ModelRef};

/// A run that a caller asks for. Exactly one of `goal`, `issue`, `spec` says what is to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedRun {
    /// The project to work in.
    pub project: String,
    /// What is to be done, in the caller's words.
    #[serde(default)]
    pub goal: Option<String>,
    /// The text of an issue; its first line is its title.
    #[serde(default)]
    pub issue: Option<String>,
    /// A spec, as a file would have it.
    #[serde(default)]
    pub spec: Option<String>,
    /// A plan, as JSON; no planner is asked then.
    #[serde(default)]
    pub plan: Option<String>,
    /// The preset to work by; the project's own policy, if there is none.
    #[serde(default)]
    pub preset: Option<String>,
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// A script that answers in place of a model.
    #[serde(default)]
    pub script: Option<String>,
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Commands that decide, in place of those found in the repository.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Ask nobody: what would be asked is decided by the policy.
    #[serde(default)]
    pub headless: bool,
    /// Show the plan to a person before it is carried out.
    #[serde(default)]
    pub approve_plan: bool,
    /// Why it should be done although the rules refuse it.
    #[serde(default)]
    pub insist: Option<String>,
}

/// A conversation that a caller asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedSession {
    /// The project to work in.
    pub project: String,
    /// The first message.
    pub text: String,
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// A script that answers in place of a model.
    #[serde(default)]
    pub script: Option<String>,
}

/// A model that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelItem {
    pub model: String,
    pub provider: String,
    /// Whether it can be asked from here: there is a key, or it needs none.
    pub usable: bool,
    pub window: Option<u64>,
    pub max_output: Option<u64>,
    /// For a million tokens, in US dollars; null if unknown.
    pub input_price: Option<String>,
    pub output_price: Option<String>,
}

/// A set of rules that ships or belongs to this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PolicyItem {
    pub name: String,
    pub description: String,
    /// The rules as TOML.
    pub text: String,
}

/// Error building a run or session: a sentence that includes a remedy.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

/// Builds the runs and sessions that callers ask for.
#[async_trait]
pub trait RunFactory: Send + Sync + std::fmt::Debug {
    /// Builds a run, ready to be started in a repository. Records nothing.
    async fn run(&self, wanted: &WantedRun, repository: &Path) -> Result<NewRun, Unfit>;

    /// Builds a session, ready to be opened in a folder.
    async fn session(&self, wanted: &WantedSession, folder: &Path) -> Result<NewSession, Unfit>;

    fn models(&self) -> Vec<ModelItem>;

    fn policies(&self) -> Vec<PolicyItem>;
}
