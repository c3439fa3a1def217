//! The policy for tools: limits on outputs sent to a model, and whether a file must be read before it is changed. Every
//! key has a default.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Millis;

/// The part `[tools]` of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolPolicy {
    /// An existing file may be changed only after reading its current content.
    pub read_before_write: bool,
    /// The default timeout of a command; by default that of the model's family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_timeout_ms: Option<Millis>,
    /// Maximum timeout that a model may set; ten minutes by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_command_timeout_ms: Option<Millis>,
    /// The URL template of `web_search`, in which `{query}` is replaced; without it there is no search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_url: Option<String>,
    /// Environment variables for every command of an agent. Those that make programs load code are dropped.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Limits on a tool's output, by the tool's name.
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

/// A limit on an output. Omitted keys keep the tool's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutputLimit {
    /// Maximum number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<usize>,
    /// Maximum number of lines, applied after the characters; 0 is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
}

/// The part of a long output that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// The beginning and the end.
    HeadTail,
    /// The end.
    Tail,
}
