//! Merging: results are put onto one branch, in the plan's order, whichever finished first.

use types::{Event, Fault, FaultClass, MergeCheck, TaskId, Timestamp};

use crate::stages::verify;
use crate::state::{Run, TaskState, TaskStatus, current};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Some(task) = run.next_to_merge() else { return vec![] };
    let Some(task_state) = run.task_state(&task.id) else { return vec![] };
    match &task_state.stage {
        TaskStatus::Verified { commit } => vec![Event::MergeStarted {
            task: task.id.clone(),
            commit: commit.clone(),
            onto: run.head().clone(),
        }],
        _ => landed(run),
    }
}

/// Finishes the task that was just merged, if its checks pass on the branch, too.
pub(crate) fn landed(run: &Run) -> Vec<Event> {
    let Some(task) = run.next_to_merge() else { return vec![] };
    let Some(task_state) = run.task_state(&task.id) else { return vec![] };
    let TaskStatus::Landed { commit, .. } = &task_state.stage else { return vec![] };
    let proof = needs_proof(run, task_state)
        .then(|| {
            let attempt = current(&task.id, task_state);
            let next = verify::landed(run, &attempt, commit)?;
            let begins = next.iter().any(|event| matches!(event, Event::CheckStarted { .. }));
            // A run that winds down starts no check; an unproven result is removed from the branch again.
            Some(if begins && run.winds_down() { unproven(attempt) } else { next })
        })
        .flatten();
    proof.unwrap_or_else(|| {
        vec![Event::TaskFinished { task: task.id.clone(), commit: commit.clone() }]
    })
}

/// Whether no check has seen this state of the branch: other results were merged since the attempt began.
fn needs_proof(run: &Run, task_state: &TaskState) -> bool {
    let TaskStatus::Landed { before, .. } = &task_state.stage else { return false };
    run.policy().merge.check == MergeCheck::Each && task_state.base.as_ref() != Some(&before.head)
}

fn unproven(attempt: types::AttemptId) -> Vec<Event> {
    let what = "the run ended before the task's checks could run on the merged tree";
    let fault = Fault::new(FaultClass::Person, "merge.not_proven", what);
    vec![Event::TaskRejected { attempt, fault }]
}

/// The commit message on the run's branch.
pub(crate) fn message(run: &Run, id: &TaskId) -> String {
    let title = run.planned(id).map_or("", |task| &task.title);
    let title: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{}\n\nBosun-Run: {}\nBosun-Task: {id}\n", title.trim(), run.id())
}

/// The fault of a merge conflict. The next attempt gets the conflicting lines of both sides.
pub(crate) fn conflict(paths: &[String], hunks: &str) -> Fault {
    let what = format!("its changes conflict with those of other tasks: {}", paths.join(", "));
    Fault::new(FaultClass::Conflict, "merge.conflict", what).with_evidence(hunks)
}

#[cfg(test)]
mod tests {
    use crate::testing::{only, planned, same};

    const MERGES: [&str; 3] = ["merge", "task", "retry"];

    #[test]
    fn results_are_merged_in_the_plans_order_whoever_finishes_first() {
        let mut bench = planned("T1 a; T2 b; T3 c");
        let done = |task: &str| format!("{task}.1 hands in\ncheck {task}.1/0 exits 0");
        same(&only(&bench.tell(&done("T3")), &MERGES), "task.verified T3.1 verify.checks_passed");
        same(&only(&bench.tell(&done("T2")), &MERGES), "task.verified T2.1 verify.checks_passed");
        same(
            &only(&bench.tell(&done("T1")), &MERGES),
            "task.verified T1.1 verify.checks_passed
             merge.started T1 onto base",
        );
        same(
            &only(
                &bench.tell(
                    "merge T1 lands\nmerge T2 lands\ncheck landed:T2.1/0 exits 0\nmerge T3 lands\n
                     check landed:T3.1/0 exits 0",
                ),
                &MERGES,
            ),
            "merge.finished T1 merged
             task.finished T1
             merge.started T2 onto m-T1
             merge.finished T2 merged
             task.finished T2
             merge.started T3 onto m-T2
             merge.finished T3 merged
             task.finished T3",
        );
    }

    #[test]
    fn results_that_wait_for_their_turn_are_not_looked_at_again() {
        let mut bench = planned("T1 a; T2 b; T3 c");
        bench.tell("T2.1 hands in\ncheck T2.1/0 exits 0\nT3.1 hands in\ncheck T3.1/0 exits 0");
        let busy: Vec<String> = bench.machine.busy().map(|(id, _)| id.to_string()).collect();
        assert_eq!(busy, ["T1"]);
    }

    #[test]
    fn a_task_that_failed_does_not_hold_up_those_behind_it() {
        let mut bench = planned("T1 a; T2 b");
        bench.tell("T2.1 hands in\ncheck T2.1/0 exits 0");
        same(
            &only(&bench.tell("T1.1 fails person x.y"), &MERGES),
            "task.failed T1 failure.person
             merge.started T2 onto base",
        );
    }

    #[test]
    fn a_conflict_starts_afresh_from_where_the_branch_is_now() {
        let mut bench = planned("T1 a; T2 b");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0\nT2.1 hands in\ncheck T2.1/0 exits 0");
        bench.tell("merge T1 lands");
        same(
            &bench.tell("merge T2 conflicts\ntimer T2 fires"),
            "merge.finished T2 conflict
             retry.scheduled T2 failure.conflict_retry 1 left, told why
             retry.released T2
             attempt.started T2.2 coder",
        );
        assert!(bench.asked().iter().any(|effect| matches!(
            effect,
            types::Effect::RunAttempt { brief, .. } if brief.start.0 == "m-T1"
        )));
        bench.tell("T2.2 hands in\ncheck T2.2/0 exits 0");
        same(
            &bench.tell("merge T2 conflicts"),
            "merge.finished T2 conflict
             question.asked 0 failure.conflict_retry",
        );
    }

    #[test]
    fn a_merge_that_broke_down_is_a_failure_of_mechanics() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0");
        same(
            &bench.tell("merge T1 breaks"),
            "merge.finished T1 failed
             retry.scheduled T1 failure.structural_retry 3 left",
        );
    }

    #[test]
    fn a_merge_that_lands_after_a_cancel_is_on_record_as_finished() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0");
        same(
            &bench.tell("cancel\nmerge T1 lands"),
            "run.cancelled ann
             merge.finished T1 merged
             task.finished T1
             run.finished cancelled, person.cancel",
        );
    }

    /// A run in which T2 is merged after T1.
    fn two_together() -> crate::testing::Bench<crate::Run> {
        let mut bench = planned("T1 a; T2 b");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0\nT2.1 hands in\ncheck T2.1/0 exits 0");
        bench.tell("merge T1 lands");
        bench
    }

    #[test]
    fn results_that_came_together_are_checked_together() {
        let mut bench = two_together();
        same(
            &bench.tell("merge T2 lands\ncheck landed:T2.1/0 exits 0"),
            "merge.finished T2 merged
             check.started merged T2.1/0 tests
             check.finished merged T2.1/0 exit 0
             task.finished T2
             gate.passed execution
             check.started merged/0 tests",
        );
    }

    /// P52: a merge that breaks something is removed from the branch and goes back to its task with the check's output.
    #[test]
    fn a_merge_that_breaks_the_others_goes_back_with_what_the_check_said() {
        let mut bench = two_together();
        same(
            &only(
                &bench.tell("merge T2 lands\ncheck landed:T2.1/0 exits 3\ntimer T2 fires"),
                &["task", "retry", "attempt"],
            ),
            "task.rejected T2.1 check_failed
             retry.scheduled T2 failure.check_feedback 2 left, from m-T2, told why
             retry.released T2
             attempt.started T2.2 coder",
        );
        assert_eq!(bench.machine.head().0, "m-T1", "what does not work is off the branch");
        assert_eq!(bench.machine.taken_off().map(|commit| commit.0.as_str()), Some("m-T2"));
        let told = format!("{:?}", bench.asked());
        assert!(told.contains("merged with the results of other tasks"), "{told}");
        assert!(told.contains("exited with 3"), "{told}");
        bench.tell("T2.2 hands in\ncheck T2.2/0 exits 0\nmerge T2 lands");
        assert_eq!(bench.machine.taken_off(), None);
    }

    #[test]
    fn where_the_policy_says_so_they_are_checked_only_at_the_end() {
        let mut policy = crate::testing::crew();
        policy.merge.check = types::MergeCheck::End;
        let mut bench = crate::testing::planned_with(policy, "T1 a; T2 b");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0\nT2.1 hands in\ncheck T2.1/0 exits 0");
        let events = bench.tell("merge T1 lands\nmerge T2 lands");
        assert!(!events.contains("check.started merged T2"), "{events}");
    }

    #[test]
    fn a_merge_that_nobody_has_checked_when_the_run_ends_is_off_the_branch() {
        let mut bench = two_together();
        same(
            &bench.tell("merge T2 lands\ncancel\ncheck landed:T2.1/0 breaks"),
            "merge.finished T2 merged
             check.started merged T2.1/0 tests
             run.cancelled ann
             check.finished merged T2.1/0 stopped
             task.rejected T2.1 check_failed
             run.finished cancelled, person.cancel",
        );
        assert_eq!(bench.machine.head().0, "m-T1");
    }

    #[test]
    fn whoever_meets_a_conflict_is_told_both_sides() {
        let mut bench = two_together();
        bench.tell("merge T2 conflicts\ntimer T2 fires");
        let told = format!("{:?}", bench.asked());
        assert!(told.contains("<<<<<<< the branch\\nold\\n=======\\nnew"), "{told}");
    }

    /// Accepting or discarding the result is the only line after the end, and is written once.
    #[test]
    fn a_result_is_settled_once_and_only_after_the_end() {
        let settle = |how| {
            let (commit, by) = (types::CommitId("m".to_owned()), "ann".to_owned());
            let settled = types::Settled { how, commit, by };
            types::Input::Command(types::Command::Settle { settled })
        };
        let (take, drop) = (types::Settling::Accepted, types::Settling::Discarded);
        let mut bench = planned("T1 a");
        same(&crate::testing::render(&bench.send(&settle(take))), "");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
        same(&crate::testing::render(&bench.send(&settle(take))), "result.settled accepted by ann");
        same(&crate::testing::render(&bench.send(&settle(drop))), "");
        let view = bench.machine.view(bench.now);
        assert_eq!(view.settled.map(|settled| settled.how), Some(take));
        assert_eq!(view.status, types::Status::Done);
    }
}
