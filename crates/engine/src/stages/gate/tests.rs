//! Each phase ends with go or no-go, and the reason is recorded.

use serde_json::json;
use types::{Evidence, GateRule, MergeCheck, OnNoGo, Phase, Policy, RuleId, Status, Verdict};

use crate::Run;
use crate::testing::{Bench, crew, new_run, only, planned, planned_with, render, run_with, same};

const GATES: [&str; 2] = ["gate", "run.finished"];

/// The crew's policy with one gate changed; merged results are checked once, at the end.
fn with(phase: Phase, change: impl Fn(&mut GateRule)) -> Policy {
    let mut policy = crew();
    policy.merge.check = MergeCheck::End;
    policy.gates.iter_mut().filter(|gate| gate.phase == phase).for_each(change);
    policy
}

/// A policy that requires this evidence at the end of this phase.
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

/// P24, P30, P35: each phase ends with a gate that examines actual evidence, and go leads on to the end.
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

/// P25, X24: all evidence must be present.
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
        "gate.blocked monitoring: tests did not pass on the merged tree",
    );
}

#[test]
fn monitoring_is_no_go_when_a_promised_file_is_not_there() {
    let mut bench = planned("T1 a,b");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands without b");
    same(
        &only(&bench.tell("check merged/0 exits 0"), &GATES),
        "gate.blocked monitoring: missing artifacts: b",
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
        "gate.blocked closure: spending exceeds the budget
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

/// P34, P24, P26: parts that pass may fail as a whole; score and threshold are in the reason.
#[test]
fn a_score_below_the_threshold_is_a_no_go() {
    let policy = with(Phase::Execution, |gate| gate.min_score = 95);
    let mut bench = planned_with(policy, "T1 a");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 1\ntimer T1 fires");
    same(
        &only(&bench.tell("T1.2 hands in a\ncheck T1.2/0 exits 0\nmerge T1 lands"), &GATES),
        "gate.blocked execution: the score is 90 of 100; the minimum is 95
         run.finished no-go, gate.execution",
    );
    let view = bench.machine.view(bench.now);
    let card = view.gates.last().and_then(|gate| gate.card.clone()).expect("a card");
    assert_eq!((card.score, card.threshold, card.verdict), (90, 95, Verdict::NoGo));
    let first_try = card.criteria.iter().find(|one| one.measure == types::Measure::FirstTry);
    assert_eq!(first_try.map(|one| one.seen.as_str()), Some("1 of 2 attempts were first attempts"));
    let report = super::report::all(&view);
    for part in [
        "# Gate 3: execution",
        "**NO_GO**",
        "90 of 100 (minimum 95)",
        "| first_try | 20 | 50 | FAIL |",
    ] {
        assert!(report.contains(part), "{part} is not in:\n{report}");
    }
}

fn with_a_risk(tasks: &[&str]) -> String {
    let mut policy = crew();
    policy.headless = true;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    let (severity, mitigation) = ("critical", "a copy is kept");
    let risk = json!({"description": "the data is lost", "severity": severity, "mitigation": mitigation, "tasks": tasks});
    let task = json!({"id": "T1", "title": "Do it", "artifacts": ["a"]});
    let plan = crate::testing::submission("plan.1", json!({"tasks": [task], "risks": [risk]}));
    only(&render(&bench.send(&plan)), &GATES)
}

/// P27, X23: regardless of the score and the planner's claim, only a task that addresses the risk counts.
#[test]
fn a_critical_risk_that_nothing_is_done_about_is_a_no_go() {
    let blocked = "gate.blocked planning: no task addresses a critical risk, and no person approved the plan: the \
                   data is lost\nrun.finished no-go, gate.planning";
    same(&with_a_risk(&[]), blocked);
    same(&with_a_risk(&["T9"]), blocked);
    same(&with_a_risk(&["T1"]), "gate.passed planning");
}

/// P28, X23: an open critical question blocks every gate.
#[test]
fn a_critical_question_that_is_open_is_a_no_go() {
    let mut bench = finished(planned("T1 a"));
    let about = types::About::Budget;
    let terms = types::Terms::escalation(
        types::Escalation::TechnicalBlocker,
        types::Severity::Critical,
        about,
        vec![types::Choice::new("on", "go on")],
        "on",
    );
    let asked = types::Event::QuestionAsked {
        question: 0,
        text: "The disk is failing".to_owned(),
        decision: types::Decision::new(RuleId::fixed("x.y"), "it is"),
        attempt: None,
        call: None,
        files: vec![],
        terms: Some(Box::new(terms)),
    };
    crate::Machine::apply(&mut bench.machine, &asked, bench.now);
    same(
        &only(&bench.tell("check merged/0 exits 0"), &GATES),
        "gate.blocked monitoring: question 0 is critical and open: The disk is failing",
    );
}

/// P29: a no-go, since the next phase could not do anything; after the last there is none.
#[test]
fn too_few_tokens_for_the_next_phase_are_a_no_go() {
    let policy = with(Phase::Planning, |gate| gate.min_tokens = Some(1_999_500));
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    same(
        &only(&bench.tell("plan.1 plans T1 a"), &GATES),
        "gate.blocked planning: 1999000 tokens are left, but the next phase needs 1999500
         run.finished no-go, gate.planning",
    );
    let policy = with(Phase::Closure, |gate| gate.min_tokens = Some(u64::MAX));
    let mut bench = finished(planned_with(policy, "T1 a"));
    same(&only(&bench.tell("check merged/0 exits 0"), &["run"]), "run.finished done, report.done");
}

/// P31, X23: with three verdicts, a conditional go waits until a person confirms that the rest was done.
#[test]
fn a_go_on_condition_waits_for_a_person() {
    let policy = || with(Phase::Planning, |gate| gate.conditional_below = Some(100));
    let mut bench = run_with(policy());
    bench.tell("begin Build a CLI");
    let events = bench.tell("plan.1 plans T1 a");
    assert!(events.contains("improve acceptance: 0 of 1 tasks have"), "{events}");
    assert_eq!(bench.machine.status(), Status::Waiting);
    let card = bench.machine.view(bench.now).gates.pop().and_then(|gate| gate.card);
    assert_eq!(
        card.map(|card| (card.verdict, card.actions.len())),
        Some((Verdict::ConditionalGo, 2))
    );
    same(
        &bench.tell("answer 0 again\nanswer 0 go"),
        "question.answered 0
         gate.passed planning
         attempt.started T1.1 coder",
    );
    let mut policy = policy();
    policy.headless = true;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    let events = bench.tell("plan.1 plans T1 a");
    assert!(events.contains("run.finished no-go, gate.planning"), "{events}");
}

/// An answer applies to the rule that asked; the phase's other rules are still evaluated.
#[test]
fn a_go_on_condition_is_for_its_own_rule_alone() {
    let judged_with = |second: GateRule| {
        let mut policy = with(Phase::Planning, |gate| gate.conditional_below = Some(100));
        policy.gates.push(second);
        let mut bench = run_with(policy);
        bench.tell("begin Build a CLI\nplan.1 plans T1 a");
        bench
    };
    let id = RuleId::fixed("gate.second");
    let second = GateRule::new(id, Phase::Planning, vec![Evidence::TasksFinished]);
    same(
        &only(&judged_with(second.clone()).tell("answer 0 go"), &GATES),
        "gate.blocked planning: 0 of 1 tasks are finished
         run.finished no-go, gate.second",
    );
    // For any size of weights.
    let measures = [types::Measure::Acceptance, types::Measure::Estimates].map(|m| (m, u32::MAX));
    let (requires, measures) = (vec![], measures.into());
    let (min_score, conditional_below) = (0, Some(100));
    let second = GateRule { requires, measures, min_score, conditional_below, ..second };
    let mut bench = judged_with(second);
    let events = bench.tell("answer 0 go");
    assert!(events.contains("question.asked 1 gate.second"), "{events}");
    same(&only(&bench.tell("answer 1 go"), &GATES), "gate.passed planning");
}

/// A no-go that becomes a go: the merged tree is fixed on top of everything.
#[test]
fn what_fails_on_the_merged_tree_can_be_mended_and_is_judged_again() {
    let mut bench = planned_with(with(Phase::Monitoring, |_| ()), "T1 a; T2 b");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nT2.1 hands in b\ncheck T2.1/0 exits 0");
    bench.tell("merge T1 lands\nmerge T2 lands\ncheck landed:T2.1/0 exits 0");
    same(
        &bench.tell("check merged/0 exits 1"),
        "check.finished merged/0 exit 1
         gate.blocked monitoring: tests did not pass on the merged tree
         question.asked 0 gate.monitoring",
    );
    same(
        &bench.tell("answer 0 retry both must greet"),
        "question.answered 0
         attempt.started T2.2 coder",
    );
    let asked = format!("{:?}", bench.asked());
    assert!(asked.contains("both must greet") && asked.contains("exited with 1"), "{asked}");
    assert!(asked.contains("m-T2"), "it starts from everything that is merged: {asked}");
    same(
        &bench
            .tell("T2.2 hands in b\ncheck T2.2/0 exits 0\nmerge T2 lands\ncheck merged/0 exits 0"),
        "attempt.finished T2.2 submitted
         check.started T2.2/0 tests
         check.finished T2.2/0 exit 0
         task.verified T2.2 verify.checks_passed
         merge.started T2 onto m-T2
         merge.finished T2 merged
         task.finished T2
         gate.passed execution
         check.started merged/0 tests
         check.finished merged/0 exit 0
         gate.passed monitoring
         gate.passed closure
         run.finished done, report.done",
    );
    let view = bench.machine.view(bench.now);
    assert_eq!(view.gates.iter().filter(|gate| gate.reopened).count(), 2);
    assert_eq!((view.status, view.why), (Status::Done, None));
}

#[test]
fn a_gate_can_be_judged_again_when_the_cause_is_mended() {
    let mut bench = finished(planned("T1 a"));
    bench.tell("check merged/0 exits 1");
    same(
        &bench.tell("answer 0 again"),
        "question.answered 0
         check.started merged/0 tests",
    );
    same(
        &only(&bench.tell("check merged/0 exits 1\nanswer 1 stop"), &GATES),
        "gate.blocked monitoring: tests did not pass on the merged tree
         run.finished no-go, gate.monitoring",
    );
}

#[test]
fn tasks_that_did_not_finish_can_be_tried_again_in_their_order() {
    let policy = with(Phase::Execution, |gate| gate.on_no_go = OnNoGo::Ask);
    let mut bench = planned_with(policy, "T1 a; T2 a; T3 c after T1; T4 d");
    bench.tell("T4.1 hands in d\ncheck T4.1/0 exits 0\nT1.1 fails person x.y");
    bench.tell("T2.1 fails person x.y\nmerge T4 lands");
    assert_eq!(bench.machine.status(), Status::Waiting);
    same(&only(&bench.tell("answer 0 retry"), &["attempt"]), "attempt.started T1.2 coder");
    same(
        &only(
            &bench.tell("T1.2 hands in a\ncheck T1.2/0 exits 0\nmerge T1 lands"),
            &["attempt.started", "task.finished"],
        ),
        "task.finished T1
         attempt.started T2.2 coder
         attempt.started T3.1 coder",
    );
    let rest = "T2.2 hands in a\ncheck T2.2/0 exits 0\nmerge T2 lands
                T3.1 hands in c\ncheck T3.1/0 exits 0\nmerge T3 lands
                check landed:T3.1/0 exits 0\ncheck merged/0 exits 0";
    let events = bench.tell(rest);
    assert!(events.contains("run.finished done"), "{events}");
}

#[test]
fn another_plan_can_be_asked_for() {
    let policy = with(Phase::Planning, |gate| gate.on_no_go = OnNoGo::Ask);
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\nplan.1 fails person x.y");
    same(
        &only(
            &bench.tell("answer 0 retry smaller steps\nplan.2 plans T1 a"),
            &["attempt.s", "gate"],
        ),
        "attempt.started plan.2 planner
         gate.passed planning
         attempt.started T1.1 coder",
    );
}

/// P43: the state before a gate is the fold of the log before it, independent of later lines.
#[test]
fn the_state_before_each_gate_can_be_had_again() {
    let mut bench = finished(planned("T1 a"));
    bench.tell("check merged/0 exits 1\nanswer 0 stop");
    let is_gate = |event: &types::Event| event.kind().starts_with("gate.");
    let places: Vec<usize> =
        (0..bench.log.len()).filter(|place| is_gate(&bench.log[*place].0)).collect();
    assert_eq!(places.len(), 4);
    for (place, gates) in places.into_iter().zip(0..) {
        let log = crate::testing::reread(&bench.log[..place]);
        let before = crate::testing::fold(new_run().machine, &log);
        assert_eq!(before.gates().len(), gates);
        assert_eq!(before.status(), Status::Running);
    }
}
