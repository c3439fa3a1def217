//! Tool profiles: the names and arguments under which a role is offered its tools, with related settings. The tools
//! themselves are defined elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Family, Millis, ModelRef};

/// The part `[profiles.NAME]` of a policy. Omitted keys are taken from the base family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolProfile {
    /// The family whose tools, wording and documents it starts from.
    #[serde(default)]
    pub like: Family,
    /// The names of tools, by their base names: `shell = "shell_exec"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// The names of arguments, by the base names of the tool and the argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, BTreeMap<String, String>>,
    /// The timeout of a command when neither the model nor `[tools]` sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_timeout_ms: Option<Millis>,
    /// The model of its roles, unless a role names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Whether read-only calls of one reply run concurrently.
    #[serde(default = "crate::yes")]
    pub parallel_calls: bool,
    /// Files of the project that go into its prompts, besides AGENTS.md and the family's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

impl ToolProfile {
    /// The name of the shipped profile with the six tools of document 000.
    pub const BASIC: &'static str = "basic";

    /// A family's own profile.
    #[must_use]
    pub const fn of(like: Family) -> Self {
        Self {
            like,
            names: BTreeMap::new(),
            arguments: BTreeMap::new(),
            command_timeout_ms: None,
            model: None,
            parallel_calls: true,
            documents: Vec::new(),
        }
    }

    /// `shell_exec`, `file_read` and `file_write`; the other tools keep their base names.
    #[must_use]
    pub fn basic() -> Self {
        let renamed = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let names = [
            renamed("shell", "shell_exec"),
            renamed("read_file", "file_read"),
            renamed("write_file", "file_write"),
        ];
        let arguments = [
            ("shell".to_owned(), [renamed("timeout_ms", "timeout")].into()),
            ("write_file".to_owned(), [renamed("create_dirs", "createDirs")].into()),
        ];
        Self {
            names: names.into(),
            arguments: arguments.into(),
            command_timeout_ms: Some(Millis::seconds(30)),
            ..Self::of(Family::Portable)
        }
    }

    /// A shipped profile: a family's own, or `basic`.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Self> {
        if name == Self::BASIC {
            return Some(Self::basic());
        }
        Family::ALL.into_iter().find(|family| family.as_str() == name).map(Self::of)
    }

    /// The names of the shipped profiles.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        Family::ALL.into_iter().map(Family::as_str).chain([Self::BASIC])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_that_ships_is_found_by_its_name() {
        for name in ToolProfile::shipped_names() {
            assert!(ToolProfile::shipped(name).is_some(), "{name}");
        }
        assert_eq!(ToolProfile::shipped("mine"), None);
    }
}
