//! The serialized name of each event, its only name, and its author.

use crate::{Answer, By, Event};

impl Event {
    /// The serialized name.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::RunRequested { .. } => "run.requested",
            Self::RunAccepted { .. } => "run.accepted",
            Self::RunRefused { .. } => "run.refused",
            Self::RunRouted { .. } => "run.routed",
            Self::RunCancelled { .. } => "run.cancelled",
            Self::RunFinished { .. } => "run.finished",
            Self::ResultSettled { .. } => "result.settled",
            Self::ContextSelected { .. } => "context.selected",
            Self::SandboxProbed { .. } => "sandbox.probed",
            Self::PlanAdopted { .. } => "plan.adopted",
            Self::PlanRefused { .. } => "plan.refused",
            Self::AttemptStarted { .. } => "attempt.started",
            Self::AttemptFinished { .. } => "attempt.finished",
            Self::CheckStarted { .. } => "check.started",
            Self::CheckFinished { .. } => "check.finished",
            Self::TaskVerified { .. } => "task.verified",
            Self::TaskRejected { .. } => "task.rejected",
            Self::SpecWritten { .. } => "spec.written",
            Self::TaskReviewed { .. } => "task.reviewed",
            Self::RequestAdvised { .. } => "request.advised",
            Self::TaskFinished { .. } => "task.finished",
            Self::TaskFailed { .. } => "task.failed",
            Self::TaskSkipped { .. } => "task.skipped",
            Self::RetryScheduled { .. } => "retry.scheduled",
            Self::RetryReleased { .. } => "retry.released",
            Self::MergeStarted { .. } => "merge.started",
            Self::MergeFinished { .. } => "merge.finished",
            Self::GatePassed { .. } => "gate.passed",
            Self::GateBlocked { .. } => "gate.blocked",
            Self::QuestionAsked { .. } => "question.asked",
            Self::QuestionAnswered { .. } => "question.answered",
            Self::BudgetWarned { .. } => "budget.warned",
            Self::BudgetExhausted { .. } => "budget.exhausted",
            Self::BudgetRaised { .. } => "budget.raised",
            Self::SessionStarted { .. } => "session.started",
            Self::SessionTold { .. } => "session.told",
            Self::SessionChanged { .. } => "session.changed",
            Self::SessionWarned { .. } => "session.warned",
            Self::SessionPaused { .. } => "session.paused",
            Self::SessionCompacted { .. } => "session.compacted",
            Self::WorkspaceRestored { .. } => "workspace.restored",
            Self::SessionEnded { .. } => "session.ended",
            Self::ModelAsked { .. } => "model.asked",
            Self::ModelReplied { .. } => "model.replied",
            Self::ModelFailed { .. } => "model.failed",
            Self::ToolStarted { .. } => "tool.started",
            Self::ToolRefused { .. } => "tool.refused",
            Self::ToolFinished { .. } => "tool.finished",
            Self::ToolLost { .. } => "tool.lost",
            Self::AttemptSealed { .. } => "attempt.sealed",
            Self::SealFailed { .. } => "seal.failed",
        }
    }

    /// The author of this kind of event; the engine by default.
    #[must_use]
    pub fn by(&self) -> By {
        match self {
            Self::QuestionAnswered { by, .. } if by == Answer::POLICY => {
                By(Answer::POLICY.to_owned())
            }
            Self::RunCancelled { by, .. }
            | Self::QuestionAnswered { by, .. }
            | Self::ResultSettled { by, .. }
            | Self::BudgetRaised { by, .. }
            | Self::WorkspaceRestored { by, .. } => By(format!("person:{by}")),
            Self::SessionTold { by, .. } | Self::SessionPaused { by, .. } => By(by.clone()),
            Self::ModelReplied { model, .. } => By(format!("model:{model}")),
            _ => By::engine(),
        }
    }
}
