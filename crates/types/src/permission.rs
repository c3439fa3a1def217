//! Permissions as data: which calls are allowed, asked about, or denied. Only the data format; `permit` in the rules
//! defines its meaning.

use serde::{Deserialize, Serialize};

use crate::{Access, RuleId, Sensitive};

/// Whether a call, or a part of a command, is permitted. All given conditions must hold; the first matching rule
/// decides. A rule without `commands` and `does` covers whole calls, and so every part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermitRule {
    pub id: RuleId,
    pub verdict: Permission,
    pub reason: String,
    /// The tool is one of these; empty matches any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// Whether every path of the call is inside the task's scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_scope: Option<bool>,
    /// A path of the call is of one of these kinds, and the scope does not name it as a file. Does not apply to
    /// commands: the sandbox limits what they touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Sensitive>,
    /// The part of the command matches one of these patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The part of the command has one of these risks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<CommandRisk>,
    /// Command lines that the rule must match; checked when the policy is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Command lines that it must not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

/// In order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    /// A person is asked; the same as `deny` if that is impossible.
    Ask,
    Deny,
}

impl Permission {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A risk of a part of a command line, by its effect and not by the name of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandRisk {
    /// The code it runs is known only at run time, or the line could not be parsed with certainty.
    Opaque,
    /// It writes to a file by a redirection.
    Redirects,
    /// It certainly writes, deletes or changes something outside the workspace.
    WritesOutside,
    /// It writes to a device, such as a disk.
    WritesDevice,
    /// It sets a variable that makes programs load or run something else.
    SetsVariable,
    /// Its arguments make an otherwise harmless program write or execute something.
    SideDoor,
    /// It runs code that these rules cannot analyse: a script, or text for an interpreter.
    RunsCode,
    /// A shell reads its commands from another program.
    PipeToShell,
    /// A shell or interpreter reads its commands from the network.
    NetworkToShell,
    /// It opens a connection by a redirection.
    Connects,
    /// A function that endlessly starts itself in the background.
    ForkBomb,
}

impl CommandRisk {
    /// A description, as a sentence that starts with the command.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Opaque => "is known only when it runs, or could not be read with certainty",
            Self::Redirects => "writes to a file by a redirection",
            Self::WritesOutside => "writes outside the workspace",
            Self::WritesDevice => "writes to a device",
            Self::SetsVariable => "sets a variable that makes programs load or run something else",
            Self::SideDoor => "has arguments that make it write or run something else",
            Self::RunsCode => "runs code that the rules cannot read",
            Self::PipeToShell => "lets a shell run what another program prints",
            Self::NetworkToShell => "runs what comes from the network",
            Self::Connects => "opens a connection by a redirection",
            Self::ForkBomb => "starts itself again without end",
        }
    }
}
