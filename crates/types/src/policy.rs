//! Policy as data: ordered rules, roles, limits, as people write them in TOML. Unknown keys are rejected. Only the
//! format is checked here; the engine checks each rule against its examples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AdmissionRule, AdviserPolicy, Budget, Check, ContextRule, Contracts, Effort, Escalation,
    FaultClass, GateRule, IntentPolicy, Manifest, MergePolicy, Millis, ModelFailureRule, ModelRef,
    Permission, PermitRule, PlanPolicy, ProjectType, ReplyRule, ReviewPolicy, RoleId, RouteRule,
    RuleId, RunBudget, SandboxPolicy, SessionPolicy, Severity, ToolPolicy, ToolProfile,
    VerifyPolicy, WorkspacePolicy,
};

/// A whole policy. Rules are ordered; the first match wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub name: String,
    pub version: u32,
    /// Lists of words that patterns may reference as `<list>`. In a file, a list is an array or a text with words
    /// separated by blanks, where `a_b` is a sequence of two words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "word_lists")]
    pub words: BTreeMap<String, Vec<String>>,
    /// The accepted kinds of projects, with the expected cost of a request of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub project_types: Vec<ProjectType>,
    pub admission: Vec<AdmissionRule>,
    /// Whether the requester may override the rules that refuse or ask about a request.
    #[serde(default = "crate::yes", skip_serializing_if = "Clone::clone")]
    pub insist: bool,
    pub routing: Vec<RouteRule>,
    pub context: Vec<ContextRule>,
    pub roles: BTreeMap<RoleId, Role>,
    /// The policy's own tool profiles, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, ToolProfile>,
    pub permissions: Vec<PermitRule>,
    /// The permission for a part of a command that no rule covers.
    #[serde(default = "Policy::strictest")]
    pub default: Permission,
    /// No person can be asked: `ask` means `deny`.
    #[serde(default)]
    pub headless: bool,
    /// No person is watching: an unavailable model is retried for longer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// Only local models are used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    pub failures: Vec<FailureRule>,
    /// When a failed model request is retried, before its session fails.
    #[serde(default = "ModelFailureRule::usual")]
    pub model_failures: Vec<ModelFailureRule>,
    /// When a role that fails repeatedly is paused.
    #[serde(default)]
    pub breaker: RoleBreaker,
    /// How long to wait for a person.
    #[serde(default)]
    pub questions: QuestionPolicy,
    pub gates: Vec<GateRule>,
    /// The rules on plans.
    #[serde(default)]
    pub plan: PlanPolicy,
    /// The isolation of commands.
    #[serde(default)]
    pub sandbox: SandboxPolicy,
    /// How a fresh checkout is prepared.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub workspace: WorkspacePolicy,
    /// The limits of a run, its shares, and the action when they are reached.
    #[serde(default)]
    pub budget: RunBudget,
    /// The deciding checks, unless the request names others; if empty, those found in the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The findings to look for in changes.
    #[serde(default)]
    pub verify: VerifyPolicy,
    #[serde(default)]
    pub merge: MergePolicy,
    pub limits: Limits,
    #[serde(default)]
    pub tools: ToolPolicy,
    #[serde(default)]
    pub session: SessionPolicy,
    /// How JSON replies are parsed.
    #[serde(default)]
    pub contracts: Contracts,
    /// Which role reviews a result after its checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewPolicy>,
    /// The role that gives its opinion of a request before planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adviser: Option<AdviserPolicy>,
    /// Whether an Intent Spec precedes the work.
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
    /// Reads a policy from JSON. Compiled here, once, instead of in every crate that reads one.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Whether no rule and no role names a model of its own, so that all work is done by the request's.
    #[must_use]
    pub fn uses_one_model(&self) -> bool {
        self.roles.values().all(|role| role.model.is_none())
            && self.failures.iter().all(|rule| rule.model.is_none())
    }

    const fn strictest() -> Permission {
        Permission::Deny
    }
}

/// A role of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Its prompt; `@name.md` in a file is replaced by the text of that prompt.
    pub prompt: String,
    pub tools: Vec<String>,
    /// The tool profile: a family's, `basic`, or one of `[profiles]`; by default its model's family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// Reasoning effort of its model; by default the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    pub max_turns: u32,
    /// Maximum length of a reply; by default the model's own maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Maximum spend of one attempt in this role.
    #[serde(default)]
    pub budget: Budget,
    /// Its reply contract, if it does not submit with a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ReplyRule>,
    /// Its resources; by default all that its tools need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
}

/// The remedy for a class of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureRule {
    pub id: RuleId,
    /// The fault's class is one of these; empty matches any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<FaultClass>,
    /// And its code is one of these; empty matches any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<String>,
    pub action: Remedy,
    pub reason: String,
    /// How many attempts at a task may end this way before it is abandoned.
    #[serde(default = "FailureRule::once")]
    pub max_executions: u32,
    /// After this many attempts with feedback, the next one is fresh; never by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_after: Option<u32>,
    /// The delay before the next attempt; it doubles each time, up to a minute.
    #[serde(default)]
    pub backoff_ms: Millis,
    /// The remedy when no execution is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Remedy>,
    /// The role that tries instead, if the action is an alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The kind of escalation shown to a person.
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

/// Pauses a role for this long after this many consecutive failures; then one attempt may try.
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
    /// A new attempt without knowledge of the failed one.
    RetryFresh,
    /// A new attempt that starts from the failed one's files, with feedback.
    RetryWithFeedback,
    /// A new attempt without knowledge of the failed one, by another role or with another model.
    Alternative,
    /// A person decides.
    Ask,
    /// The task has failed; the others continue.
    Stop,
    /// The whole run ends at once.
    Halt,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of tasks that run concurrently.
    pub parallel_tasks: usize,
    pub max_tasks: usize,
    /// Maximum time of a check without its own limit; on the untouched tree it gets all of it.
    pub check_timeout_ms: Millis,
    /// Later checks get this many times what the same check took on the untouched tree. 0: every check gets
    /// `check_timeout_ms`, and one that takes longer has failed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub check_timeout_factor: u32,
    /// But at least this much.
    #[serde(default = "Limits::short", skip_serializing_if = "Limits::is_short")]
    pub check_timeout_least_ms: Millis,
    /// The share of the budget, in percent, at which a person is warned.
    pub warn_at_percent: u64,
    /// Maximum number of characters of an output sent to a model, for tools without their own limit.
    pub output_chars: usize,
    /// Maximum number of characters of a check's output kept with its event and passed to the next attempt.
    pub report_chars: usize,
    /// Size of the largest document registry that an agent may be given in full.
    #[serde(default = "Limits::few")]
    pub whole_registry: usize,
}

impl Limits {
    const fn few() -> usize {
        2
    }

    const fn short() -> Millis {
        Millis::seconds(120)
    }

    fn is_short(least: &Millis) -> bool {
        *least == Self::short()
    }
}

/// How long a question stays open, and the action on expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionPolicy {
    /// Unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_after_ms: Option<Millis>,
    #[serde(default)]
    pub on_expiry: OnExpiry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExpiry {
    /// The question's own default becomes its answer; without one the run ends.
    #[default]
    Default,
    /// The run ends.
    Stop,
}
