//! Reopens a gate, or the work before it, at a person's request: the state that is reset for that. Nothing is removed
//! from the branch.

use types::{CheckEnd, Phase};

use super::task_state::{CheckState, TaskState, TaskStatus};
use super::{Run, checks};
use types::choices::{AGAIN, DROP, GO, RETRY};

/// Applies an answer to a gate's question.
pub(super) fn answered(run: &mut Run, phase: Phase, choice: &str, told: Option<String>) {
    if ![AGAIN, DROP, GO, RETRY].contains(&choice) {
        return;
    }
    for gate in run.gates.iter_mut().filter(|gate| gate.phase == phase && !gate.go) {
        gate.reopened = true;
    }
    match (phase, choice) {
        (Phase::Planning, RETRY) => plan_again(run, told),
        (Phase::Execution, RETRY) => work_again(run, told.as_ref()),
        (Phase::Monitoring, RETRY) => mend(run, told),
        (Phase::Monitoring, DROP) => {
            let failed = |check: &&CheckState| !check.end.as_ref().is_some_and(CheckEnd::passed);
            let failed = run.check_results.merged.iter().filter(failed);
            let failed: Vec<String> = failed.map(|check| check.what.command.clone()).collect();
            run.check_results.dropped.extend(failed);
        }
        (Phase::Monitoring, AGAIN) => {
            let merged = run.check_results.merged.clone();
            let others = |check: &CheckState| {
                check.end.as_ref().is_some_and(|end| end.passed() || run.timed_out(end))
            };
            // If only time was missing, what passed is not repeated.
            let only_time = merged.iter().all(others);
            if !(checks::more_time(run, &merged) && only_time) {
                run.check_results.merged.clear();
            }
        }
        _ => {}
    }
}

fn plan_again(run: &mut Run, told: Option<String>) {
    run.plan = None;
    run.task_states.clear();
    run.places.clear();
    run.order.clear();
    run.ready.clear();
    plan_once_more(run, told);
}

/// Restarts planning, as often as a person asks; the planner's failures are not counted for it.
pub(super) fn plan_once_more(run: &mut Run, told: Option<String>) {
    run.retries += 1;
    run.planning.stage = once_more(run, told, None);
}

/// Resets every unfinished task that no person waived; its failures still count, those of its review do not.
fn work_again(run: &mut Run, told: Option<&String>) {
    for review in run.reviews.reviews.values_mut().filter(|review| review.is_settled()) {
        review.stage = TaskStatus::Waiting;
        review.faults.clear();
    }
    let lost = |task_state: &TaskState| {
        task_state.is_settled() && !task_state.is_finished() && !task_state.is_waived()
    };
    let places: Vec<usize> =
        (0..run.task_states.len()).filter(|at| lost(&run.task_states[*at])).collect();
    for place in &places {
        let task_state = &mut run.task_states[*place];
        task_state.stage = TaskStatus::Waiting;
        task_state.told = told.cloned();
        run.retries += u32::from(task_state.attempts > 0);
        unsettle(run, *place);
    }
    // Tasks wait for their dependencies again, as at the start.
    let mut waits_for = vec![0_usize; run.task_states.len()];
    for (place, task_state) in run.task_states.iter().enumerate() {
        let followers = run.dag.followers[place].iter().filter(|_| !task_state.is_settled());
        let dependants = run.dag.dependants[place].iter().filter(|_| !task_state.is_finished());
        followers.chain(dependants).for_each(|waiter| waits_for[*waiter] += 1);
    }
    for place in places {
        run.task_states[place].waits_for = waits_for[place];
        let priority = run.plan.as_ref().map(|plan| plan.tasks[place].priority);
        if waits_for[place] == 0 {
            run.ready.insert((priority.unwrap_or_default(), place));
        }
    }
}

/// The parts pass and the whole does not: the task that owns a missing artifact fixes it, or the last task, on top of
/// everything.
fn mend(run: &mut Run, told: Option<String>) {
    let Some(place) = culprit(run) else { return };
    // A reopened task is not finished, so verdicts on all tasks are void.
    for gate in run.gates.iter_mut().filter(|gate| gate.phase == Phase::Execution) {
        gate.reopened = true;
    }
    run.check_results.merged.clear();
    run.retries += 1;
    let stage = once_more(run, told, Some(run.on_branch.head.clone()));
    run.task_states[place].stage = stage;
    run.busy.insert(place);
    unsettle(run, place);
}

fn culprit(run: &Run) -> Option<usize> {
    let plan = run.plan.as_ref()?;
    let promised =
        |task: &types::Task| task.artifacts.iter().any(|one| run.on_branch.missing.contains(one));
    let owner = plan.tasks.iter().position(promised);
    let finished =
        |place: &&usize| run.task_states.get(**place).is_some_and(TaskState::is_finished);
    owner.or_else(|| run.order.iter().rev().find(finished).copied())
}

fn once_more(run: &Run, told: Option<String>, start: Option<types::CommitId>) -> TaskStatus {
    let at = run.started;
    TaskStatus::Retrying { at, start, feedback: told, role: None, model: None, released: true }
}

fn unsettle(run: &mut Run, place: usize) {
    run.done = run.done.saturating_sub(1);
    run.unreachable.remove(&place);
    if let Some(turn) = run.order.iter().position(|other| *other == place) {
        run.settled = run.settled.min(turn);
    }
}

#[cfg(test)]
mod tests {
    use crate::Run;
    use crate::testing::{Bench, only, planned, same};

    const GATES: [&str; 2] = ["gate", "run.finished"];

    /// A run in which T1 is to write an artifact that it left out.
    fn to_be_mended() -> Bench<Run> {
        let mut bench = planned("T1 a,b; T2 c");
        bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands without b");
        bench.tell("T2.1 hands in c\ncheck T2.1/0 exits 0\nmerge T2 lands");
        let events = bench.tell("check landed:T2.1/0 exits 0\ncheck merged/0 exits 0");
        assert!(events.contains("gate.blocked monitoring: missing artifacts: b"), "{events}");
        same(&only(&bench.tell("answer 0 retry"), &["attempt"]), "attempt.started T1.2 coder");
        bench
    }

    #[test]
    fn a_task_that_could_not_be_mended_is_not_finished() {
        same(
            &only(&to_be_mended().tell("T1.2 fails person x.y"), &GATES),
            "gate.blocked execution: 1 of 2 tasks are finished, 1 failed
             run.finished failed, gate.execution",
        );
    }

    #[test]
    fn a_check_that_fails_on_the_merged_tree_can_be_dropped() {
        let mut bench = planned("T1 a; T2 c");
        bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
        bench.tell("T2.1 hands in c\ncheck T2.1/0 exits 0\nmerge T2 lands");
        let events = bench.tell("check landed:T2.1/0 exits 0\ncheck merged/0 exits 1");
        assert!(events.contains("gate.blocked monitoring"), "{events}");
        same(
            &only(&bench.tell("answer 0 drop"), &GATES),
            "gate.passed monitoring
             gate.passed closure
             run.finished done, report.done",
        );
    }

    #[test]
    fn what_is_missing_is_missing_until_it_has_landed() {
        let mut bench = to_be_mended();
        same(
            &only(
                &bench.tell("T1.2 fails semantic x.y\nanswer 1 skip\ncheck merged/0 exits 0"),
                &GATES,
            ),
            "gate.passed execution
             gate.blocked monitoring: missing artifacts: b",
        );
        let mut bench = to_be_mended();
        bench.tell("T1.2 hands in b\ncheck T1.2/0 exits 0\nmerge T1 lands");
        same(
            &only(&bench.tell("check merged/0 exits 0"), &GATES),
            "gate.passed monitoring
             gate.passed closure
             run.finished done, report.done",
        );
    }
}
