//! Permissions as data: which calls may be made, which a person is asked about, which never. What a rule means is
//! decided in the engine's `permit`; here is only its shape.

use serde::{Deserialize, Serialize};

use crate::{Access, RuleId, Sensitive};

/// Whether a call, or a part of a command, may be made. Everything that is named must hold; the first rule that
/// matches decides. A rule without `commands` and `does` speaks of calls as a whole, and so of every part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermitRule {
    pub id: RuleId,
    pub verdict: Permission,
    pub reason: String,
    /// The tool is one of these; none named means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<Access>,
    /// Every path of the call is inside the task's scope, or one is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_scope: Option<bool>,
    /// A path of the call is one of these, and not a file that the scope names itself. Commands are not judged by it: what
    /// they may touch is held by the sandbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Sensitive>,
    /// The part of the command has the words of one of these patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// The part of the command does one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<Deed>,
    /// Command lines that the rule must speak of; checked when the policy is loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// And those that it must not speak of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<String>,
}

/// From the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    /// A person is asked; where nobody can be, it is the same as `deny`.
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

/// What a part of a command line does, beside being called what it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// What it runs is known only when it runs, or the line could not be read with certainty.
    Opaque,
    /// It writes to a file by a redirection.
    Redirects,
    /// It writes, deletes or changes something that is certainly outside the workspace.
    WritesOutside,
    /// It writes to a device, such as a disk.
    WritesDevice,
    /// It sets a variable by which programs are made to load or run something else.
    SetsVariable,
    /// Its arguments make an otherwise harmless program write or run something.
    SideDoor,
    /// It runs code that these rules cannot read: a script, or text for an interpreter.
    RunsCode,
    /// A shell takes its commands from another program.
    PipeToShell,
    /// A shell or interpreter takes its commands from the network.
    NetworkToShell,
    /// It opens a connection by a redirection.
    Connects,
    /// A function that starts itself again in the background, without end.
    ForkBomb,
}

impl Deed {
    /// What it is, in a sentence that starts with the command.
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
