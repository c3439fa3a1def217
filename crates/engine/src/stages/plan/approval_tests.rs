//! Plans that a person has to approve: shown once, and adopted as shown.

use serde_json::json;
use types::{Phase, Status};

use crate::testing::{
    Bench, begin, crew, new_run, only, plan, render, request, run_with, same, submission, survey,
};
use crate::{Machine as _, Run};

fn to_be_approved() -> Bench<Run> {
    let mut bench = new_run();
    let mut request = request("Build a CLI");
    request.planning.approve = true;
    bench.send(&begin(request, survey()));
    let events = bench.tell("plan.1 plans T1 a");
    assert!(events.contains("question.asked"), "{events}");
    assert_eq!(bench.machine.status(), Status::Waiting);
    bench
}

#[test]
fn a_plan_waits_for_approval_where_that_is_wanted() {
    let mut bench = to_be_approved();
    same(
        &only(&bench.tell("answer 0 approve"), &["plan", "attempt"]),
        "plan.adopted T1
         attempt.started T1.1 coder",
    );
}

/// The process may stop between the answer and its consequence.
#[test]
fn what_was_shown_is_adopted_however_much_later() {
    let mut bench = new_run();
    let mut request = request("Build a CLI");
    request.planning.approve = true;
    bench.send(&begin(request, survey()));
    let mut plan = plan("T1 a");
    plan["tasks"][0]["estimate_seconds"] = json!(5_500);
    let shown = render(&bench.send(&submission("plan.1", plan)));
    assert!(shown.contains("question.asked"), "{shown}");
    let (by, text) = ("ann".to_owned(), "approve".to_owned());
    let choice = Some(text.clone());
    let answered = types::Event::QuestionAnswered {
        question: 0,
        by,
        text,
        choice,
        feedback: None,
        halts: None,
    };
    bench.machine.apply(&answered, bench.now);
    bench.now = bench.now.after(types::Millis::seconds(3_600));
    let events = bench.send(&types::Input::Due);
    let adopted = events.iter().find_map(|event| match event {
        types::Event::PlanAdopted { plan, .. } => Some(plan),
        _ => None,
    });
    let risks = adopted.expect("the plan is adopted").risks.iter().map(|risk| risk.id.as_str());
    assert_eq!(risks.collect::<Vec<_>>(), ["RISK-001"]);
}

#[test]
fn a_rejected_plan_ends_the_run() {
    let mut bench = to_be_approved();
    bench.tell("answer 0 reject");
    assert_eq!(bench.machine.status(), Status::Cancelled);
}

#[test]
fn any_other_answer_goes_back_to_the_planner_and_is_not_its_failure() {
    let mut bench = to_be_approved();
    same(
        &only(&bench.tell("answer 0 use two tasks"), &["plan", "retry", "attempt"]),
        "plan.refused plan.1 ann requested changes: use two tasks
         attempt.started plan.2 planner",
    );
    assert!(format!("{:?}", bench.asked()).contains("use two tasks"));
    bench.tell("plan.2 plans T1 a; T2 b\nanswer 1 no\nplan.3 plans T1 a\nanswer 2 still no");
    same(
        &only(&bench.tell("plan.4 plans T1 a after T7"), &["retry", "question"]),
        "retry.scheduled plan failure.plan_invalid 2 left, told why",
    );
}

#[test]
fn where_nobody_can_be_asked_a_plan_that_needs_approval_is_not_carried_out() {
    let mut policy = crew();
    policy.headless = true;
    policy.plan.approval = types::PlanApproval::Ask;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\nplan.1 plans T1 a");
    assert_eq!(bench.machine.status(), Status::Refused);
}

/// P27: a person may accept the risk.
#[test]
fn a_person_may_take_a_critical_risk() {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    let risk = json!({"description": "the data is lost", "severity": "critical"});
    let task = json!({"id": "T1", "title": "Do it", "artifacts": ["a"]});
    let plan = submission("plan.1", json!({"tasks": [task], "risks": [risk]}));
    bench.send(&plan);
    assert_eq!(bench.machine.view(bench.now).phase, Phase::Planning, "it was not passed");
    same(&only(&bench.tell("answer 0 go"), &["gate"]), "gate.passed planning");
}
