//! The evidence that a phase must show, from the run's record, never from an agent's claim.

use types::Evidence;

use crate::stages::{baseline, trials};
use crate::state::{CheckState, Run, TaskState};

/// Why the evidence is missing; `None` if it is present.
pub(super) fn missing(run: &Run, evidence: Evidence) -> Option<String> {
    let unless = |there: bool, why: &str| (!there).then(|| why.to_owned());
    match evidence {
        Evidence::RequestAccepted => unless(run.is_admitted(), "the request was not accepted"),
        Evidence::RequestRouted => unless(run.route().is_some(), "the request was not routed"),
        Evidence::ContextSelected => {
            unless(run.documents().is_some(), "the documents for the agents were not selected")
        }
        Evidence::IsolationHeld => {
            let held = run.proof().is_some_and(|proof| proof.level >= run.policy().sandbox.require);
            unless(held, "the required isolation was not verified")
        }
        Evidence::PlanAdopted => unless(run.plan().is_some(), "there is no valid plan"),
        Evidence::TasksOrdered => unless(
            run.plan().is_some_and(|plan| run.order_of_merging() == plan.tasks.len()),
            "the tasks have no valid order",
        ),
        Evidence::TasksFinished => tasks_finished(run),
        Evidence::MergedChecksPassed => merged_checks(run),
        Evidence::ArtifactsPresent => {
            let missing: Vec<String> =
                run.on_branch().missing.iter().map(ToString::to_string).collect();
            unless(missing.is_empty(), &format!("missing artifacts: {}", missing.join(", ")))
        }
        Evidence::WithinBudget => {
            unless(!run.ledger().is_overspent(), "spending exceeds the budget")
        }
    }
}

fn tasks_finished(run: &Run) -> Option<String> {
    let count = |is: fn(&TaskState) -> bool| run.task_states().iter().filter(|it| is(it)).count();
    let finished = count(TaskState::is_finished);
    // A waived task is not missing, as long as one is left.
    let waived = if finished > 0 { count(TaskState::is_waived) } else { 0 };
    let all = run.task_states().len() - waived;
    (finished < all).then(|| {
        let failed = count(TaskState::is_failed);
        let settled = count(TaskState::is_settled) - waived;
        let skipped = settled - finished - failed;
        let mut reason = format!("{finished} of {all} tasks are finished");
        for (count, word) in [(failed, "failed"), (skipped, "skipped")] {
            if count > 0 {
                reason.push_str(&format!(", {count} {word}"));
            }
        }
        reason
    })
}

fn merged_checks(run: &Run) -> Option<String> {
    let checks = &run.check_results().merged;
    if checks.is_empty() && (run.check_results().has_dropped() || baseline::goes_without(run)) {
        return None;
    }
    if checks.is_empty() {
        return Some("no check can verify the result; specify one with --check".to_owned());
    }
    let names = failed_when_merged(run);
    (!names.is_empty()).then(|| format!("{} did not pass on the merged tree", names.join(", ")))
}

/// The names of the checks that ended and did not pass on the merged tree.
pub(super) fn failed_when_merged(run: &Run) -> Vec<&str> {
    let base = run.survey().map(|survey| &survey.base);
    let ended = run.check_results().merged.iter().filter(|check| !has_timed_out(run, check));
    let failed = ended.filter(|check| trials::stands_merged(run, base, check).is_some());
    failed.map(|check| check.what.name.as_str()).collect()
}

/// Whether a check says nothing, because it did not end in time.
pub(super) fn has_timed_out(run: &Run, check: &CheckState) -> bool {
    check.end.as_ref().is_some_and(|end| run.timed_out(end))
}

pub(super) const fn word(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::RequestAccepted => "request accepted",
        Evidence::RequestRouted => "request routed",
        Evidence::ContextSelected => "context selected",
        Evidence::IsolationHeld => "isolation verified",
        Evidence::PlanAdopted => "plan adopted",
        Evidence::TasksOrdered => "tasks ordered",
        Evidence::TasksFinished => "all tasks finished",
        Evidence::MergedChecksPassed => "checks passed on the merged tree",
        Evidence::ArtifactsPresent => "artifacts present",
        Evidence::WithinBudget => "within budget",
    }
}
