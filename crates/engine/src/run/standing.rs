//! Where a run stands between its gates, with its questions and in time: what the stations ask most.

use types::{Decision, GateView, Phase, Timestamp};

use super::{Breakers, Run};
use crate::Machine as _;

impl Run {
    /// The first phase whose gate has not been passed or blocked yet.
    pub(crate) fn phase(&self) -> Phase {
        let judged = |phase: &Phase| self.gates.iter().any(|gate| gate.phase == *phase);
        Phase::ALL.into_iter().find(|phase| !judged(phase)).unwrap_or(Phase::Closure)
    }

    pub(crate) fn passed(&self, phase: Phase) -> bool {
        self.gates.iter().any(|gate| gate.phase == phase && gate.go)
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
            && self.busy().all(|(task, lane)| self.waits(&task, lane))
    }

    pub(crate) fn halted(&self) -> Option<&Decision> {
        self.halted.as_ref()
    }

    pub(crate) fn breakers(&self) -> &Breakers {
        &self.breakers
    }
}
