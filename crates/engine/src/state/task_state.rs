//! The state of a task, from waiting to finished. Planning has one too: it is tried, fails and is retried like any
//! task.

use types::{
    Answer, Artifact, Budget, Changes, Check, CheckEnd, CommitId, Fault, Findings, Level, Millis,
    ModelRef, RoleId, Scope, Shortage, Spend, TaskStage, Timestamp, Trial, Weighed,
};

/// The state of one task.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TaskState {
    pub(crate) stage: TaskStatus,
    pub(crate) attempts: u32,
    /// The faults of all attempts, in order.
    pub(crate) faults: Vec<Fault>,
    /// The checks of the current attempt.
    pub(crate) checks: Vec<CheckState>,
    /// Checks repeated after merging with other results.
    pub(crate) proofs: Vec<CheckState>,
    /// Trials of the checks themselves, with the current attempt's result.
    pub(crate) trials: Vec<TrialState>,
    /// The evidence for its result, once determined.
    pub(crate) evidence: Option<Weighed>,
    /// A person's acceptance of a result that was in doubt.
    pub(crate) accepted: Option<String>,
    /// The branch commit that the current attempt started from.
    pub(crate) base: Option<CommitId>,
    /// The budget of the current attempt.
    pub(crate) share: Budget,
    /// The usage of all attempts, and whether the warning about the task's share was given.
    pub(crate) spent: Spend,
    pub(crate) warned: bool,
    /// The brief and the output of the last attempt, until the task is finished.
    pub(crate) last: Option<Box<Last>>,
    /// The changes of its results on the branch, one entry for each merge.
    pub(crate) merged: Vec<Changes>,
    /// A person waived the task.
    pub(crate) waived: bool,
    /// Feedback for the first attempt of a restarted task.
    pub(crate) told: Option<String>,
    /// The number of unsettled dependencies.
    pub(crate) waits_for: usize,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum TaskStatus {
    #[default]
    Waiting,
    /// An attempt is in progress, or about to be.
    Running(Box<Running>),
    /// The attempt submitted something.
    Submitted {
        commit: CommitId,
        changes: Changes,
        submission: serde_json::Value,
        findings: Findings,
    },
    /// The checks on the submission are running.
    Checking {
        commit: CommitId,
    },
    /// The attempt failed; `failure` decides the remedy.
    Rejected {
        fault: Fault,
        commit: Option<CommitId>,
    },
    /// A person must decide how to proceed.
    Escalated {
        fault: Fault,
        commit: Option<CommitId>,
        question: u32,
    },
    /// The next attempt may start once the delay is over.
    Retrying {
        at: Timestamp,
        start: Option<CommitId>,
        feedback: Option<String>,
        /// The role for it, if not the task's own, or the model, if not the role's own.
        role: Option<RoleId>,
        model: Option<ModelRef>,
        released: bool,
    },
    Verified {
        commit: CommitId,
    },
    Merging {
        commit: CommitId,
        onto: CommitId,
        since: Timestamp,
    },
    /// Merged; finished once that is proven.
    Landed {
        commit: CommitId,
        /// The branch without it.
        before: Box<Branch>,
    },
    Finished {
        commit: CommitId,
    },
    Failed,
    Skipped,
}

/// The results merged so far: the head of the branch, its changes, and the promised artifacts that it lacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Branch {
    pub(crate) head: CommitId,
    pub(crate) changes: Changes,
    pub(crate) missing: Vec<Artifact>,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Last {
    pub(crate) running: Running,
    /// Its submission.
    pub(crate) output: Option<serde_json::Value>,
    pub(crate) changes: Changes,
    pub(crate) findings: Findings,
}

/// The start conditions of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    pub(crate) role: RoleId,
    /// The model, if not the role's own.
    pub(crate) model: Option<ModelRef>,
    pub(crate) start: CommitId,
    pub(crate) scope: Scope,
    pub(crate) budget: Budget,
    pub(crate) feedback: Option<String>,
    /// The number of questions the attempt has asked.
    pub(crate) asked: u32,
    /// Their answers, in order.
    pub(crate) answers: Vec<Answer>,
    /// The call that does not fit its budget, if it waits for more of it.
    pub(crate) short: Option<Shortage>,
}

impl Running {
    /// Whether the attempt waits for a person, or for a larger share.
    pub(crate) fn waits(&self) -> bool {
        (self.answers.len() as u64) < u64::from(self.asked) || self.short.is_some()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckState {
    pub(crate) what: Check,
    pub(crate) commit: CommitId,
    /// How long it may take, if the log says so.
    pub(crate) limit: Option<Millis>,
    /// It timed out on this tree before and got more time.
    pub(crate) again: bool,
    pub(crate) end: Option<CheckEnd>,
}

impl CheckState {
    /// The next limit after this one was too short.
    pub(crate) fn longer(&self) -> Millis {
        let end = self.end.as_ref().map(|end| end.elapsed_ms);
        let limit = self.limit.or(self.what.timeout_ms).or(end).unwrap_or_default();
        limit.plus(limit)
    }
}

/// A check that was tried with the current attempt's result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrialState {
    pub(crate) trial: Trial,
    /// The index of the check among the project's.
    pub(crate) index: u32,
    pub(crate) state: CheckState,
}

impl TaskState {
    /// The changes of its last attempt.
    pub(crate) fn last_changes(&self) -> &Changes {
        const NONE: &Changes = &Changes(Vec::new());
        self.last.as_ref().map_or(NONE, |last| &last.changes)
    }

    /// Whether its evidence shows nothing.
    pub(crate) fn is_unproven(&self) -> bool {
        self.evidence.as_ref().is_some_and(|weighed| weighed.level == Level::Unproven)
    }

    /// Whether a person waived it.
    pub(crate) fn is_waived(&self) -> bool {
        self.waived && matches!(self.stage, TaskStatus::Skipped)
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, TaskStatus::Finished { .. } | TaskStatus::Failed | TaskStatus::Skipped)
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.stage, TaskStatus::Finished { .. })
    }

    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.stage, TaskStatus::Failed)
    }

    /// The usage of all attempts, including one that waits for more budget.
    pub(crate) fn known_spent(&self) -> Spend {
        match &self.stage {
            TaskStatus::Running(running) => {
                let short = running.short.as_ref().map(|short| short.spent);
                self.spent.plus(short.unwrap_or_default())
            }
            _ => self.spent,
        }
    }

    /// Whether it cannot continue without a person.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        match &self.stage {
            TaskStatus::Running(running) => running.waits(),
            TaskStatus::Escalated { .. } => true,
            _ => false,
        }
    }

    /// Whether it occupies a slot for concurrent tasks.
    pub(crate) fn takes_a_slot(&self) -> bool {
        matches!(
            self.stage,
            TaskStatus::Running(_) | TaskStatus::Submitted { .. } | TaskStatus::Checking { .. }
        )
    }

    /// Whether it continues without another attempt: it is being checked or merged.
    pub(crate) fn goes_on_by_itself(&self) -> bool {
        matches!(
            self.stage,
            TaskStatus::Submitted { .. }
                | TaskStatus::Checking { .. }
                | TaskStatus::Merging { .. }
                | TaskStatus::Landed { .. }
        )
    }

    /// Whether it is in progress. A verified result only waits for its turn to be merged.
    pub(super) fn is_busy(&self) -> bool {
        !self.is_settled()
            && !matches!(self.stage, TaskStatus::Waiting | TaskStatus::Verified { .. })
    }

    pub(crate) fn shown(&self) -> TaskStage {
        match self.stage {
            TaskStatus::Waiting => TaskStage::Waiting,
            TaskStatus::Running(_) => TaskStage::Running,
            TaskStatus::Submitted { .. } | TaskStatus::Checking { .. } => TaskStage::Checking,
            TaskStatus::Rejected { .. } | TaskStatus::Retrying { .. } => TaskStage::Retrying,
            TaskStatus::Escalated { .. } => TaskStage::Asking,
            TaskStatus::Verified { .. } => TaskStage::Verified,
            TaskStatus::Merging { .. } | TaskStatus::Landed { .. } => TaskStage::Merging,
            TaskStatus::Finished { .. } => TaskStage::Finished,
            TaskStatus::Failed => TaskStage::Failed,
            TaskStatus::Skipped => TaskStage::Skipped,
        }
    }
}
