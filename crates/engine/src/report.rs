//! The end of the line: when is the run over, and how did it end?

use types::{Decision, Event, RuleId, Status, Timestamp};

use crate::run::{Run, nothing_under_way};
use types::Phase;

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Some((status, decision)) = ending(run) else { return vec![] };
    if !nothing_under_way(run) {
        return vec![];
    }
    vec![Event::RunFinished { status, decision }]
}

fn ending(run: &Run) -> Option<(Status, Decision)> {
    if let Some(decision) = run.refused() {
        return Some((Status::Refused, decision.clone()));
    }
    if let Some(decision) = run.cancelled() {
        return Some((Status::Cancelled, decision.clone()));
    }
    if let Some(decision) = run.exhausted() {
        return Some((Status::OutOfBudget, decision.clone()));
    }
    if let Some(gate) = run.gates().iter().find(|gate| !gate.go) {
        let failed = run.planning().is_failed() || run.lanes().iter().any(|lane| lane.is_failed());
        let status = if failed { Status::Failed } else { Status::NoGo };
        return Some((status, gate.decision.clone()));
    }
    run.passed(Phase::Closure).then(|| {
        let reason = "every gate is passed";
        (Status::Done, Decision::new(RuleId::fixed("report.done"), reason))
    })
}
