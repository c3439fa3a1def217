//! Effects that the state asks for, and their outcomes. Plain data, so that any loop can drive a run, here or on
//! another machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Against, AttemptId, Budget, CallId, Changes, Check, CheckEnd, CheckId, CommitId, Digest, Fault,
    Inspection, IsolationLevel, ModelReply, ModelRequest, Proof, RoleId, RunId, Scope, SessionId,
    Spend, TaskId, Timestamp, ToolOutput, ToolSpec, Usage,
};

/// A request to the outside world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Drive the attempt's own log until it ends.
    RunAttempt {
        brief: Box<Brief>,
        /// The answers to its questions so far, in order.
        answers: Vec<crate::Answer>,
    },
    /// Attack our own sandbox from inside, to test which attacks it withstands.
    Probe,
    RunCheck {
        check: CheckId,
        what: Check,
        commit: CommitId,
        /// The required isolation level.
        #[serde(rename = "walls")]
        isolation: IsolationLevel,
        /// The comparison data, also for a trial's tree.
        against: Box<Against>,
    },
    /// Put the commit's changes on top of the run's branch.
    Merge {
        task: TaskId,
        commit: CommitId,
        onto: CommitId,
        message: String,
        /// The expected artifacts.
        artifacts: Vec<crate::Artifact>,
        at: Timestamp,
    },
    Wait {
        timer: TimerId,
        until: Timestamp,
    },
    AskModel {
        request: Box<ModelRequest>,
    },
    RunTool {
        call: CallId,
        tool: String,
        arguments: Value,
        /// The digest of the exact arguments, if these are redacted.
        exact: Option<Digest>,
        /// The model whose tool names it uses.
        model: crate::ModelRef,
        /// Its write scope, if not the attempt's.
        scope: Option<Scope>,
        /// Whether it may change files.
        changes: bool,
        /// Hosts that it may reach in addition to those of the policy.
        hosts: Vec<String>,
    },
    /// Inspect the files that a command line names: before a person is asked about it, and again before it runs.
    Look {
        call: CallId,
        /// Words that may be paths.
        words: Vec<String>,
    },
    /// Commit the attempt's changes in its worktree.
    Seal {
        message: String,
        at: Timestamp,
    },
}

impl Effect {
    #[must_use]
    pub fn id(&self) -> EffectId {
        match self {
            Self::RunAttempt { brief, .. } => EffectId::Attempt(brief.attempt.clone()),
            Self::Probe => EffectId::Probe,
            Self::RunCheck { check, .. } => EffectId::Check(check.clone()),
            Self::Merge { task, .. } => EffectId::Merge(task.clone()),
            Self::Wait { timer, .. } => EffectId::Timer(timer.clone()),
            Self::AskModel { request } => {
                EffectId::Model(request.origin.session, request.origin.turn)
            }
            Self::RunTool { call, .. } => EffectId::Tool(*call),
            Self::Look { call, .. } => EffectId::Look(*call),
            Self::Seal { .. } => EffectId::Seal,
        }
    }
}

/// The name of an effect, unique among the open effects of a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectId {
    Probe,
    Attempt(AttemptId),
    Check(CheckId),
    Merge(TaskId),
    Timer(TimerId),
    Model(SessionId, u32),
    Tool(CallId),
    Look(CallId),
    Seal,
}

/// The purpose of a timer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerId {
    /// The next attempt at a task may start.
    Retry(TaskId),
    /// The run's time is up.
    Deadline,
    /// This question expires.
    Question(u32),
    /// The time of a session for one of its inputs is up.
    Session(SessionId, u32),
    /// The failed request for this turn may be repeated.
    Model(SessionId, u32),
}

/// Everything that an attempt is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub run: RunId,
    pub attempt: AttemptId,
    pub role: RoleId,
    pub model: crate::ModelRef,
    /// The server of the provider, if not its default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Box<crate::ModelServer>>,
    pub system: String,
    /// The first message to the model.
    pub task: String,
    /// Images attached to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<crate::Source>,
    /// Names of the tools; the runtime fills in their definitions.
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_specs: Vec<ToolSpec>,
    pub scope: Scope,
    /// The required isolation level.
    #[serde(rename = "walls", default)]
    pub isolation: IsolationLevel,
    /// The commit that the worktree starts from.
    pub start: CommitId,
    /// Its assignment, if it works on a task.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub assignment: Assignment,
    pub budget: Budget,
    pub max_turns: u32,
    pub max_output_tokens: u64,
    pub output_chars: usize,
    /// When its session ends.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ending: crate::Ending,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<crate::Effort>,
    /// The model's context window in tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Its reply contract, if it does not submit with a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<crate::ReplyRule>,
    /// Files to show, and their contents once the runtime has read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<crate::WorkPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<crate::Document>,
    /// The highest price of its tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<crate::PriceCap>,
    /// For a session without a run: its folder, and its policy, kept as a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Digest>,
    /// For a session without a run: the schema of its last reply, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<crate::OutputSchema>,
    /// The user's standing instruction, part of the system prompt for any model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// The session that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<crate::Forked>,
}

impl Brief {
    /// Whether it begins where its task begins.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.assignment.base.as_ref() == Some(&self.start)
    }

    /// Whether it begins with the files of an earlier attempt at its task.
    #[must_use]
    pub fn is_retry(&self) -> bool {
        self.assignment.base.is_some() && !self.is_fresh()
    }
}

/// The assignment of an attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Assignment {
    /// The commit that its changes are counted from, if an earlier attempt's files come between that and its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// The goal, without instructions on checks and limits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// Patterns for test files: names with `*`, or folders with a slash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<String>,
    /// A person's set-up commands for its worktree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
}

/// How an attempt ended, as its run sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub result: AttemptResult,
    pub spent: Spend,
    pub usage: Usage,
    pub turns: u32,
    /// The hash of the last line of the attempt's log, which links that log to the run's.
    pub log_head: Digest,
    /// Calls that no rule allowed.
    pub denied: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptResult {
    Submitted {
        commit: CommitId,
        changes: Changes,
        submission: Value,
        #[serde(default, skip_serializing_if = "crate::is_default")]
        findings: crate::Findings,
    },
    /// Its files, if any, are in `commit`.
    Failed {
        fault: Fault,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
    },
    Cancelled,
}

/// A call that does not fit the share of its attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortage {
    /// The most that the call may use.
    pub wanted: Spend,
    /// What the attempt has spent so far.
    pub spent: Spend,
    /// Why it does not fit.
    pub what: String,
}

/// An attempt's committed changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub commit: CommitId,
    pub changes: Changes,
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub findings: crate::Findings,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeEnd {
    Merged {
        commit: CommitId,
        changes: Changes,
        /// Artifacts of the task that existed neither before nor after the merge.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<crate::Artifact>,
    },
    Conflict {
        paths: Vec<String>,
        /// Both sides of the conflict, truncated for a model.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        hunks: String,
    },
    Failed {
        fault: Fault,
    },
}

/// The outcome of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Probed(Proof),
    Attempt(Box<AttemptEnd>),
    /// The attempt cannot continue before a person has answered.
    Asked(Box<crate::Asking>),
    /// The attempt cannot continue before its share of the budget is enlarged.
    Short(Box<Shortage>),
    Check(Box<CheckEnd>),
    Merge(MergeEnd),
    Fired,
    Model(Result<Box<Replied>, Fault>),
    Tool(ToolOutput),
    /// The state of each word that can be a path.
    Looked(Vec<crate::FileState>),
    Sealed(Result<Sealed, Fault>),
    /// The effect itself failed.
    Broke(Fault),
}

/// A reply, with the effects of each call in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    pub reply: ModelReply,
    pub inspections: Vec<Inspection>,
    /// The calls in it whose arguments contain a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<crate::ExactCall>,
}
