//! What the state asks of the outside world, and what comes back from it. Plain data, so that a run can be
//! driven by any loop, here or on another machine.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AttemptId, Budget, CallId, Changes, Check, CommitId, Digest, Ended, Fault, Inspection,
    ModelReply, ModelRequest, Proof, RoleId, RunId, Rung, Scope, SessionId, Shown, Span, Spend,
    TaskId, Timestamp, ToolOutput, ToolSpec, Usage,
};

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Drive the attempt's own log until it ends.
    RunAttempt {
        brief: Box<Brief>,
        /// What was said to its questions so far, in their order.
        answers: Vec<crate::Said>,
    },
    /// Attack our own walls from inside, to see what they hold.
    Probe,
    RunCheck {
        check: CheckId,
        what: Check,
        commit: CommitId,
        /// What must hold it.
        walls: Rung,
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
        /// In whose words it is made.
        model: crate::ModelRef,
        /// Where it may write, if that is not where its attempt may.
        scope: Option<Scope>,
        /// Whether it may change files.
        changes: bool,
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerId {
    /// The next attempt at a task may start.
    Retry(TaskId),
    /// The run's time is up.
    Deadline,
    /// This question is no longer waited for.
    Question(u32),
    /// The time of a conversation for one of its inputs is up.
    Session(SessionId, u32),
}

/// One check on one tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CheckId {
    pub on: Subject,
    /// Its place in the list of checks.
    pub index: u32,
}

/// What the result of a check is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Against {
    /// The commit that the work started from; nothing where there is nothing to compare with.
    pub base: Option<CommitId>,
    /// The same check's report on that commit, kept as a blob.
    pub report: Option<Digest>,
    /// Files that the work changed.
    pub changes: Changes,
    /// Which files are tests: names with `*`, or folders with a slash.
    pub test_files: Vec<String>,
    /// In a trial with altered expectations: the tests to alter; all of them where none is named.
    pub tests: Vec<String>,
    /// In a trial: whether the tests of the base are the ones that are altered.
    pub base_tests: bool,
    /// What was asked for, to see whether all that it names is there.
    pub goal: Option<String>,
    /// Commands that a person wants to be run first in every fresh checkout.
    pub setup: Vec<String>,
}

/// The tree that a check looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The untouched tree that the run starts from.
    Base,
    /// A tree that is made of an attempt's commit to try the check itself.
    Trial {
        attempt: AttemptId,
        trial: crate::Trial,
    },
    /// The run's branch with one task's code as it was before that task.
    Without(TaskId),
    Attempt(AttemptId),
    /// The run's branch, with everything merged.
    Merged,
    /// The run's branch as it is with this attempt's changes on top.
    Landed(AttemptId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base => f.write_str("base"),
            Self::Trial { attempt, trial } => write!(f, "{attempt} {}", trial.as_str()),
            Self::Without(task) => write!(f, "without {task}"),
            Self::Attempt(attempt) => write!(f, "{attempt}"),
            Self::Merged => f.write_str("merged"),
            Self::Landed(attempt) => write!(f, "merged {attempt}"),
        }
    }
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
    /// Names of the tools; their definitions are filled in where the tools are.
    pub tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_specs: Vec<ToolSpec>,
    pub scope: Scope,
    /// What must hold its commands.
    #[serde(default)]
    pub walls: Rung,
    /// The commit that the worktree starts from.
    pub start: CommitId,
    /// The commit that its changes are counted from, if an earlier attempt's files stand between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What it is for, without what it is told about checks and limits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// Which files are tests: names with `*`, or folders with a slash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<String>,
    /// Commands that a person wants to be run first in its worktree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
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
}

/// How an attempt ended, as its run sees it.
#[derive(Debug, Clone, PartialEq)]
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

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEnd {
    pub ended: Ended,
    pub output: Shown,
    pub elapsed_ms: Span,
    /// What its test runners reported, where they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Box<crate::Tests>>,
    /// Why it cannot be run here at all, if that is why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot_run: Option<String>,
    /// Tracked files that are not what they were, after it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<crate::WorkPath>,
    /// In a trial with altered expectations: those that nobody noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnoticed: Vec<String>,
    /// Why a trial could not be made; then nothing was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// On the merged tree: what the goal names and nothing in the result has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl CheckEnd {
    #[must_use]
    pub fn new(ended: Ended, output: Shown, elapsed_ms: Span) -> Self {
        Self {
            ended,
            output,
            elapsed_ms,
            tests: None,
            cannot_run: None,
            rewrote: vec![],
            unnoticed: vec![],
            untried: None,
            left_out: vec![],
        }
    }

    /// How it ended, in a few words: the exit code, and what its tests came to.
    #[must_use]
    pub fn says(&self) -> String {
        if let Some(why) = &self.untried {
            return format!("not tried: {why}");
        }
        let tests = self.tests.as_ref().map(|tests| {
            let run = tests.passed.saturating_add(tests.failed);
            format!(", {} of {} passed", tests.passed, crate::count(u64::from(run), "test"))
        });
        format!("{}{}", self.ended, tests.unwrap_or_default())
    }

    /// Whether it exited with 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.ended == Ended::Exited(0)
    }

    /// Whether it fails only in tests that failed before any change and are not about it.
    #[must_use]
    pub fn is_excused(&self) -> bool {
        !self.passed() && self.tests.as_ref().is_some_and(|tests| tests.only_excused())
    }
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
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct Replied {
    pub reply: ModelReply,
    pub inspections: Vec<Inspection>,
}
