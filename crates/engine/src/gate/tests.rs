//! Each phase ends with go or no-go, and the reason is on record.

use types::{Evidence, GateRule, Phase, RuleId};

use crate::Run;
use crate::testing::{Bench, crew, new_run, only, planned, planned_with, render, run_with, same};

const GATES: [&str; 2] = ["gate", "run.finished"];

/// A policy that wants this evidence at the end of this phase.
fn requiring(phase: Phase, evidence: Evidence) -> types::Policy {
    let mut policy = crew();
    policy.gates.retain(|gate| gate.phase != phase);
    let id = RuleId::fixed("gate.test");
    policy.gates.push(GateRule::new(id, phase, vec![evidence]));
    policy
}

fn finished(mut bench: Bench<Run>) -> Bench<Run> {
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
    bench
}

#[test]
fn a_run_that_shows_everything_passes_all_five_gates() {
    let mut bench = finished(planned("T1 a"));
    bench.tell("check merged/0 exits 0");
    let events: Vec<_> = bench.log.iter().map(|(event, _)| event.clone()).collect();
    same(
        &only(&render(&events), &GATES),
        "gate.passed initiation
         gate.passed planning
         gate.passed execution
         gate.passed monitoring
         gate.passed closure
         run.finished done, report.done",
    );
}

#[test]
fn initiation_is_no_go_when_what_it_must_show_is_not_there() {
    let policy = requiring(Phase::Initiation, Evidence::PlanAdopted);
    same(
        &only(&run_with(policy).tell("begin Build a CLI"), &GATES),
        "gate.blocked initiation: there is no valid plan
         run.finished no-go, gate.test",
    );
}

#[test]
fn planning_is_no_go_without_a_plan() {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    same(
        &only(&bench.tell("plan.1 fails person plan.wrong"), &GATES),
        "gate.blocked planning: there is no valid plan
         run.finished failed, gate.planning",
    );
}

#[test]
fn execution_is_no_go_when_a_task_did_not_finish() {
    same(
        &only(&planned("T1 a; T2 b after T1").tell("T1.1 fails person x.y"), &GATES),
        "gate.blocked execution: 0 of 2 tasks are finished, 1 failed, 1 skipped
         run.finished failed, gate.execution",
    );
}

#[test]
fn monitoring_is_no_go_when_a_check_fails_on_the_merged_tree() {
    same(
        &only(&finished(planned("T1 a")).tell("check merged/0 exits 1"), &GATES),
        "gate.blocked monitoring: on the merged tree tests did not pass
         run.finished no-go, gate.monitoring",
    );
}

#[test]
fn monitoring_is_no_go_when_a_promised_file_is_not_there() {
    let mut bench = planned("T1 a,b");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands without b");
    same(
        &only(&bench.tell("check merged/0 exits 0"), &GATES),
        "gate.blocked monitoring: promised but not there: b
         run.finished no-go, gate.monitoring",
    );
}

#[test]
fn closure_is_no_go_when_more_was_spent_than_allowed() {
    let mut policy = crew();
    policy.budget.calls = Some(5);
    policy.limits.parallel_tasks = 1;
    let mut bench = planned_with(policy, "T1 a");
    let types::Input::Outcome(id, types::Outcome::Attempt(mut end)) =
        crate::testing::submission("T1.1", serde_json::json!({}))
    else {
        panic!("an attempt's end")
    };
    end.spent.calls = 4;
    bench.send(&types::Input::Outcome(id, types::Outcome::Attempt(end)));
    same(
        &only(
            &bench.tell("check T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0"),
            &["gate.blocked", "run.finished"],
        ),
        "gate.blocked closure: more was spent than the budget allows
         run.finished no-go, gate.closure",
    );
}

#[test]
fn a_phase_without_a_gate_is_passed_by_name() {
    let mut policy = crew();
    policy.gates.clear();
    let mut bench = finished(planned_with(policy, "T1 a"));
    bench.tell("check merged/0 exits 0");
    assert!(bench.machine.gates().iter().all(|gate| gate.decision.rule.as_str() == "gate.none"));
    assert_eq!(bench.machine.status(), types::Status::Done);
}
