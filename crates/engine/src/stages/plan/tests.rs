//! Valid plans, and every way in which one is invalid.

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

/// The response to a plan.
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
    refused(json!("do it"), "it is text; a plan is an object with tasks");
    refused(
        json!("Sure:\n```json\n{\"tasks\": []}\n```"),
        "it is text with a code fence; submit the object itself, as the arguments of `submit`",
    );
    refused(json!([plan("T1 a")]), "it is a list; a plan is an object with tasks");
    refused(
        json!({"tasks": [], "more": 1}),
        "tasks: must not be empty; more: unknown key; there are summary, tasks, phases, risks, \
         recommendations, assumptions, strategy, totals",
    );
    let escape = json!({"tasks": [{"id": "T1", "title": "t", "artifacts": ["../x"]}]});
    refused(escape, "tasks.0.artifacts.0: \"../x\" leads out of the workspace");
    let odd =
        json!({"tasks": [{"id": "T 1", "title": "t", "artifacts": ["x"], "depends_on": [0]}]});
    refused(
        odd,
        "tasks.0.id: \"T 1\" is not a task id; tasks.0.depends_on.0: must be a text, not a number",
    );
}

/// A field of 5 MB is a problem of its own, reported briefly.
#[test]
fn a_field_that_is_far_too_large_is_named() {
    let mut plan = plan("T1 a");
    plan["tasks"][0]["description"] = json!("x".repeat(5 * 1024 * 1024));
    refused(plan, "tasks.0.description: has 5242880 bytes; at most 65536 are allowed");
}

#[test]
fn a_plan_without_tasks_is_refused() {
    refused(json!({"tasks": []}), "tasks: must not be empty");
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
    refused(plan.clone(), "tasks.0.title: must not be empty");
    plan["tasks"][0]["title"] = json!("Do it");
    refused(plan, "T1 has no artifacts, so it could not write anything");
}

#[test]
fn gits_own_files_are_nobodys_artifact() {
    let complaint = |path: &str| format!("T1 names {path}; git's own files cannot be artifacts");
    for path in [".git/hooks/pre-commit", "sub/.GIT/config"] {
        refused(plan(&format!("T1 {path}")), &complaint(path));
    }
}

#[test]
fn dependencies_lead_to_other_tasks_of_the_plan() {
    refused(plan("T1 a after T1"), "T1 depends on itself; its dependencies form a cycle: T1");
    refused(plan("T1 a after T7"), "T1 depends on T7, which is not in the plan");
    refused(
        plan("T1 a after T3; T2 b after T1; T3 c after T2; T4 d"),
        "its dependencies form a cycle: T1, T2, T3",
    );
}

#[test]
fn a_task_is_for_a_role_that_there_is() {
    let mut plan = plan("T1 a");
    plan["tasks"][0]["role"] = json!("wizard");
    refused(plan, "T1 has the unknown role wizard");
}

/// P14: the totals include the reserve on top of the estimates, and must fit.
#[test]
fn the_reserve_on_top_of_the_estimates_must_fit_too() {
    let estimated = |reserve: u64, tokens: u64| {
        let mut policy = crew();
        policy.budget.reserve_percent = reserve;
        let mut plan = plan("T1 a");
        plan["tasks"][0]["estimate_tokens"] = json!(tokens);
        let mut request = request("Build a CLI");
        request.budget = Budget { tokens: Some(101_000), ..Budget::default() };
        let mut bench = run_with(policy);
        bench.send(&begin(request, survey()));
        // The planner itself used 1,000.
        only(&render(&bench.send(&submission("plan.1", plan))), &["plan."])
    };
    same(&estimated(20, 83_333), "plan.adopted T1");
    same(
        &estimated(20, 83_334),
        "plan.refused plan.1 its tasks are estimated at 83334 tokens, 100001 with a reserve of \
         20 %; 100000 are left",
    );
    same(&estimated(0, 100_000), "plan.adopted T1");
}

#[test]
fn estimates_without_bounds_are_refused_like_any_that_are_too_large() {
    let mut plan = plan("T1 a; T2 b");
    for place in 0..2 {
        plan["tasks"][place]["estimate_tokens"] = json!(u64::MAX);
    }
    assert!(said(plan).contains("tasks are estimated at 18446744073709551615 tokens"));
}

/// P14: time counts too, along the longest chain.
#[test]
fn a_plan_that_takes_longer_than_there_is_time_is_refused() {
    let mut plan = plan("T1 a; T2 b after T1; T3 c");
    for place in 0..3 {
        plan["tasks"][place]["estimate_seconds"] = json!(3_000);
    }
    assert!(said(plan.clone()).contains("plan.adopted"), "two after each other are 7200 s");
    plan["tasks"][0]["estimate_seconds"] = json!(3_001);
    let refused = said(plan);
    assert!(
        refused.contains("expected to take 2 h 00 min 01 s with a reserve of 20 %"),
        "{refused}"
    );
}

/// The plan that a run adopts for this submission.
fn adopted_of(policy: types::Policy, request: types::Request, plan: Value) -> types::Plan {
    let mut bench = run_with(policy);
    bench.send(&begin(request, survey()));
    let events = bench.send(&submission("plan.1", plan));
    let adopted = events.into_iter().find_map(|event| match event {
        types::Event::PlanAdopted { plan, .. } => Some(plan),
        _ => None,
    });
    adopted.expect("the plan is adopted")
}

/// P12, P16, P17, X34, X35: the optional fields of a plan, and the fields that code always adds.
#[test]
fn a_plan_has_phases_risks_totals_and_a_strategy() {
    let handed_in = json!({
        "summary": "An experimental parser",
        "tasks": [
            {"task_id": "A", "title": "a", "deliverables": ["a"], "assigned_to": "coder",
             "priority": "normal", "estimated_tokens": 1_000, "estimated_time_seconds": 30,
             "phase": "development", "rationale": "it is needed", "validation_criteria": ["it is there"]},
            {"id": "B", "title": "b", "artifacts": ["b"], "priority": "critical", "dependencies": ["A"]},
        ],
        "phases": [{"phase_name": "development", "criteria": ["tests pass"]}],
        "risks": [{"description": "it may rain", "severity": "low"}],
        "recommendations": ["look at it"], "assumptions": ["there is a parser"],
        "totals": {"tokens": 1},
    });
    let plan = adopted_of(crew(), request("Build a CLI"), handed_in);
    let totals = plan.totals.expect("computed");
    assert_eq!((totals.tasks, totals.tokens, totals.longest_chain), (2, 1_200, 2));
    assert_eq!(totals.time_ms, types::Millis::seconds(36));
    assert_eq!(plan.strategy, Some(types::Strategy::Incremental));
    let risks: Vec<&str> = plan.risks.iter().map(|risk| risk.id.as_str()).collect();
    assert_eq!(risks, ["RISK-003", "RISK-102"], "{:?}", plan.risks);
    assert_eq!(plan.tasks[0].priority, types::TaskPriority::Medium);
    assert_eq!(plan.tasks[0].phase, Some(types::PlanPhase::Development));
}

/// P17: a tight budget and a long chain are risks, regardless of the planner's opinion.
#[test]
fn risks_are_read_off_the_numbers() {
    let mut tight = plan("T1 a; T2 b after T1; T3 c after T2; T4 d after T3; T5 e after T4");
    tight["tasks"][0]["estimate_tokens"] = json!(70_000);
    let mut request = request("Build a CLI");
    request.budget = Budget { tokens: Some(101_000), ..Budget::default() };
    let risks = adopted_of(crew(), request, tight).risks;
    let named: Vec<(&str, &str)> =
        risks.iter().map(|risk| (risk.id.as_str(), risk.severity.as_str())).collect();
    assert_eq!(named, [("RISK-001", "high"), ("RISK-002", "medium")]);
    assert!(
        risks[0].description.contains("84 % of the remaining tokens"),
        "{}",
        risks[0].description
    );
    assert!(risks.iter().all(types::Risk::is_mitigated));
}

/// P16: by the stated rule.
#[test]
fn the_strategy_follows_from_time_and_from_what_is_unknown() {
    let strategy = |request: types::Request| {
        adopted_of(crew(), request, plan("T1 a")).strategy.expect("computed")
    };
    let mut short = request("Build a CLI");
    short.budget.time_ms = Some(types::Millis::seconds(179));
    assert_eq!(strategy(short), types::Strategy::CriticalPath);
    let unknown = request("Build a CLI and investigate which parser is best");
    assert_eq!(strategy(unknown), types::Strategy::Agile);
    assert_eq!(strategy(request("Build a CLI")), types::Strategy::Incremental);
}

/// Of the tasks that could start, the more urgent ones start first.
#[test]
fn urgent_tasks_start_first() {
    let mut policy = crew();
    policy.limits.parallel_tasks = 1;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    let mut plan = plan("T1 a; T2 b; T3 c");
    plan["tasks"][1]["priority"] = json!("low");
    plan["tasks"][2]["priority"] = json!("critical");
    let events = render(&bench.send(&submission("plan.1", plan)));
    same(&only(&events, &["attempt.started"]), "attempt.started T3.1 coder");
}

fn given(plan: &Value) -> Bench<Run> {
    let mut bench = new_run();
    let mut request = request("Build a CLI");
    let read = types::PLAN_FORMAT.read(plan).expect("a plan");
    request.planning.given = Some(serde_json::from_value(read).expect("a plan"));
    bench.send(&begin(request, survey()));
    bench
}

#[test]
fn a_plan_that_is_given_is_carried_out_without_a_planner() {
    let bench = given(&plan("T1 a"));
    let events: Vec<types::Event> = bench.log.iter().map(|(event, _)| event.clone()).collect();
    same(
        &only(&render(&events), &["plan", "attempt", "gate"]),
        "gate.passed initiation
         plan.adopted T1
         gate.passed planning
         attempt.started T1.1 coder",
    );
}

#[test]
fn a_plan_that_is_given_is_judged_like_any_other() {
    let bench = given(&plan("T1 a after T7"));
    assert_eq!(bench.machine.status(), Status::Refused);
    let why = bench.machine.view(bench.now).why.expect("a reason");
    assert_eq!(why.rule.as_str(), "plan.given_invalid");
    assert!(why.reason.contains("tasks.0.depends_on: T1 depends on T7"), "{}", why.reason);
}

#[test]
fn a_run_that_only_plans_ends_with_its_plan() {
    let mut bench = new_run();
    let mut request = request("Build a CLI");
    request.planning.only = true;
    bench.send(&begin(request, survey()));
    same(
        &bench.tell("plan.1 plans T1 a"),
        "attempt.finished plan.1 submitted
         plan.adopted T1
         gate.passed planning
         run.finished done, report.planned",
    );
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
