//! Roles that answer with JSON instead of handing their result in with a tool: which contract they keep, how strictly
//! it is read, and what a policy says about such roles. Only the shapes; reading a reply is the engine's.

use serde::{Deserialize, Serialize};

use crate::{RoleId, WorkPath};

/// What a role answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyRule {
    pub contract: Contract,
    #[serde(default)]
    pub reading: Strictness,
}

/// The contracts that there are, each named after what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contract {
    /// `{plan_id, tasks}`, ids `T1..Tn` in the order of execution.
    Plan,
    /// `{edits: [{path, content}]}`: whole files, all of them or none.
    Edits,
    /// `{task_id, passed, report}` on what the checks said.
    Report,
    /// What is wanted and how it will be seen, before anything is made.
    IntentSpec,
    /// What a developer made of an Intent Spec.
    DevOutput,
    /// A judgement of that, requirement by requirement, with evidence.
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
    /// One JSON object and nothing else: prose, markdown and fences are mistakes.
    #[default]
    Strict,
    /// The object may stand in a fence or between words; that it did is put on record.
    Lenient,
}

/// What a role may use beyond the bare conversation. Tools that need more are taken from it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manifest {
    pub network: NetworkLeave,
    pub filesystem: bool,
}

/// `true`, `false`, or a list of hosts. `true` is taken as none: nobody has all of the network.
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

/// The part `[contracts]` of a policy: how large replies may be, and how paths in them are meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contracts {
    /// The most characters of a text.
    pub text_chars: usize,
    /// The most characters of a file's content.
    pub content_chars: usize,
    /// The most characters of a whole reply.
    pub reply_chars: usize,
    /// How much of a reply that cannot be read is kept with the fault.
    pub shown_chars: usize,
    /// The most files that a planner is told of.
    pub summary_files: usize,
    /// The folder of the repository that the paths in replies are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<WorkPath>,
    /// Folders of the repository that no reply writes to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<WorkPath>,
    /// Files that some task of the plan must promise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<WorkPath>,
    /// The id that the plan must have; `plan_0001` if nothing is said.
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

/// The part `[review]` of a policy: who looks at a result after its checks have run.
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

/// The part `[intent]` of a policy: an Intent Spec stands between the request and the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentPolicy {
    /// Who writes it.
    pub product: RoleId,
    /// Who carries it out.
    pub dev: RoleId,
}
