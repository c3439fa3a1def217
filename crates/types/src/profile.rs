//! Tool profiles: under which names and arguments a role is offered its tools, and what goes with that. Which tools there
//! are and what they do is not said here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Family, Millis, ModelRef};

/// The part `[profiles.NAME]` of a policy. What it leaves out is as in the family that it is like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolProfile {
    /// The family whose tools, wording and documents it starts from.
    #[serde(default = "ToolProfile::portable")]
    pub like: Family,
    /// What tools are called, by their plain names: `shell = "shell_exec"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// What arguments are called, by the plain names of the tool and of the argument.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, BTreeMap<String, String>>,
    /// How long a command has when neither the model nor `[tools]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_timeout_ms: Option<Millis>,
    /// The model of its roles, unless a role names another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Whether calls of one reply that only look run at the same time.
    #[serde(default = "ToolProfile::yes")]
    pub parallel_calls: bool,
    /// Files of the project that go into its prompts, beside AGENTS.md and the family's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

impl ToolProfile {
    /// The name of the profile with the six tools of document 000, which ships with the product.
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

    /// `shell_exec`, `file_read` and `file_write`; the other tools keep their plain names.
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

    /// A profile that ships with the product: a family's own, or `basic`.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Self> {
        if name == Self::BASIC {
            return Some(Self::basic());
        }
        Family::ALL.into_iter().find(|family| family.as_str() == name).map(Self::of)
    }

    /// The names of the profiles that ship with the product.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        Family::ALL.into_iter().map(Family::as_str).chain([Self::BASIC])
    }

    const fn portable() -> Family {
        Family::Portable
    }

    const fn yes() -> bool {
        true
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
