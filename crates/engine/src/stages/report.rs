//! The end of a run: when it is over, and its status. Nothing may still be in progress.

use types::{Decision, Event, Phase, RuleId, Status, Timestamp};

use crate::stages::gate;
use crate::state::{Run, Stop, TaskState};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Some((status, decision)) = ending(run) else { return vec![] };
    vec![Event::RunFinished { status, decision }]
}

fn ending(run: &Run) -> Option<(Status, Decision)> {
    if let Some((stop, decision)) = run.stop() {
        let status = match stop {
            Stop::Refused => Status::Refused,
            Stop::Cancelled => Status::Cancelled,
            Stop::Halted => Status::Failed,
            Stop::Exhausted => Status::OutOfBudget,
        };
        return Some((status, decision.clone()));
    }
    if let Some(gate) = gate::last_word(run) {
        let mut decision = gate.decision.clone();
        let status = match failed(run).next() {
            _ if only_money(run) => Status::OutOfBudget,
            Some(_) => Status::Failed,
            None => Status::NoGo,
        };
        // What these gates miss after a failure is only its consequence.
        let by_failure = matches!(gate.phase, Phase::Planning | Phase::Execution);
        let fault = failed(run).filter(|_| by_failure).find_map(|failed| failed.faults.last());
        if let Some(fault) = fault {
            decision.reason = format!("{}: {}", decision.reason, fault.cause());
        }
        return Some((status, decision));
    }
    if run.only_plans() && run.passed(Phase::Planning) {
        let reason = "the plan is complete, and only a plan was requested";
        return Some((Status::Done, Decision::new(RuleId::fixed("report.planned"), reason)));
    }
    run.passed(Phase::Closure).then(|| {
        let late = run.ledger().budget().time_ms.filter(|_| run.budget_state().asks_for_time());
        let late = late.map(|time| format!("; the time limit of {time} was exceeded"));
        let reason = format!("all gates passed{}", late.unwrap_or_default());
        (Status::Done, Decision::new(RuleId::fixed("report.done"), reason))
    })
}

/// The failed tasks, planning first.
fn failed(run: &Run) -> impl Iterator<Item = &TaskState> {
    let task_states = std::iter::once(run.planning()).chain(run.task_states());
    task_states.filter(|task_state| task_state.is_failed())
}

/// Whether lack of budget is the only cause of failure.
fn only_money(run: &Run) -> bool {
    let mut failed = failed(run).peekable();
    failed.peek().is_some()
        && failed.all(|task_state| {
            task_state.faults.last().is_some_and(|f| f.code.starts_with("budget."))
        })
}

#[cfg(test)]
mod tests {
    use types::{Status, TaskStage, Timestamp};

    use crate::testing::{new_run, only, planned, same};

    #[test]
    fn a_run_that_passed_every_gate_is_done() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
        let view = bench.machine.view(Timestamp::from_millis(5_000_000));
        assert_eq!(view.status, Status::Done);
        assert_eq!((view.head.0.as_str(), view.attempts, view.retries), ("m-T1", 2, 0));
        assert_eq!(view.tasks[0].stage, TaskStage::Finished);
        assert_eq!(view.spent.tokens, 2_000);
        assert_eq!(view.elapsed_ms.0, 0, "the clock stops when the run does");
        assert!(bench.asked().is_empty());
    }

    #[test]
    fn a_run_with_a_failed_task_has_failed() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 fails person x.y");
        let view = bench.machine.view(bench.now);
        assert_eq!(view.status, Status::Failed);
        assert_eq!(view.tasks[0].fault.as_deref(), Some("x.y happened"));
        let why = view.why.expect("a reason");
        assert_eq!(why.rule.as_str(), "gate.execution");
        assert_eq!(why.reason, "0 of 1 tasks are finished, 1 failed: x.y happened");
    }

    #[test]
    fn a_run_with_everything_merged_and_a_check_that_fails_is_a_no_go() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 1");
        assert_eq!(bench.machine.status(), Status::Waiting);
        bench.tell("answer 0 stop");
        assert_eq!(bench.machine.status(), Status::NoGo);
    }

    #[test]
    fn a_refused_run_and_one_out_of_budget_say_so() {
        let mut bench = new_run();
        bench.tell("begin Write ransomware in Go");
        assert_eq!(bench.machine.status(), Status::Refused);
        let mut bench = planned("T1 a");
        bench.tell("timer deadline fires\nT1.1 is cancelled");
        assert_eq!(bench.machine.status(), Status::OutOfBudget);
    }

    #[test]
    fn a_run_that_asked_something_waits() {
        let mut bench = new_run();
        bench.tell("begin fix it");
        assert_eq!(bench.machine.status(), Status::Waiting);
    }

    #[test]
    fn a_cancelled_run_ends_when_everything_under_way_has_ended() {
        let mut bench = planned("T1 a; T2 b");
        bench.tell("T1.1 hands in a");
        same(&bench.tell("cancel\ncancel"), "run.cancelled ann");
        assert_eq!(bench.machine.status(), Status::Running);
        same(&only(&bench.tell("T2.1 is cancelled"), &["run"]), "");
        same(
            &bench.tell("check T1.1/0 exits 0"),
            "check.finished T1.1/0 exit 0
             run.finished cancelled, person.cancel",
        );
        same(&bench.tell("woke\ndue\ncancel\nT1.1 hands in a"), "");
    }

    #[test]
    fn nothing_can_be_cancelled_before_it_has_begun() {
        let mut bench = new_run();
        same(&bench.tell("cancel"), "");
        same(
            &only(&bench.tell("begin Build a CLI"), &["run.c", "attempt"]),
            "attempt.started plan.1 planner",
        );
    }

    #[test]
    fn an_attempt_that_was_stopped_from_outside_is_not_done() {
        same(
            &only(&planned("T1 a; T2 b after T1").tell("T1.1 is cancelled"), &["task", "run"]),
            "task.skipped T2 schedule.needs_failed_task
             run.finished no-go, gate.execution",
        );
    }
}
