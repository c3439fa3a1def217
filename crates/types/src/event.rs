//! The stored facts: one enum. The serialized name is the only name of an event; the line around it is in
//! `envelope.rs`.
//! `docs/events.md` is generated from this file. Nothing here decides or interprets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AskAgain, AttemptId, AttemptResult, Brief, Budget, CallId, CallOutcome, Category, Changes,
    Check, CheckEnd, CheckId, CommitId, Compaction, Confidence, Decision, Digest, ExactCall, Fault,
    FileState, Findings, Inspection, MergeEnd, Metadata, Millis, ModelRef, ModelReply, Phase, Plan,
    PriceCap, Proof, Recovered, Request, RoleId, Scope, Scorecard, Selected, SessionChange,
    SessionEnd, SessionId, Settling, Shown, Source, Spend, Status, Survey, TaskId, Telling, Terms,
    Timestamp, Trees, Usage, Used, Weighed, Wording,
};

/// A fact that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", content = "data")]
pub enum Event {
    /// A request came in, with what the repository looked like.
    #[serde(rename = "run.requested")]
    RunRequested {
        request: Box<Request>,
        survey: Survey,
        policy: Digest,
        /// What the request's model costs at the most, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price: Option<PriceCap>,
        #[serde(default, skip_serializing_if = "crate::is_default")]
        wording: Wording,
    },
    /// The request was admitted.
    #[serde(rename = "run.accepted")]
    RunAccepted { decision: Decision },
    /// The request was refused, by admission or a later stage before any task.
    #[serde(rename = "run.refused")]
    RunRefused { decision: Decision },
    /// A role was chosen to take the request first.
    #[serde(rename = "run.routed")]
    RunRouted {
        to: RoleId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        category: Option<Category>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<Confidence>,
        /// The policy that decided, by name and version.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        doctrine: String,
        decision: Decision,
    },
    /// A person stopped the run.
    #[serde(rename = "run.cancelled")]
    RunCancelled { by: String, reason: String },
    /// The run is over.
    #[serde(rename = "run.finished")]
    RunFinished { status: Status, decision: Decision },
    /// The person took the result, or threw it away. The one line that may follow the end of a run.
    #[serde(rename = "result.settled")]
    ResultSettled { how: Settling, commit: CommitId, by: String },
    /// Which documents the agents are given, and which not.
    #[serde(rename = "context.selected")]
    ContextSelected { included: Vec<Selected>, excluded: Vec<Selected> },
    /// What the sandbox holds, and whether that is enough.
    #[serde(rename = "sandbox.probed")]
    SandboxProbed { proof: Proof, decision: Decision },
    /// The plan is valid and will be executed.
    #[serde(rename = "plan.adopted")]
    PlanAdopted { plan: Plan, decision: Decision },
    /// The proposed plan is not valid.
    #[serde(rename = "plan.refused")]
    PlanRefused {
        attempt: AttemptId,
        problems: Vec<String>,
        decision: Decision,
        /// What the planner failed with; nothing where a person wants another plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<Fault>>,
    },
    /// A fresh try at a task began, with what it may spend and where it may write.
    #[serde(rename = "attempt.started")]
    AttemptStarted {
        attempt: AttemptId,
        role: RoleId,
        start: CommitId,
        scope: Scope,
        budget: Budget,
        /// What the rules hand over from earlier attempts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// Another model than the role's own, if a rule wants that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
    },
    /// The try is over.
    #[serde(rename = "attempt.finished")]
    AttemptFinished {
        attempt: AttemptId,
        result: AttemptResult,
        spent: Spend,
        usage: Usage,
        turns: u32,
        log_head: Digest,
        /// Calls that it wanted to make and that no rule allowed, as its own log has them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        denied: Vec<String>,
    },
    /// Bosun began to run a check itself.
    #[serde(rename = "check.started")]
    CheckStarted {
        check: CheckId,
        what: Check,
        commit: CommitId,
        /// How long it may take; `None` in older logs: the check's own limit, or the policy's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ms: Option<Millis>,
        /// Why it runs once more on the same tree with a longer limit, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Box<Decision>>,
    },
    /// What the check said.
    #[serde(rename = "check.finished")]
    CheckFinished { check: CheckId, end: CheckEnd },
    /// The attempt's result passed all its checks.
    #[serde(rename = "task.verified")]
    TaskVerified {
        attempt: AttemptId,
        commit: CommitId,
        decision: Decision,
        /// How far it is proven, where the policy wants that weighed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<Weighed>,
        /// The commands of the checks that a person set aside for it: accepted as failing, or dropped from the run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        set_aside: Vec<String>,
    },
    /// The attempt's result, or the attempt itself, was not good enough.
    #[serde(rename = "task.rejected")]
    TaskRejected { attempt: AttemptId, fault: Fault },
    /// An adviser gave its opinion of the request, or none. A request that the rules accept stays accepted.
    #[serde(rename = "request.advised")]
    RequestAdvised {
        attempt: AttemptId,
        /// What the person is asked; empty if there is no objection.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        questions: Vec<String>,
        decision: Decision,
    },
    /// What is wanted and how it will be seen, before anything is made. From here on it does not change.
    #[serde(rename = "spec.written")]
    SpecWritten { spec: Value, digest: Digest, decision: Decision },
    /// Somebody looked at the result; what counts of what they said.
    #[serde(rename = "task.reviewed")]
    TaskReviewed {
        /// The attempt that was looked at, and the one that looked.
        attempt: AttemptId,
        review: AttemptId,
        passed: bool,
        report: Value,
        decision: Decision,
    },
    /// The task's changes are on the run's branch.
    #[serde(rename = "task.finished")]
    TaskFinished { task: TaskId, commit: CommitId },
    /// The task is given up.
    #[serde(rename = "task.failed")]
    TaskFailed {
        task: TaskId,
        fault: Fault,
        decision: Decision,
        /// The whole run ends with it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        halts: bool,
    },
    /// The task will not be started.
    #[serde(rename = "task.skipped")]
    TaskSkipped { task: TaskId, decision: Decision },
    /// Another try will be made, not before `at`.
    #[serde(rename = "retry.scheduled")]
    RetryScheduled {
        task: TaskId,
        at: Timestamp,
        left: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<CommitId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// Who tries it instead of the task's own role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<RoleId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<ModelRef>,
        decision: Decision,
    },
    /// The wait before the next try is over.
    #[serde(rename = "retry.released")]
    RetryReleased { task: TaskId },
    /// It is this task's turn to be merged.
    #[serde(rename = "merge.started")]
    MergeStarted { task: TaskId, commit: CommitId, onto: CommitId },
    /// What the merge came to.
    #[serde(rename = "merge.finished")]
    MergeFinished {
        task: TaskId,
        end: MergeEnd,
        /// What the task failed with, if it conflicts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<Fault>>,
    },
    /// The evidence is there: the next phase may begin.
    #[serde(rename = "gate.passed")]
    GatePassed {
        phase: Phase,
        decision: Decision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<Box<Scorecard>>,
    },
    /// The evidence is not there.
    #[serde(rename = "gate.blocked")]
    GateBlocked {
        phase: Phase,
        decision: Decision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<Box<Scorecard>>,
    },
    /// The run, or one attempt of it, cannot go on without a person.
    #[serde(rename = "question.asked")]
    QuestionAsked {
        question: u32,
        text: String,
        decision: Decision,
        /// In a run's log: the attempt that asks, if it is not the run itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
        /// In an attempt's log: the call that waits for the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// The files that the call names, as they are: the answer is about these and no others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileState>,
        /// How it may be answered, and what holds if nobody does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<Box<Terms>>,
    },
    /// The person answered, or the policy did because nobody else had.
    #[serde(rename = "question.answered")]
    QuestionAnswered {
        question: u32,
        by: String,
        text: String,
        /// Which of the answers that were offered it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<String>,
        /// What the work that begins again because of it is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
        /// Why it ends the run, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        halts: Option<Box<Decision>>,
    },
    /// Most of a budget is spent.
    #[serde(rename = "budget.warned")]
    BudgetWarned {
        spent: Spend,
        budget: Budget,
        decision: Decision,
        /// The task whose share it is; the whole run's, if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// What the next call of the task's attempt may use, if it does not fit and the attempt waits for more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wanted: Option<Spend>,
    },
    /// What was to be done next does not fit into the budget.
    #[serde(rename = "budget.exhausted")]
    BudgetExhausted { decision: Decision },
    /// A person gave more, or a rule enlarged the share of an attempt. Where a task is named by a person, only the
    /// run's own limits bind it from now on.
    #[serde(rename = "budget.raised")]
    BudgetRaised {
        by: String,
        add: Budget,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// What the task's attempt may spend from now on, if its share was enlarged; the run's limits are the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share: Option<Budget>,
        decision: Decision,
    },
    /// A conversation began, with everything it was given.
    #[serde(rename = "session.started")]
    SessionStarted {
        session: SessionId,
        brief: Box<Brief>,
        /// The call that started it, if it is a sub-agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<CallId>,
        #[serde(default, skip_serializing_if = "crate::is_default")]
        wording: Wording,
    },
    /// Somebody said something to the conversation.
    #[serde(rename = "session.told")]
    SessionTold {
        session: SessionId,
        how: Telling,
        by: String,
        text: String,
        /// Pictures that are shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<crate::Source>,
    },
    /// From the next turn on, something is different.
    #[serde(rename = "session.changed")]
    SessionChanged { session: SessionId, change: Box<SessionChange> },
    /// The model is told something that the loop noticed, or only the person is.
    #[serde(rename = "session.warned")]
    SessionWarned {
        session: SessionId,
        decision: Decision,
        /// What the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        say: Option<String>,
    },
    /// What went on for the current input was stopped; the conversation stays.
    #[serde(rename = "session.paused")]
    SessionPaused {
        session: SessionId,
        by: String,
        decision: Decision,
        /// What went wrong, if something did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
        /// The text of the reply that was interrupted, as far as it had come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
        /// What a model call that was cut off by it has used, if one was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<Box<Used>>,
    },
    /// Room was made in the conversation. The log still has everything.
    #[serde(rename = "session.compacted")]
    SessionCompacted { session: SessionId, how: Compaction, decision: Decision },
    /// A conversation is over.
    #[serde(rename = "session.ended")]
    SessionEnded {
        session: SessionId,
        end: SessionEnd,
        /// What model calls that were cut off by it have used, if any were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<Box<Used>>,
    },
    /// A model is asked; a conservative estimate is set aside. What is sent follows from the log; this is its hash.
    #[serde(rename = "model.asked")]
    ModelAsked {
        session: SessionId,
        turn: u32,
        model: ModelRef,
        digest: Digest,
        messages: u64,
        reserved: Spend,
        /// The longest reply that it is asked for, where budget or window leave less than the brief says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_output: Option<u64>,
        /// It is asked for a summary, to make room.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        summary: bool,
    },
    /// The model's reply, and what each call in it would do.
    #[serde(rename = "model.replied")]
    ModelReplied {
        session: SessionId,
        turn: u32,
        model: ModelRef,
        reply: Box<ModelReply>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        inspections: Vec<Inspection>,
        /// The calls that are recorded without the secrets in them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        exact: Vec<ExactCall>,
    },
    /// The model did not reply.
    #[serde(rename = "model.failed")]
    ModelFailed {
        session: SessionId,
        turn: u32,
        fault: Fault,
        /// When it is asked again, if it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<Box<AskAgain>>,
    },
    /// The call is permitted and begins.
    #[serde(rename = "tool.started")]
    ToolStarted { call: CallId, tool: String, decision: Decision },
    /// The call was not permitted, or was not a call that could be made.
    #[serde(rename = "tool.refused")]
    ToolRefused {
        call: CallId,
        tool: String,
        outcome: CallOutcome,
        decision: Decision,
        /// It lies outside of what the agent may do at all; trying it counts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        violation: bool,
    },
    /// The call ended.
    #[serde(rename = "tool.finished")]
    ToolFinished {
        call: CallId,
        outcome: CallOutcome,
        output: Shown,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Source>,
        /// The files that it read or wrote whole, as they were then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileState>,
        /// The workspace before and after it, where that is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trees: Option<Trees>,
        /// What the tool knows of the call beside its text, such as an exit code or a commit.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        metadata: Box<Metadata>,
        /// A sentence for the model after the output: the call brought nothing new, and what to do next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The call was cut off; nobody knows whether it took effect, unless it says so.
    #[serde(rename = "tool.lost")]
    ToolLost {
        call: CallId,
        workspace: String,
        /// Its changes were completed or taken back when the log was opened again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recovered: Option<Recovered>,
    },
    /// A person undid the session's own changes to files after the line `to`.
    #[serde(rename = "workspace.restored")]
    WorkspaceRestored { by: String, to: u64, trees: Trees },
    /// What the attempt left in its worktree is committed.
    #[serde(rename = "attempt.sealed")]
    AttemptSealed {
        commit: CommitId,
        changes: Changes,
        #[serde(default, skip_serializing_if = "crate::is_default")]
        findings: Findings,
    },
    /// It could not be committed.
    #[serde(rename = "seal.failed")]
    SealFailed { fault: Fault },
}
