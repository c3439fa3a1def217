//! Where a run stands between its gates, with its questions and in time: what the stations ask most.

use rules::plan::Headroom;
use types::{Budget, Decision, GateView, Phase, Settled, Timestamp};

use super::{Breakers, Question, Run};

impl Run {
    pub(crate) fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The first question that nobody has answered.
    pub(crate) fn open_question(&self) -> Option<usize> {
        self.open.first().copied()
    }

    /// All questions that nobody has answered; those that were cost nothing.
    pub(crate) fn open_questions(&self) -> impl Iterator<Item = (u32, &Question)> {
        let open = self.open.iter();
        open.filter_map(|place| Some((u32::try_from(*place).ok()?, self.questions.get(*place)?)))
    }

    /// Whether everything under way is brought to an end.
    pub(crate) fn winds_down(&self) -> bool {
        let ends = [&self.cancelled, &self.halted, &self.exhausted, &self.refused];
        ends.iter().any(|end| end.is_some())
    }

    /// Whether nothing can happen any more.
    pub(crate) fn is_over(&self) -> bool {
        self.finished.is_some()
    }

    /// When it ended.
    pub(crate) fn ended(&self) -> Option<Timestamp> {
        self.finished.and(self.ended)
    }

    /// What became of the result after the end.
    pub(crate) fn settlement(&self) -> Option<&Settled> {
        self.settlement.as_ref()
    }

    /// The first phase whose gate has not been passed. After a no-go it is the phase that was not passed.
    pub(crate) fn phase(&self) -> Phase {
        Phase::ALL.into_iter().find(|phase| !self.passed(*phase)).unwrap_or(Phase::Closure)
    }

    /// What the gate of a phase came to, as far as that still holds.
    pub(crate) fn verdict(&self, phase: Phase) -> Option<&GateView> {
        self.gates.iter().rev().find(|gate| gate.phase == phase && !gate.reopened)
    }

    /// The no-go that holds, if there is one.
    pub(crate) fn blocked(&self) -> Option<&GateView> {
        self.gates.iter().find(|gate| !gate.go && !gate.reopened)
    }

    /// How many tasks have their turn in the order of merging.
    pub(crate) fn order_of_merging(&self) -> usize {
        self.order.len()
    }

    /// Whether the gate of a phase was passed, and that still holds.
    pub(crate) fn passed(&self, phase: Phase) -> bool {
        self.verdict(phase).is_some_and(|gate| gate.go)
    }

    /// What there is to be spent, and what was spent before.
    pub(crate) fn headroom(&self, now: Timestamp) -> Headroom {
        let time_ms = self.deadline().map(|deadline| deadline.since(now));
        let left = Budget { time_ms, ..self.ledger.free() };
        Headroom { left, spent: self.ledger.spent() }
    }

    pub(crate) fn gates(&self) -> &[GateView] {
        &self.gates
    }

    /// When the run's time is up; never, while it stands still because only a person can bring it on.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let waited = self.standstill.over()?;
        self.ledger.budget().time_ms.map(|time| self.started.after(time).after(waited))
    }

    /// Whether there is a question and nothing but its answer can bring the run on. Cheap, since it is asked after
    /// every event: where no question is open, nothing is looked at.
    pub(crate) fn stands_still(&self) -> bool {
        self.open_question().is_some()
            && !self.winds_down()
            && !self.merged_checks.iter().any(|check| check.end.is_none())
            && !self.check_results.baseline().iter().any(|check| check.end.is_none())
            && !self.check_results.without().values().any(|check| check.end.is_none())
            && self.busy().all(|(task, task_state)| self.waits(&task, task_state))
    }

    pub(crate) fn halted(&self) -> Option<&Decision> {
        self.halted.as_ref()
    }

    pub(crate) fn breakers(&self) -> &Breakers {
        &self.breakers
    }
}
