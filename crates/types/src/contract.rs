//! Roles that answer with JSON instead of submitting with a tool: their contract, how strictly replies are parsed, and
//! the policy for such roles. Only the data format; the engine parses replies.

use serde::{Deserialize, Serialize};

use crate::{RoleId, WorkPath};

/// The reply of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyRule {
    pub contract: Contract,
    #[serde(default)]
    pub reading: Strictness,
}

/// The contracts, each named after its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// `{plan_id, tasks}`, ids `T1..Tn` in the order of execution.
    Plan,
    /// `{edits: [{path, content}]}`: whole files, all of them or none.
    Edits,
    /// `{task_id, passed, report}` on the results of checks.
    Report,
    /// The goal and its verification, before any work.
    IntentSpec,
    /// A developer's result for an Intent Spec.
    DevOutput,
    /// An evaluation of that, requirement by requirement, with evidence.
    Verdict,
    /// `{verdict, reason, questions}`: an adviser's opinion of a request.
    Advice,
}

impl Contract {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Edits => "edits",
            Self::Report => "report",
            Self::IntentSpec => "intent_spec",
            Self::DevOutput => "dev_output",
            Self::Verdict => "verdict",
            Self::Advice => "advice",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// One JSON object and nothing else: prose, markdown and fences are errors.
    #[default]
    Strict,
    /// The object may be in a fence or surrounded by text; that is recorded.
    Lenient,
}

/// The resources of a role beyond the bare conversation. Tools that need more are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    pub network: NetworkLeave,
    pub filesystem: bool,
}

/// `true`, `false`, or a list of hosts. `true` grants no hosts: no role gets unrestricted network access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetworkLeave {
    All(bool),
    Hosts(Vec<String>),
}

impl Default for NetworkLeave {
    fn default() -> Self {
        Self::All(false)
    }
}

/// The part `[contracts]` of a policy: limits on replies, and the meaning of paths in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contracts {
    /// Maximum number of characters in a text.
    pub text_chars: usize,
    /// Maximum number of characters in a file's content.
    pub content_chars: usize,
    /// Maximum number of characters in a whole reply.
    pub reply_chars: usize,
    /// Maximum length of the excerpt of an unreadable reply that is kept with the fault.
    pub shown_chars: usize,
    /// Maximum number of files listed for a planner.
    pub summary_files: usize,
    /// The folder of the repository that the paths in replies are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<WorkPath>,
    /// Folders of the repository that no reply may write to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<WorkPath>,
    /// Files that some task of the plan must promise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<WorkPath>,
    /// The required id of the plan; `plan_0001` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
}

impl Default for Contracts {
    fn default() -> Self {
        Self {
            text_chars: 4_000,
            content_chars: 200_000,
            reply_chars: 400_000,
            shown_chars: 1_200,
            summary_files: 200,
            root: None,
            closed: vec![],
            artifacts: vec![],
            plan_id: None,
        }
    }
}

/// The part `[review]` of a policy: which role reviews a result after its checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewPolicy {
    pub role: RoleId,
}

/// The part `[adviser]` of a policy: a model's opinion of a request that the rules accept. It can only add questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdviserPolicy {
    pub role: RoleId,
}

/// The part `[intent]` of a policy: requires an Intent Spec before the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentPolicy {
    /// The role that writes it.
    pub product: RoleId,
    /// The role that implements it.
    pub dev: RoleId,
}
