//! When attempts start, how many at once, and with which share of the budget.

use types::{Budget, Event, Policy, RoleId};

use crate::Run;
use crate::testing::{Bench, begin, crew, only, plan, planned, planned_with, render, request};
use crate::testing::{run_with, same, submission, survey};

const STARTS: [&str; 3] = ["attempt.started", "task.skipped", "budget."];

/// The lines that take a task from its attempt onto the branch.
fn through(task: &str) -> String {
    format!("{task}.1 hands in\ncheck {task}.1/0 exits 0\nmerge {task} lands")
}

fn tokens(events: &[Event]) -> Vec<u64> {
    let tokens = events.iter().filter_map(|event| match event {
        Event::AttemptStarted { budget, .. } => budget.tokens,
        _ => None,
    });
    tokens.collect()
}

/// A run with this many tokens, 1,000 of which the planner used.
fn with_tokens(policy: Policy, tokens: u64, tasks: &str) -> (Bench<Run>, Vec<Event>) {
    let mut request = request("Build a CLI");
    request.budget = Budget { tokens: Some(tokens), ..Budget::default() };
    let mut bench = run_with(policy);
    bench.send(&begin(request, survey()));
    let events = bench.send(&submission("plan.1", plan(tasks)));
    (bench, events)
}

/// P18: independent tasks run concurrently, up to the limit.
#[test]
fn tasks_run_in_parallel_up_to_the_limit() {
    let mut bench = planned("T1 a; T2 b; T3 c; T4 d; T5 e; T6 f");
    assert_eq!(bench.machine.busy().count(), 4);
    same(
        &only(&bench.tell("T3.1 hands in\ncheck T3.1/0 exits 0"), &STARTS),
        "attempt.started T5.1 coder",
    );
}

#[test]
fn a_task_starts_when_everything_it_needs_is_merged() {
    let mut bench = planned("T1 a; T2 b; T3 c after T1,T2");
    same(&only(&bench.tell(&through("T1")), &STARTS), "");
    let landed = through("T2") + "\ncheck landed:T2.1/0 exits 0";
    same(&only(&bench.tell(&landed), &STARTS), "attempt.started T3.1 coder");
    let start = bench.asked().iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some(brief.start.to_string()),
        _ => None,
    });
    assert_eq!(start.as_deref(), Some("m-T2"));
}

#[test]
fn tasks_that_write_to_the_same_place_run_one_after_the_other_in_the_order_of_merging() {
    let mut bench = planned("T1 src/a.rs; T2 src/; T3 src/b.rs; T4 docs/");
    let running = |bench: &Bench<Run>| {
        bench.machine.busy().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(running(&bench), "T1 T4");
    same(&only(&bench.tell(&through("T1")), &STARTS), "attempt.started T2.1 coder");
    same(&only(&bench.tell(&through("T2")), &STARTS), "attempt.started T3.1 coder");
}

#[test]
fn who_only_follows_a_failed_task_still_runs() {
    let mut bench = planned("T1 a; T2 a; T3 b after T1");
    same(
        &only(&bench.tell("T1.1 fails person review.wrong"), &STARTS),
        "task.skipped T3 schedule.needs_failed_task
         attempt.started T2.1 coder",
    );
}

/// P19: dependants of a failed task are not started.
#[test]
fn everything_that_needs_a_failed_task_is_skipped_and_the_rest_goes_on() {
    let mut bench = planned("T1 a; T2 b after T1; T3 c after T2; T4 d after T5; T5 e");
    same(
        &only(&bench.tell("T1.1 fails person review.wrong"), &["task."]),
        "task.failed T1 failure.person
         task.skipped T2 schedule.needs_failed_task
         task.skipped T3 schedule.needs_failed_task",
    );
    same(&only(&bench.tell(&through("T5")), &STARTS), "attempt.started T4.1 coder");
}

#[test]
fn attempts_get_an_equal_share_below_their_roles_limit() {
    let (_, events) = with_tokens(crew(), 101_000, "T1 a; T2 b");
    assert_eq!(tokens(&events), [50_000, 50_000]);
    let (_, events) = with_tokens(crew(), 2_000_000, "T1 a; T2 b");
    assert_eq!(tokens(&events), [400_000, 400_000]);
}

#[test]
fn what_an_attempt_did_not_use_is_there_for_the_next() {
    let mut policy = crew();
    policy.limits.parallel_tasks = 1;
    let (mut bench, events) = with_tokens(policy, 101_000, "T1 a; T2 b");
    assert_eq!(tokens(&events), [100_000]);
    bench.tell("T1.1 hands in");
    let events = bench.log.iter().map(|(event, _)| event.clone()).collect::<Vec<_>>();
    assert_eq!(tokens(&events), [101_000, 100_000]);
    bench.tell("check T1.1/0 exits 0");
    let events = bench.log.iter().map(|(event, _)| event.clone()).collect::<Vec<_>>();
    assert_eq!(tokens(&events), [101_000, 100_000, 99_000]);
}

#[test]
fn an_attempt_that_does_not_fit_beside_others_starts_when_they_give_back() {
    // Half of 13,000 is less than an attempt needs, so the first gets everything.
    let (mut bench, events) = with_tokens(crew(), 14_000, "T1 a; T2 b");
    assert_eq!(tokens(&events), [13_000]);
    same(&only(&bench.tell("T1.1 hands in"), &STARTS), "attempt.started T2.1 coder");
}

#[test]
fn an_attempt_that_can_never_fit_ends_the_run() {
    let (mut bench, events) = with_tokens(crew(), 10_000, "T1 a; T2 b");
    assert_eq!(tokens(&events), [9_000]);
    same(
        &bench.tell("T1.1 fails structural session.no_submission\ntimer T1 fires\nT1.2 hands in"),
        "attempt.finished T1.1 failed structural session.no_submission
         retry.scheduled T1 failure.structural_retry 3 left
         attempt.started T2.1 coder
         retry.released T1",
    );
    same(
        &bench.tell("timer T1 fires\nT2.1 hands in\ncheck T2.1/0 exits 0"),
        "attempt.finished T2.1 submitted
         check.started T2.1/0 tests
         check.finished T2.1/0 exit 0
         task.verified T2.1 verify.checks_passed
         budget.exhausted budget.attempt_does_not_fit
         run.finished out of budget, budget.attempt_does_not_fit",
    );
}

#[test]
fn a_result_that_is_being_merged_lands_before_the_budget_ends_the_run() {
    let (mut bench, _) = with_tokens(crew(), 9_500 + 1_000, "T1 a; T2 b after T1");
    bench.tell("T1.1 fails structural session.no_submission\ntimer T1 fires");
    same(
        &bench.tell("T1.2 hands in\ncheck T1.2/0 exits 0\nmerge T1 lands"),
        "attempt.finished T1.2 submitted
         check.started T1.2/0 tests
         check.finished T1.2/0 exit 0
         task.verified T1.2 verify.checks_passed
         merge.started T1 onto base
         merge.finished T1 merged
         task.finished T1
         budget.exhausted budget.attempt_does_not_fit
         run.finished out of budget, budget.attempt_does_not_fit",
    );
}

#[test]
fn a_task_waits_for_the_merges_under_way_before_the_budget_is_called_exhausted() {
    // T3 does not fit while T1 is being merged and T2 is being checked.
    let mut policy = crew();
    policy.limits.parallel_tasks = 2;
    let (mut bench, _) = with_tokens(policy, 19_000, "T1 a; T2 b; T3 c");
    let spent = |attempt: &str| {
        let types::Input::Outcome(id, types::Outcome::Attempt(mut end)) =
            submission(attempt, serde_json::json!({}))
        else {
            panic!("an attempt's end")
        };
        end.spent.tokens = 9_000;
        types::Input::Outcome(id, types::Outcome::Attempt(end))
    };
    bench.send(&spent("T1.1"));
    bench.send(&spent("T2.1"));
    same(
        &only(
            &bench.tell(
                "check T1.1/0 exits 0\ncheck T2.1/0 exits 0\nmerge T1 lands\nmerge T2 lands\n
                       check landed:T2.1/0 exits 0",
            ),
            &["task.finished", "budget", "run"],
        ),
        "task.finished T1
         task.finished T2
         budget.exhausted budget.attempt_does_not_fit
         run.finished out of budget, budget.attempt_does_not_fit",
    );
}

#[test]
fn a_budget_without_calls_left_starts_nothing() {
    let mut request = request("Build a CLI");
    request.budget = Budget { calls: Some(2), ..Budget::default() };
    let mut bench = run_with(crew());
    bench.send(&begin(request, survey()));
    same(
        &only(&render(&bench.send(&submission("plan.1", plan("T1 a")))), &["budget.e", "run"]),
        "budget.exhausted budget.attempt_does_not_fit
         run.finished out of budget, budget.attempt_does_not_fit",
    );
}

#[test]
fn a_route_to_a_role_that_is_not_there_fails_the_plan() {
    let mut policy = crew();
    policy.roles.remove(&RoleId::fixed("planner"));
    same(
        &only(
            &run_with(policy).tell("begin Build a CLI"),
            &["task", "gate.blocked", "run.finished"],
        ),
        "task.failed plan schedule.no_role
         gate.blocked planning: there is no valid plan
         run.finished failed, gate.planning",
    );
}

#[test]
fn a_run_whose_time_is_up_winds_down_what_is_under_way() {
    let mut bench = planned("T1 a; T2 b");
    same(&bench.tell("timer deadline fires"), "budget.exhausted budget.time");
    same(
        &bench.tell("T1.1 is cancelled\nT2.1 hands in"),
        "attempt.finished T1.1 cancelled
         attempt.finished T2.1 submitted
         run.finished out of budget, budget.time",
    );
}

#[test]
fn a_deadline_that_fires_too_early_is_waited_for_again() {
    let mut bench = planned("T1 a");
    let fired = types::Input::Outcome(
        types::EffectId::Timer(types::TimerId::Deadline),
        types::Outcome::Fired,
    );
    same(&render(&bench.send(&fired)), "");
    let waits = |effect: &types::Effect| matches!(effect, types::Effect::Wait { .. });
    assert!(bench.asked().iter().any(waits));
}

#[test]
fn retries_come_before_tasks_that_were_never_tried() {
    let mut policy = crew();
    policy.limits.parallel_tasks = 1;
    let mut bench = planned_with(policy, "T1 a; T2 b; T3 c");
    same(
        &only(&bench.tell("T1.1 fails structural session.no_submission"), &STARTS),
        "attempt.started T2.1 coder",
    );
    same(
        &only(&bench.tell("T2.1 hands in\ntimer T1 fires\ncheck T2.1/0 exits 0"), &STARTS),
        "attempt.started T1.2 coder",
    );
}

/// C33: messages to a run are not forwarded to attempts at work.
#[test]
fn what_is_said_to_a_run_reaches_no_agent() {
    let mut bench = planned("T1 a");
    assert_eq!(bench.tell("steer hurry up\nsubmit more\nfollow_up and more"), "");
}
