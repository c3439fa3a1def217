//! Plans that can be executed, and every way in which one cannot.

use serde_json::{Value, json};
use types::{Budget, Status};

use crate::Run;
use crate::testing::{Bench, same};
use crate::testing::{
    begin, crew, new_run, only, plan, render, request, run_with, submission, survey,
};

fn begun() -> Bench<Run> {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    bench
}

/// What is said about a plan.
fn said(plan: Value) -> String {
    let events = render(&begun().send(&submission("plan.1", plan)));
    only(&events, &["plan."])
}

#[track_caller]
fn refused(plan: Value, problems: &str) {
    same(&said(plan), &format!("plan.refused plan.1 {problems}"));
}

#[test]
fn a_valid_plan_is_adopted_and_its_first_tasks_start() {
    same(
        &begun().tell("plan.1 plans T1 a.rs; T2 b.rs after T1; T3 c.rs"),
        "attempt.finished plan.1 submitted
         plan.adopted T1 T2 T3
         gate.passed planning
         attempt.started T1.1 coder
         attempt.started T3.1 coder",
    );
}

#[test]
fn what_is_not_a_plan_is_refused_with_the_cause() {
    refused(
        json!("do it"),
        "it is not a plan: invalid type: string \"do it\", expected struct Plan",
    );
    refused(
        json!({"tasks": [], "more": 1}),
        "it is not a plan: unknown field `more`, expected `summary` or `tasks`",
    );
    let escape = json!({"tasks": [{"id": "T1", "title": "t", "artifacts": ["../x"]}]});
    refused(escape, "it is not a plan: \"../x\" leads out of the workspace");
    let odd = json!({"tasks": [{"id": "T 1", "title": "t", "artifacts": ["x"]}]});
    refused(odd, "it is not a plan: \"T 1\" is not a task id");
}

#[test]
fn a_plan_without_tasks_is_refused() {
    refused(json!({"tasks": []}), "it has no tasks");
}

#[test]
fn a_plan_with_too_many_tasks_is_refused() {
    let mut policy = crew();
    policy.limits.max_tasks = 2;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    let events = bench.tell("plan.1 plans T1 a; T2 b; T3 c");
    same(&only(&events, &["plan."]), "plan.refused plan.1 it has 3 tasks; at most 2 are allowed");
}

#[test]
fn ids_are_used_once_and_not_the_reserved_one() {
    refused(plan("T1 a; T1 b"), "two tasks have the same id");
    refused(plan("plan a"), "plan is a reserved id; name tasks T1, T2, ...");
}

#[test]
fn a_task_has_a_title_and_somewhere_to_write() {
    let mut plan = plan("T1 a");
    plan["tasks"][0]["title"] = json!("  ");
    plan["tasks"][0]["artifacts"] = json!([]);
    refused(plan, "T1 has no title; T1 names no artifacts, so it could write nowhere");
}

#[test]
fn gits_own_files_are_nobodys_artifact() {
    let complaint =
        |path: &str| format!("T1 would write to {path}; git's own files are nobody's artifact");
    for path in [".git/hooks/pre-commit", "sub/.GIT/config"] {
        refused(plan(&format!("T1 {path}")), &complaint(path));
    }
}

#[test]
fn dependencies_lead_to_other_tasks_of_the_plan() {
    refused(plan("T1 a after T1"), "T1 depends on itself; its dependencies go in a circle: T1");
    refused(plan("T1 a after T7"), "T1 depends on T7, which is not in the plan");
    refused(
        plan("T1 a after T3; T2 b after T1; T3 c after T2; T4 d"),
        "its dependencies go in a circle: T1, T2, T3",
    );
}

#[test]
fn a_task_is_for_a_role_that_there_is() {
    let mut plan = plan("T1 a");
    plan["tasks"][0]["role"] = json!("wizard");
    refused(plan, "T1 is for wizard, which is not a role");
}

#[test]
fn a_fifth_of_the_budget_stays_in_reserve() {
    let estimated = |tokens: u64| {
        let mut plan = plan("T1 a");
        plan["tasks"][0]["estimate_tokens"] = json!(tokens);
        let mut request = request("Build a CLI");
        request.budget = Budget { tokens: Some(101_000), ..Budget::default() };
        let mut bench = new_run();
        bench.send(&begin(request, survey()));
        // The planner itself took 1,000.
        only(&render(&bench.send(&submission("plan.1", plan))), &["plan."])
    };
    same(&estimated(80_000), "plan.adopted T1");
    same(
        &estimated(80_001),
        "plan.refused plan.1 its tasks are estimated at 80001 tokens; 80000 are left after the reserve",
    );
}

#[test]
fn estimates_without_bounds_are_refused_like_any_that_are_too_large() {
    let mut plan = plan("T1 a; T2 b");
    for place in 0..2 {
        plan["tasks"][place]["estimate_tokens"] = json!(u64::MAX);
    }
    assert!(said(plan).contains("tasks are estimated at 18446744073709551615 tokens"));
}

#[test]
fn every_problem_is_named_at_once() {
    refused(
        plan("T1 a after T9; plan b; T1 c"),
        "two tasks have the same id; T1 depends on T9, which is not in the plan; \
         plan is a reserved id; name tasks T1, T2, ...",
    );
}

#[test]
fn a_refused_plan_goes_back_with_its_problems_three_times_at_most() {
    let mut bench = begun();
    let refused = |n: u32| format!("plan.{n} plans T1 a after T7\ntimer plan fires");
    same(
        &bench.tell(&refused(1)),
        "attempt.finished plan.1 submitted
         plan.refused plan.1 T1 depends on T7, which is not in the plan
         retry.scheduled plan failure.plan_invalid 2 left, told why
         retry.released plan
         attempt.started plan.2 planner",
    );
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("T1 depends on T7, which is not in the plan"), "{brief}");
    bench.tell(&refused(2));
    same(
        &bench.tell("plan.3 plans T1 a after T7"),
        "attempt.finished plan.3 submitted
         plan.refused plan.3 T1 depends on T7, which is not in the plan
         question.asked 0 failure.plan_invalid",
    );
    same(
        &bench.tell("answer 0 skip\nanswer 0 stop"),
        "question.answered 0
         task.failed plan person.stop
         run.finished failed, person.stop",
    );
    assert_eq!(bench.machine.status(), Status::Failed);
}
