//! Where a task stands, from waiting to finished. The making of the plan has a lane too: it is tried, fails and is
//! retried like any task.

use types::{
    Answer, Artifact, Budget, Changes, Check, CheckEnd, CommitId, Fault, Findings, ModelRef,
    RoleId, Scope, Spend, TaskStage, Timestamp, Trial, Weighed,
};

/// One task's way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TaskState {
    pub(super) stage: Stage,
    pub(super) attempts: u32,
    /// Every way in which an attempt was not good enough, in order.
    pub(super) faults: Vec<Fault>,
    /// The checks of the current attempt.
    pub(super) checks: Vec<CheckState>,
    /// Those that ran again when its result was merged with others.
    pub(super) proofs: Vec<CheckState>,
    /// Trials of the checks themselves, with the current attempt's result.
    pub(super) trials: Vec<TrialState>,
    /// How far its result is proven, once that was weighed.
    pub(super) evidence: Option<Weighed>,
    /// Where the branch was that the current attempt's files stand on.
    pub(super) base: Option<CommitId>,
    /// What the current attempt may spend.
    pub(super) share: Budget,
    /// What all its attempts have spent, and whether it was said that it is most of the task's share.
    pub(super) spent: Spend,
    pub(super) warned: bool,
    /// What the last attempt was told and what it made of it, until the task is finished.
    pub(super) last: Option<Box<Last>>,
    /// A person left the task out.
    pub(super) waived: bool,
    /// What the first attempt of a task that is tried once more from the beginning is told.
    pub(super) told: Option<String>,
    /// How many tasks this one still waits for.
    pub(super) waits_for: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stage {
    Waiting,
    /// An attempt is under way, or about to be.
    Running(Box<Running>),
    /// The attempt handed something in.
    Submitted {
        commit: CommitId,
        changes: Changes,
        submission: serde_json::Value,
        findings: Findings,
    },
    /// Bosun runs the checks on what was handed in.
    Checking {
        commit: CommitId,
    },
    /// It was not good enough; what now is for `failure` to say.
    Rejected {
        fault: Fault,
        commit: Option<CommitId>,
    },
    /// A person has to say what now.
    Escalated {
        fault: Fault,
        commit: Option<CommitId>,
        question: u32,
    },
    /// The next attempt may start once the wait is over.
    Retrying {
        at: Timestamp,
        start: Option<CommitId>,
        feedback: Option<String>,
        /// Who tries it, if it is not the task's own role or the role's own model.
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
    /// It is on the branch; to be recorded as finished once that is proven.
    Landed {
        commit: CommitId,
        before: Box<Before>,
    },
    Finished {
        commit: CommitId,
    },
    Failed,
    Skipped,
}

/// What the branch was before a result came onto it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Before {
    pub(crate) head: CommitId,
    pub(crate) changes: Changes,
    pub(crate) missing: Vec<Artifact>,
}

/// An attempt that is over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Last {
    pub(crate) running: Running,
    /// What it handed in.
    pub(crate) output: Option<serde_json::Value>,
    pub(crate) changes: Changes,
    pub(crate) findings: Findings,
}

/// What an attempt was started with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    pub(crate) role: RoleId,
    /// Another model than the role's own.
    pub(crate) model: Option<ModelRef>,
    pub(crate) start: CommitId,
    pub(crate) scope: Scope,
    pub(crate) budget: Budget,
    pub(crate) feedback: Option<String>,
    /// How many questions the attempt has asked.
    pub(crate) asked: u32,
    /// What was said to them, in their order.
    pub(crate) answers: Vec<Answer>,
}

impl Running {
    /// Whether the attempt waits for a person.
    pub(crate) fn waits(&self) -> bool {
        (self.answers.len() as u64) < u64::from(self.asked)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CheckState {
    pub(crate) what: Check,
    pub(crate) commit: CommitId,
    pub(crate) end: Option<CheckEnd>,
}

/// A check that was tried with the current attempt's result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrialState {
    pub(crate) trial: Trial,
    /// The place of the check among the project's.
    pub(crate) index: u32,
    pub(crate) state: CheckState,
}

impl TaskState {
    pub(super) fn waiting(waits_for: usize) -> Self {
        Self {
            stage: Stage::Waiting,
            attempts: 0,
            faults: vec![],
            checks: vec![],
            proofs: vec![],
            trials: vec![],
            evidence: None,
            base: None,
            share: Budget::default(),
            spent: Spend::default(),
            warned: false,
            last: None,
            waived: false,
            told: None,
            waits_for,
        }
    }

    pub(crate) fn ready() -> Self {
        Self::waiting(0)
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// How many attempts were started.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(crate) fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn checks(&self) -> &[CheckState] {
        &self.checks
    }

    pub(crate) fn proofs(&self) -> &[CheckState] {
        &self.proofs
    }

    pub(crate) fn trials(&self) -> &[TrialState] {
        &self.trials
    }

    /// How far its result is proven, once that was weighed.
    pub(crate) fn evidence(&self) -> Option<&Weighed> {
        self.evidence.as_ref()
    }

    /// Where the branch was that its files stand on.
    pub(crate) fn base(&self) -> Option<&CommitId> {
        self.base.as_ref()
    }

    /// What the last attempt might spend.
    pub(crate) fn share(&self) -> Budget {
        self.share
    }

    /// What all its attempts have spent.
    pub(crate) fn spent(&self) -> Spend {
        self.spent
    }

    pub(crate) fn is_warned(&self) -> bool {
        self.warned
    }

    /// The last attempt that is over, of a task that is not.
    pub(crate) fn last(&self) -> Option<&Last> {
        self.last.as_deref()
    }

    /// What its next first attempt is told.
    pub(crate) fn told(&self) -> Option<&String> {
        self.told.as_ref()
    }

    /// Whether a person left it out.
    pub(crate) fn is_waived(&self) -> bool {
        self.waived && matches!(self.stage, Stage::Skipped)
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.stage, Stage::Finished { .. } | Stage::Failed | Stage::Skipped)
    }

    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.stage, Stage::Finished { .. })
    }

    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.stage, Stage::Failed)
    }

    /// Whether nothing comes of it before a person has said something.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        match &self.stage {
            Stage::Running(running) => running.waits(),
            Stage::Escalated { .. } => true,
            _ => false,
        }
    }

    /// Whether it takes up one of the places for tasks that run at once.
    pub(crate) fn takes_a_slot(&self) -> bool {
        matches!(self.stage, Stage::Running(_) | Stage::Submitted { .. } | Stage::Checking { .. })
    }

    /// Whether something comes of it without another attempt: it is being checked or merged.
    pub(crate) fn goes_on_by_itself(&self) -> bool {
        matches!(
            self.stage,
            Stage::Submitted { .. }
                | Stage::Checking { .. }
                | Stage::Merging { .. }
                | Stage::Landed { .. }
        )
    }

    /// Whether something is going on. A verified result only waits until it is its turn to be merged.
    pub(super) fn is_busy(&self) -> bool {
        !self.is_settled() && !matches!(self.stage, Stage::Waiting | Stage::Verified { .. })
    }

    pub(crate) fn shown(&self) -> TaskStage {
        match self.stage {
            Stage::Waiting => TaskStage::Waiting,
            Stage::Running(_) => TaskStage::Running,
            Stage::Submitted { .. } | Stage::Checking { .. } => TaskStage::Checking,
            Stage::Rejected { .. } | Stage::Retrying { .. } => TaskStage::Retrying,
            Stage::Escalated { .. } => TaskStage::Asking,
            Stage::Verified { .. } => TaskStage::Verified,
            Stage::Merging { .. } | Stage::Landed { .. } => TaskStage::Merging,
            Stage::Finished { .. } => TaskStage::Finished,
            Stage::Failed => TaskStage::Failed,
            Stage::Skipped => TaskStage::Skipped,
        }
    }
}
