//! Policy as data: ordered rules, roles, limits, as people write them in TOML. Unknown keys are refused.
//! Only the shape is checked here; that each rule holds for its own examples is checked in the engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AdmissionRule, Budget, Check, ContextRule, Contracts, Effort, Escalation, FaultClass, GateRule,
    IntentPolicy, Manifest, MergePolicy, Millis, ModelFailureRule, ModelRef, Permission,
    PermitRule, PlanPolicy, ProjectType, ReplyRule, ReviewPolicy, RoleId, RouteRule, RuleId,
    RunBudget, SandboxPolicy, SessionPolicy, Severity, ToolPolicy, ToolProfile, VerifyPolicy,
    WorkspacePolicy,
};

/// A whole policy. Rules are ordered; the first that matches wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub name: String,
    pub version: u32,
    /// Lists of words that patterns may name as `<list>`. In a file, a list is an array or a text with blanks between
    /// the words, where `a_b` is one word after the other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "word_lists")]
    pub words: BTreeMap<String, Vec<String>>,
    /// The sorts of projects that are taken on, with what a request of each is expected to take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub project_types: Vec<ProjectType>,
    pub admission: Vec<AdmissionRule>,
    /// Whether whoever started a run may insist on a request that the rules refuse or ask about.
    #[serde(default = "AdmissionRule::yes", skip_serializing_if = "Clone::clone")]
    pub insist: bool,
    pub routing: Vec<RouteRule>,
    pub context: Vec<ContextRule>,
    pub roles: BTreeMap<RoleId, Role>,
    /// Tool profiles of the policy's own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, ToolProfile>,
    pub permissions: Vec<PermitRule>,
    /// What holds for a part of a command that no permission speaks of.
    #[serde(default = "Policy::strictest")]
    pub default: Permission,
    /// Nobody can be asked: what would be asked is denied.
    #[serde(default)]
    pub headless: bool,
    /// Nobody watches: a model that is away is waited for longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// Only models on this machine are asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    pub failures: Vec<FailureRule>,
    /// When a model that did not reply is asked again, before its conversation has failed.
    #[serde(default = "ModelFailureRule::usual")]
    pub model_failures: Vec<ModelFailureRule>,
    /// When a role that fails again and again is left alone for a while.
    #[serde(default)]
    pub breaker: RoleBreaker,
    /// How long a person is waited for.
    #[serde(default)]
    pub questions: QuestionPolicy,
    pub gates: Vec<GateRule>,
    /// What holds for plans.
    #[serde(default)]
    pub plan: PlanPolicy,
    /// How commands are held.
    #[serde(default)]
    pub sandbox: SandboxPolicy,
    /// How a fresh checkout is made ready.
    #[serde(default, skip_serializing_if = "WorkspacePolicy::is_default")]
    pub workspace: WorkspacePolicy,
    /// What a run may spend, how it is shared out, and what is done when it is spent.
    #[serde(default)]
    pub budget: RunBudget,
    /// The checks that decide, unless the request names others; if there are none, those found in the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What is looked for in changes.
    #[serde(default)]
    pub verify: VerifyPolicy,
    #[serde(default)]
    pub merge: MergePolicy,
    pub limits: Limits,
    #[serde(default)]
    pub tools: ToolPolicy,
    #[serde(default)]
    pub session: SessionPolicy,
    /// How replies are read that are JSON.
    #[serde(default)]
    pub contracts: Contracts,
    /// Who looks at a result after its checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewPolicy>,
    /// Whether an Intent Spec stands between the request and the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentPolicy>,
}

fn word_lists<'de, D>(from: D) -> Result<BTreeMap<String, Vec<String>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of words, or a text with blanks between the words")]
    enum Words {
        Text(String),
        List(Vec<String>),
    }
    let lists = BTreeMap::<String, Words>::deserialize(from)?;
    let words = |words: Words| match words {
        Words::Text(text) => text.split_whitespace().map(|word| word.replace('_', " ")).collect(),
        Words::List(list) => list,
    };
    Ok(lists.into_iter().map(|(name, list)| (name, words(list))).collect())
}

impl Policy {
    const fn strictest() -> Permission {
        Permission::Deny
    }
}

/// What an agent is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// What it is told; `@name.md` in a file stands for the text of that prompt.
    pub prompt: String,
    pub tools: Vec<String>,
    /// The tool profile: a family's, `basic`, or one of `[profiles]`; its model's own family if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// How hard its model thinks; the provider's own default if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    pub max_turns: u32,
    /// The longest reply; what the model itself can say at once, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// The most that one attempt in this role may spend.
    #[serde(default)]
    pub budget: Budget,
    /// What it answers with, if it does not hand its result in with a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyRule>,
    /// What it may use; everything that its tools need, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
}

/// What is done about a class of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureRule {
    pub id: RuleId,
    /// It is one of these; none named means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FaultClass>,
    /// And its code is one of these; none named means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    pub action: Remedy,
    pub reason: String,
    /// How many attempts at a task may end this way before it is given up.
    #[serde(default = "FailureRule::once")]
    pub max_executions: u32,
    /// After so many attempts that were told what was wrong, the next one is fresh; never if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_after: Option<u32>,
    /// How long before the next attempt; it doubles each time, up to a minute.
    #[serde(default)]
    pub backoff_ms: Millis,
    /// What is done when there is no execution left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Remedy>,
    /// Who tries it instead, if the action is an alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What a person is told it is, when one is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

impl FailureRule {
    const fn once() -> u32 {
        1
    }
}

/// So many failures of one role in a row, and it is left alone so long; then one attempt may try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleBreaker {
    pub failures: u32,
    pub open_ms: Millis,
}

impl Default for RoleBreaker {
    fn default() -> Self {
        Self { failures: 5, open_ms: Millis::seconds(30) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// A new attempt that knows nothing of the failed one.
    RetryFresh,
    /// A new attempt that starts from the failed one's files and is told what was wrong.
    RetryWithFeedback,
    /// A new attempt that knows nothing of the failed one, by another role or with another model.
    Alternative,
    /// A person decides.
    Ask,
    /// The task has failed; the others go on.
    Stop,
    /// The whole run ends at once.
    Halt,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How many tasks may run at once.
    pub parallel_tasks: usize,
    pub max_tasks: usize,
    pub check_timeout_ms: Millis,
    /// The share of the budget, in percent, at which a person is warned.
    pub warn_at_percent: u64,
    /// The most characters of an output that a model is shown, of tools that have no limit of their own.
    pub output_chars: usize,
    /// The most characters of a check's output that is kept with its event and handed to the next attempt.
    pub report_chars: usize,
    /// The largest registry of documents that an agent may be given whole.
    #[serde(default = "Limits::few")]
    pub whole_registry: usize,
}

impl Limits {
    const fn few() -> usize {
        2
    }
}
/// How long a question is waited for, and what holds then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionPolicy {
    /// For ever, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_after_ms: Option<Millis>,
    #[serde(default)]
    pub on_expiry: OnExpiry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExpiry {
    /// The question's own default is its answer; the run ends if it has none.
    #[default]
    Default,
    /// The run ends.
    Stop,
}
