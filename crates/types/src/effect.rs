//! What the state asks of the outside world, and what comes back from it. Plain data, so that a run can be
//! driven by any loop, here or on another machine.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Against, AttemptId, Budget, CallId, Changes, Check, CheckEnd, CheckId, CommitId, Digest, Fault,
    Inspection, IsolationLevel, ModelReply, ModelRequest, Proof, RoleId, RunId, Scope, SessionId,
    Spend, TaskId, Timestamp, ToolOutput, ToolSpec, Usage,
};

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Drive the attempt's own log until it ends.
    RunAttempt {
        brief: Box<Brief>,
        /// What was said to its questions so far, in their order.
        answers: Vec<crate::Answer>,
    },
    /// Attack our own walls from inside, to see what they hold.
    Probe,
    RunCheck {
        check: CheckId,
        what: Check,
        commit: CommitId,
        /// What must hold it.
        walls: IsolationLevel,
        /// What it is compared with, or mixed with in a trial.
        against: Against,
    },
    /// Put the commit's changes on top of the run's branch.
    Merge {
        task: TaskId,
        commit: CommitId,
        onto: CommitId,
        message: String,
        /// What should be there afterwards.
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
        /// Of the arguments that it is to be made with, if those here are without the secrets in them.
        exact: Option<Digest>,
        /// In whose words it is made.
        model: crate::ModelRef,
        /// Where it may write, if that is not where its attempt may.
        scope: Option<Scope>,
        /// Whether it may change files.
        changes: bool,
        /// Hosts that it may reach beside those of the policy.
        hosts: Vec<String>,
    },
    /// See what the files are that a command line names, before a person is asked about it and again before it runs.
    Look {
        call: CallId,
        /// Words that may be paths.
        words: Vec<String>,
    },
    /// Commit what the attempt left in its worktree.
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

/// The name of an effect; no two open effects of one log have the same.
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

/// What a timer is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerId {
    /// The next attempt at a task may start.
    Retry(TaskId),
    /// The run's time is up.
    Deadline,
    /// This question is no longer waited for.
    Question(u32),
    /// The time of a conversation for one of its inputs is up.
    Session(SessionId, u32),
    /// The model that did not answer this turn of a conversation may be asked again.
    Model(SessionId, u32),
}

/// Everything an attempt is given, and all it is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub run: RunId,
    pub attempt: AttemptId,
    pub role: RoleId,
    pub model: crate::ModelRef,
    pub system: String,
    /// The first thing that is said to the model.
    pub task: String,
    /// Pictures that are shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<crate::Source>,
    /// Names of the tools; their definitions are filled in where the tools are.
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_specs: Vec<ToolSpec>,
    pub scope: Scope,
    /// What must hold its commands.
    #[serde(default)]
    pub walls: IsolationLevel,
    /// The commit that the worktree starts from.
    pub start: CommitId,
    /// What it is for, if it works on a task.
    #[serde(default, skip_serializing_if = "Assignment::is_none")]
    pub assignment: Assignment,
    pub budget: Budget,
    pub max_turns: u32,
    pub max_output_tokens: u64,
    pub output_chars: usize,
    /// When its conversation is over.
    #[serde(default, skip_serializing_if = "crate::Ending::is_submission")]
    pub ending: crate::Ending,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<crate::Effort>,
    /// How many tokens the model takes, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// What it answers with, if it does not hand its result in with a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<crate::ReplyRule>,
    /// Files that it is shown, and, once they were read where the files are, those that are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shows: Vec<crate::WorkPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<crate::Document>,
    /// What its tokens cost at the most, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<crate::PriceCap>,
    /// For a conversation that stands alone: the folder it works in, and its policy, kept as a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Digest>,
    /// For a conversation that stands alone: the form that its last reply must have, if it must have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<crate::OutputSchema>,
    /// What the person always wants, which is part of the system prompt whichever model it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// The conversation that this one was forked from, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked: Option<crate::Forked>,
}

/// What an attempt at a task works on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Assignment {
    /// The commit that its changes are counted from, if an earlier attempt's files stand between that and its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What was asked for, without what it is told about checks and limits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// Which files are tests: names with `*`, or folders with a slash.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<String>,
    /// Commands that a person wants to be run first in its worktree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
}

impl Assignment {
    /// Whether there is none, as in a conversation that stands alone.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// How an attempt ended, as its run sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub result: AttemptResult,
    pub spent: Spend,
    pub usage: Usage,
    pub turns: u32,
    /// The hash of the last line of the attempt's log, which ties that log to the run's.
    pub log_head: Digest,
    /// Calls that it wanted to make and that no rule allowed.
    pub denied: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptResult {
    Submitted {
        commit: CommitId,
        changes: Changes,
        submission: Value,
        #[serde(default, skip_serializing_if = "crate::Findings::is_empty")]
        findings: crate::Findings,
    },
    /// The files it left, if it left any, are in `commit`.
    Failed {
        fault: Fault,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
    },
    Cancelled,
}

/// What an attempt left in its worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub commit: CommitId,
    pub changes: Changes,
    #[serde(default, skip_serializing_if = "crate::Findings::is_empty")]
    pub findings: crate::Findings,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeEnd {
    Merged {
        commit: CommitId,
        changes: Changes,
        /// Artifacts of the task that were not there before the merge and are not there after it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<crate::Artifact>,
    },
    Conflict {
        paths: Vec<String>,
        /// Both sides of what does not fit, cut to what a model is shown.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        hunks: String,
    },
    Failed {
        fault: Fault,
    },
}

/// What came of an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Probed(Proof),
    Attempt(Box<AttemptEnd>),
    /// The attempt cannot go on before a person has answered.
    Asked(Box<crate::Asking>),
    Check(CheckEnd),
    Merge(MergeEnd),
    Fired,
    Model(Result<Box<Replied>, Fault>),
    Tool(ToolOutput),
    /// Of each word that can be a path: what is there.
    Looked(Vec<crate::FileState>),
    Sealed(Result<Sealed, Fault>),
    /// The effect itself broke down.
    Broke(Fault),
}

/// A reply, with what each call in it would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replied {
    pub reply: ModelReply,
    pub inspections: Vec<Inspection>,
    /// The calls in it that hold a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<crate::ExactCall>,
}
