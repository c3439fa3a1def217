//! What holds commands: what a policy asks for, and what a machine was proved to have. Nothing is built or tried here.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// How well commands are held. Each rung holds everything that the one before it does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// By nothing: they run with everything that our own process may do.
    None,
    /// By Landlock and seccomp: no files, sockets or signals beyond; other processes can be seen.
    Landlock,
    /// By namespaces of their own, and by Landlock and seccomp behind those.
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

/// The part of a policy that says how commands are held. Everything has a default, and the default is strict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxPolicy {
    /// The least that a run accepts; where the machine has less, the run is refused.
    pub require: IsolationLevel,
    /// Hosts that commands may reach: names, `*.` families, addresses. None means no network.
    pub network: Vec<String>,
    /// Whether a person is asked for a host that is not granted; otherwise a call that names one is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ask_hosts: bool,
    /// Whether a granted host may be this machine or one in a private network.
    pub allow_private: bool,
    /// Where a granted name leads, instead of asking for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resolve: BTreeMap<String, IpAddr>,
    /// Files that nobody may read, as globs such as `**/.env`; commands see them empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Files with passwords, such as `.env`, that agents may read and commands see all the same, as globs. Places for keys
    /// are not opened by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<String>,
    /// Whether one agent may work in a home folder itself. Keys and our own state stay closed there, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub home_folder: bool,
    pub inherit: Inherit,
    /// Variables that commands are given although they look like secrets.
    pub variables: Vec<String>,
    /// Processes and threads at once.
    pub processes: u64,
    /// Memory of one process, and of all processes of a command together.
    pub memory_mb: u64,
    /// The largest file that may be written.
    pub file_mb: u64,
    /// All private temporary folders together.
    pub temp_mb: u64,
    /// Everything that one command writes to the workspace.
    #[serde(skip_serializing_if = "SandboxPolicy::is_usual_disk")]
    pub disk_mb: u64,
}

impl SandboxPolicy {
    const DISK_MB: u64 = 32_768;

    /// Policies on record from before there was this limit have it all the same, and keep their digest.
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

/// How much of our own environment commands inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Inherit {
    /// Nothing but a search path.
    #[serde(rename = "inherit_none", alias = "none")]
    None,
    /// What programs and toolchains need to find themselves.
    #[default]
    #[serde(rename = "inherit_core", alias = "core")]
    Core,
    /// Everything that is neither a secret nor a way to inject code.
    #[serde(rename = "inherit_all", alias = "all")]
    All,
}

/// What came of attacking our own walls from inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The highest rung that held everything it should.
    pub rung: IsolationLevel,
    pub attacks: Vec<Attack>,
    /// Why there is no higher rung.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attack {
    /// What was tried, such as `write outside the workspace`.
    pub what: String,
    /// How it got through; nothing when it was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
}

impl Proof {
    /// There is nothing that holds commands.
    #[must_use]
    pub fn nothing(why: impl Into<String>) -> Self {
        Self { rung: IsolationLevel::None, attacks: vec![], missing: vec![why.into()] }
    }

    /// Whether something was tried, and everything was held.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.attacks.is_empty() && self.through().next().is_none()
    }

    /// What got through.
    pub fn through(&self) -> impl Iterator<Item = &Attack> {
        self.attacks.iter().filter(|attack| attack.through.is_some())
    }
}
