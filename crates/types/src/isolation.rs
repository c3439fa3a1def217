//! Isolation of commands: the level that a policy requires, and the level that a machine has proven. Nothing is built
//! or tried here.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The isolation level of commands. Each level includes the one before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// None: commands have all rights of our own process.
    None,
    /// Landlock and seccomp: no files, sockets or signals outside; other processes are visible.
    Landlock,
    /// Own namespaces, with Landlock and seccomp behind those.
    #[default]
    Full,
}

impl IsolationLevel {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        }
    }
}

/// The part `[sandbox]` of a policy. Every key has a strict default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPolicy {
    /// The lowest level that a run accepts; on a machine with less, the run is refused.
    pub require: IsolationLevel,
    /// Hosts that commands may reach: names, `*.` families, addresses. None means no network.
    pub network: Vec<String>,
    /// Whether a person is asked about a host that is not granted; otherwise a call that names one is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ask_hosts: bool,
    /// Whether a granted host may be this machine or one in a private network.
    pub allow_private: bool,
    /// Fixed addresses for granted names, instead of a lookup.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resolve: BTreeMap<String, IpAddr>,
    /// Globs of files that are never readable, such as `**/.env`; commands see them as empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Globs of files with passwords, such as `.env`, that agents and commands may read nevertheless. Does not apply to
    /// folders with keys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Whether a single agent may work in a home folder itself. Keys and our own state stay inaccessible even then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub home_folder: bool,
    pub inherit: Inherit,
    /// Variables passed to commands although they look like secrets.
    pub variables: Vec<String>,
    /// Maximum number of processes and threads at once.
    pub processes: u64,
    /// The memory of one process, and of all processes of a command together.
    pub memory_mb: u64,
    /// Maximum size of a file that may be written.
    pub file_mb: u64,
    /// Maximum size of all private temporary folders together.
    pub temp_mb: u64,
    /// Maximum amount that one command may write to the workspace.
    #[serde(skip_serializing_if = "SandboxPolicy::is_usual_disk")]
    pub disk_mb: u64,
}

impl SandboxPolicy {
    const DISK_MB: u64 = 32_768;

    /// Recorded policies that predate this limit have the default, and keep their digest.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    const fn is_usual_disk(disk_mb: &u64) -> bool {
        *disk_mb == Self::DISK_MB
    }
}

impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            require: IsolationLevel::Full,
            network: vec![],
            ask_hosts: false,
            allow_private: false,
            resolve: BTreeMap::new(),
            hidden: vec![],
            readable: vec![],
            home_folder: false,
            inherit: Inherit::Core,
            variables: vec![],
            processes: 1_024,
            memory_mb: 8_192,
            file_mb: 8_192,
            temp_mb: 2_048,
            disk_mb: Self::DISK_MB,
        }
    }
}

/// The part of our own environment that commands inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Inherit {
    /// Only a search path.
    #[serde(rename = "inherit_none", alias = "none")]
    None,
    /// Variables that programs and toolchains need.
    #[default]
    #[serde(rename = "inherit_core", alias = "core")]
    Core,
    /// Everything except secrets and variables that inject code.
    #[serde(rename = "inherit_all", alias = "all")]
    All,
}

/// The result of attacking our own sandbox from inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The highest level that held every attack.
    #[serde(rename = "rung")]
    pub level: IsolationLevel,
    pub attacks: Vec<Attack>,
    /// Why there is no higher level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// One attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attack {
    /// The attack, such as `write outside the workspace`.
    pub what: String,
    /// How it succeeded; `None` if it was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
}

impl Proof {
    /// A machine without isolation.
    #[must_use]
    pub fn nothing(why: impl Into<String>) -> Self {
        Self { level: IsolationLevel::None, attacks: vec![], missing: vec![why.into()] }
    }

    /// Whether there were attacks, and all were held.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.attacks.is_empty() && self.through().next().is_none()
    }

    /// The attacks that succeeded.
    pub fn through(&self) -> impl Iterator<Item = &Attack> {
        self.attacks.iter().filter(|attack| attack.through.is_some())
    }
}
