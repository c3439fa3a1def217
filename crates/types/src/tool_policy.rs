//! What a policy says about tools: how much of an output a model is shown, and whether a file must have been read
//! before it is changed. Everything has a default, so that a policy need not speak of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Millis;

/// The part `[tools]` of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPolicy {
    /// An existing file is changed only by whom has read it as it is now.
    pub read_before_write: bool,
    /// How long a command has when the model does not say; the default of the model's family when nothing is said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_timeout_ms: Option<Millis>,
    /// The longest that a command may have, whatever the model says; ten minutes when nothing is said here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_command_timeout_ms: Option<Millis>,
    /// Where `web_search` looks: an address in which `{query}` stands for the words. There is no search without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_url: Option<String>,
    /// Environment variables that every command of an agent is given. Those by which programs load code are left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// How much of a tool's output a model is shown, by the tool's name, where it is not the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub output: BTreeMap<String, OutputLimit>,
}

impl Default for ToolPolicy {
    fn default() -> Self {
        Self {
            read_before_write: true,
            command_timeout_ms: None,
            max_command_timeout_ms: None,
            search_url: None,
            variables: BTreeMap::new(),
            output: BTreeMap::new(),
        }
    }
}

/// How much of an output is shown. What is left out here is as in the default of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputLimit {
    /// The most characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<usize>,
    /// The most lines, counted after the characters were cut; 0 is as many as there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
}

/// Which part of a long output stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The beginning and the end.
    HeadTail,
    /// The end.
    Tail,
}
