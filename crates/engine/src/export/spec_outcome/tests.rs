//! The resulting spec for every way a run can end; and the parts of it that agents are given.

use serde_json::json;
use types::{BlockerStatus, Effect, Request, Spec, SpecStatus, SpecTaskStatus, Status};

use super::versions;
use crate::Run;
use crate::testing::{Bench, begin, new_run, request, run_with, submission, survey};
use rules::spec::{moved, read, request as request_for};

fn approved() -> Spec {
    let draft = read(include_str!("../../../../rules/src/spec/example.yaml")).expect("a spec");
    moved(&draft, SpecStatus::Approved, draft.meta.updated_at, None).expect("a step")
}

fn asked_for(spec: Spec) -> Request {
    request_for(spec, request(""))
}

/// A run on a spec, with two tasks of which the second needs the first.
fn begun() -> Bench<Run> {
    let mut bench = new_run();
    bench.send(&begin(asked_for(approved()), survey()));
    bench.tell("plan.1 plans T1 a; T2 b after T1");
    bench
}

fn newest(bench: &Bench<Run>) -> Spec {
    let spec = versions(&bench.machine, bench.now).pop().expect("a version");
    assert_eq!(read(&spec.text()).expect("a valid spec"), spec);
    spec
}

fn briefs(bench: &Bench<Run>) -> Vec<types::Brief> {
    let brief = |effect| match effect {
        Effect::RunAttempt { brief, .. } => Some(*brief),
        _ => None,
    };
    bench.asked().into_iter().filter_map(brief).collect()
}

/// K37, P11: the planner's first message starts with the spec as written: objective, requirements with priorities,
/// acceptance criteria, constraints.
#[test]
fn the_planner_is_told_the_spec_as_it_is_written() {
    let mut bench = new_run();
    bench.send(&begin(asked_for(approved()), survey()));
    let brief = briefs(&bench).pop().expect("the planner is asked");
    assert!(brief.task.starts_with(&approved().text()), "{}", brief.task);
    assert!(brief.task.contains("tests: `sh tests/all.sh`"), "its own checks decide");
    assert!(!brief.task.contains("make test"), "{}", brief.task);
    for part in ["intent: People want", "priority: should", "- The header is right", "id: CON-001"]
    {
        assert!(brief.task.contains(part), "{part} is not in {}", brief.task);
    }
}

/// K41: an executor is given its position among the tasks and the spec's constraints.
#[test]
fn an_executor_is_told_its_place_and_the_bounds_of_the_spec() {
    let brief = briefs(&begun()).pop().expect("a coder is asked");
    assert!(brief.system.contains("This is task 1 of 2: Do T1"), "{}", brief.system);
    assert!(brief.task.contains("# Constraints\n\n- CON-001: No new dependency"));
    assert!(brief.task.contains("# Out of scope\n\n- Import"));
}

/// K42, K44, K45: tasks with their results, decisions, and the status all the way to done.
#[test]
fn a_spec_that_was_worked_on_comes_out_filled_in() {
    let mut bench = begun();
    assert_eq!(newest(&bench).status, SpecStatus::InProgress);
    let handed_in = json!({"summary": "done", "decisions": ["Commas, as everybody has", 7, " "]});
    bench.send(&submission("T1.1", handed_in));
    bench.tell("check T1.1/0 exits 0\nmerge T1 lands\nT2.1 hands in b\ncheck T2.1/0 exits 0");
    bench.tell("merge T2 lands");
    assert_eq!(newest(&bench).status, SpecStatus::Verifying);
    bench.tell("check merged/0 exits 0");
    assert_eq!(bench.machine.status(), Status::Waiting, "nobody knows whether the header is right");
    bench.tell("answer 0 go");
    assert_eq!(bench.machine.status(), Status::Done);
    let made = versions(&bench.machine, bench.now);
    let steps: Vec<(u64, SpecStatus)> =
        made.iter().map(|spec| (spec.meta.version, spec.status)).collect();
    let expected = [(3, SpecStatus::InProgress), (4, SpecStatus::Verifying), (5, SpecStatus::Done)];
    assert_eq!(steps, expected);
    assert_eq!(made[0].meta.previous, Some(approved().digest()), "X36: a chain of versions");
    assert_eq!(made[2].meta.previous, Some(made[1].digest()));
    let spec = newest(&bench);
    let result = spec.tasks[0].result.as_ref().expect("a result");
    assert_eq!(result.status, SpecTaskStatus::Completed);
    assert_eq!(result.decisions, ["Commas, as everybody has"]);
    assert_eq!(spec.tasks[1].result.as_ref().expect("a result").artifacts, ["b"]);
    assert_eq!(spec.tasks[1].depends_on, [spec.tasks[0].id.clone()]);
    assert_eq!(spec.decisions[0].decided_by, "coder of T1");
    let results: Vec<(&str, bool, &str)> = (spec.verification.results.iter())
        .map(|one| (one.check.as_str(), one.passed, one.ended.as_str()))
        .collect();
    let header = ("The header is right", true, "confirmed by ann");
    assert_eq!(results, [("tests", true, "exit 0"), header]);
    assert!(spec.blockers.iter().all(|one| one.status == BlockerStatus::Resolved), "{spec:?}");
}

/// K57: a criterion that is a command runs on the merged tree; a sentence needs a person's approval.
#[test]
fn a_spec_is_not_done_before_its_criteria_hold() {
    let begun = |criteria: &[&str]| {
        let mut spec = approved();
        spec.verification.criteria = criteria.iter().map(|one| (*one).to_owned()).collect();
        let mut bench = new_run();
        bench.send(&begin(asked_for(spec), survey()));
        bench.tell("plan.1 plans T1 a\nT1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
        bench.tell("check merged/0 exits 0");
        bench
    };
    let mut bench = begun(&["tests: they pass", "sh tests/all.sh", "test -f a"]);
    assert_eq!(bench.machine.status(), Status::Running, "a criterion is still to be run");
    bench.tell("check merged/1 exits 0");
    assert_eq!(newest(&bench).status, SpecStatus::Done);
    let names: Vec<String> =
        newest(&bench).verification.results.into_iter().map(|one| one.check).collect();
    assert_eq!(names, ["tests", "test -f a"], "one for each command");

    let mut bench = begun(&["test -f a"]);
    bench.tell("check merged/1 exits 1\nanswer 0 stop");
    let spec = newest(&bench);
    assert_eq!(spec.status, SpecStatus::Failed);
    assert!(!spec.verification.results[1].passed);

    let mut bench = begun(&["It is fast"]);
    let asked = newest(&bench).blockers[0].description.clone();
    assert!(asked.contains("\"It is fast\""), "{asked}");
    bench.tell("answer 0 stop");
    let spec = newest(&bench);
    assert_eq!(spec.status, SpecStatus::Failed);
    assert_eq!(spec.verification.results[1].ended, "not confirmed by a person");
}

/// K57: without a person, a sentence that no check shows is a no-go, and never assumed to be true.
#[test]
fn a_headless_run_confirms_nothing() {
    let mut policy = crate::testing::crew();
    policy.headless = true;
    let mut bench = run_with(policy);
    bench.send(&begin(asked_for(approved()), survey()));
    bench.tell("plan.1 plans T1 a\nT1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
    bench.tell("check merged/0 exits 0");
    assert_ne!(bench.machine.status(), Status::Done);
    assert_eq!(newest(&bench).status, SpecStatus::Failed);
}

/// K43, K44: a failure is reported too: failed and skipped tasks, and blockers.
#[test]
fn a_spec_whose_run_failed_says_what_stands_in_the_way() {
    let mut bench = begun();
    bench.tell("T1.1 fails semantic x.y");
    if bench.machine.status() == Status::Waiting {
        bench.tell("answer 0 stop");
    }
    assert!(bench.machine.view(bench.now).ended.is_some());
    let spec = newest(&bench);
    assert_eq!(spec.status, SpecStatus::Failed);
    let of = |place: usize| spec.tasks[place].status.expect("a status");
    assert_eq!(of(0), SpecTaskStatus::Failed);
    assert_eq!(of(1), SpecTaskStatus::Skipped);
    assert!(spec.blockers.iter().any(|one| one.description.contains("x.y happened")), "{spec:?}");
}

/// K42, K43: a finished run leaves no task pending or running: a task that was never started is skipped, with a result.
#[test]
fn a_task_that_was_never_reached_is_skipped() {
    let statuses = |bench: &Bench<Run>| -> Vec<Option<SpecTaskStatus>> {
        assert!(bench.machine.view(bench.now).ended.is_some());
        let spec = newest(bench);
        assert!(spec.tasks.iter().all(|task| task.result.is_some()), "{spec:?}");
        spec.tasks.iter().map(|task| task.status).collect()
    };
    let (failed, skipped) = (Some(SpecTaskStatus::Failed), Some(SpecTaskStatus::Skipped));
    let mut bench = begun();
    bench.tell("cancel\nT1.1 is cancelled");
    assert_eq!(statuses(&bench), [skipped, skipped]);
    // The first failure ends the whole run; the second task has no further events.
    let mut bench = run_with(crate::testing::strict());
    bench.send(&begin(asked_for(approved()), survey()));
    bench.tell("plan.1 plans T1 a; T2 b after T1\nT1.1 fails semantic x.y");
    assert_eq!(statuses(&bench), [failed, skipped]);
}

/// K56: an open question is a blocker until it is answered.
#[test]
fn an_open_question_is_a_blocker() {
    let mut bench = begun();
    bench.tell("T1.1 asks 0 Which separator?");
    let spec = newest(&bench);
    assert_eq!(spec.status, SpecStatus::InProgress);
    assert!(spec.blockers[0].description.contains("Which separator?"));
    let asked_at = spec.blockers[0].reported_at;
    bench.now = bench.now.after(types::Millis::seconds(60));
    bench.tell("answer 0 allow");
    let spec = newest(&bench);
    let blocker = &spec.blockers[0];
    assert_eq!(blocker.status, BlockerStatus::Resolved);
    assert_eq!(blocker.resolution.as_deref(), Some("ann: allow"));
    assert_eq!(blocker.resolved_at, Some(spec.decisions[0].decided_at));
    assert!(spec.decisions[0].decided_at > asked_at, "it was decided later than it was asked");
    assert_eq!(
        (spec.decisions[0].decided_by.as_str(), spec.decisions[0].description.as_str()),
        ("ann", "allow")
    );
}

/// K45: only an approved spec is accepted, and the refusal says how to approve it.
#[test]
fn a_draft_is_refused() {
    let mut bench = new_run();
    let draft = read(include_str!("../../../../rules/src/spec/example.yaml")).expect("a spec");
    bench.send(&begin(asked_for(draft), survey()));
    assert_eq!(bench.machine.status(), Status::Refused);
    assert_eq!(versions(&bench.machine, bench.now), []);
}

/// The budgets of the spec and of the request both apply.
#[test]
fn a_spec_brings_its_budget_along() {
    let mut spec = approved();
    spec.budget = Some(types::Budget { tokens: Some(5_000), ..types::Budget::default() });
    let mut base = request("");
    base.budget = types::Budget { tokens: Some(9_000), calls: Some(3), ..types::Budget::default() };
    let budget = request_for(spec, base).budget;
    assert_eq!((budget.tokens, budget.calls), (Some(5_000), Some(3)));
}

/// P20: percentage, phase, current tasks, counts, blockers, and remaining time by estimates and pace.
#[test]
fn progress_is_told_from_estimates_and_from_what_tasks_took() {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    assert_eq!(bench.machine.progress(bench.now).remaining_ms, None, "nothing to go by");
    let mut plan = crate::testing::plan("T1 a; T2 b after T1; T3 c after T2; T4 d after T3");
    for place in 0..4 {
        plan["tasks"][place]["estimate_seconds"] = json!(100);
        plan["tasks"][place]["phase"] = json!("development");
    }
    bench.send(&submission("plan.1", plan));
    let progress = bench.machine.progress(bench.now);
    assert_eq!((progress.percent, progress.total, progress.running), (0, 4, 1));
    assert_eq!(
        progress.remaining_ms,
        Some(types::Millis::seconds(100)),
        "four at once, as far as one knows"
    );
    assert_eq!(progress.plan_phase, Some(types::PlanPhase::Development));
    bench.now = bench.now.after(types::Millis::seconds(50));
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
    let progress = bench.machine.progress(bench.now);
    assert_eq!((progress.percent, progress.completed, progress.waiting), (25, 1, 2));
    assert_eq!(progress.current, ["T2".parse().expect("a task")]);
    // The tasks took half of their estimates.
    assert_eq!(progress.remaining_ms, Some(types::Millis::seconds(50)));
    bench.tell("T2.1 asks 0 Which?");
    assert_eq!(bench.machine.progress(bench.now).blockers, 1);
}
