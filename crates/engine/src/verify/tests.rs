//! What was handed in is judged by its changes and by checks, on its own and once more when everything is merged.

use serde_json::json;

use crate::testing::survey;
use crate::testing::{
    begin, check, new_run, only, plan, planned, render, request, same, submission,
};

#[test]
fn a_result_whose_checks_pass_is_verified() {
    same(
        &planned("T1 src/a.rs").tell("T1.1 hands in src/a.rs\ncheck T1.1/0 exits 0"),
        "attempt.finished T1.1 submitted
         check.started T1.1/0 tests
         check.finished T1.1/0 exit 0
         task.verified T1.1 verify.checks_passed
         merge.started T1 onto base",
    );
}

#[test]
fn a_check_that_fails_rejects_the_result_and_the_next_attempt_is_told_what_it_said() {
    let mut bench = planned("T1 src/a.rs");
    same(
        &bench.tell("T1.1 hands in src/a.rs\ncheck T1.1/0 exits 2\ntimer T1 fires"),
        "attempt.finished T1.1 submitted
         check.started T1.1/0 tests
         check.finished T1.1/0 exit 2
         task.rejected T1.1 check_failed
         retry.scheduled T1 failure.check_feedback 2 left, from c-T1.1, told why
         retry.released T1
         attempt.started T1.2 coder",
    );
    let brief = format!("{:?}", bench.asked());
    assert!(brief.contains("tests (`make test`): exit 2\\nexited with 2"), "{brief}");
}

#[test]
fn a_check_that_cannot_be_run_has_not_passed() {
    same(
        &only(&planned("T1 a").tell("T1.1 hands in a\ncheck T1.1/0 breaks"), &["check.f", "task"]),
        "check.finished T1.1/0 stopped
         task.rejected T1.1 check_failed",
    );
}

#[test]
fn a_change_outside_the_scope_is_never_checked_and_never_retried() {
    same(
        &planned("T1 src/a.rs").tell("T1.1 hands in src/a.rs src/b.rs"),
        "attempt.finished T1.1 submitted
         task.rejected T1.1 semantic
         question.asked 0 failure.semantic",
    );
}

#[test]
fn what_the_agent_says_about_its_own_work_is_not_looked_at() {
    let mut bench = planned("T1 a");
    bench.send(&submission("T1.1", json!({"summary": "all tests pass", "passed": true})));
    same(&only(&bench.tell("check T1.1/0 exits 1"), &["task."]), "task.rejected T1.1 check_failed");
}

#[test]
fn without_a_check_of_its_own_the_merged_tree_decides() {
    let mut bench = new_run();
    let mut survey = survey();
    survey.checks.clear();
    bench.send(&begin(request("Build a CLI"), survey));
    same(
        &only(&bench.tell("plan.1 plans T1 a\nT1.1 hands in a\nmerge T1 lands"), &["task", "gate", "run"]),
        "gate.passed planning
         task.verified T1.1 verify.no_checks
         task.finished T1
         gate.passed execution
         gate.blocked monitoring: there is no check that could tell whether it works; name one with --check
         run.finished no-go, gate.monitoring",
    );
}

#[test]
fn a_tasks_own_checks_replace_the_projects_and_run_one_after_the_other() {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    let mut tasks = plan("T1 a");
    tasks["tasks"][0]["checks"] =
        json!([{"name": "lint", "command": "make lint"}, {"name": "unit", "command": "make unit"}]);
    bench.send(&submission("plan.1", tasks));
    same(
        &only(
            &bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 1\ncheck T1.1/1 exits 0"),
            &["check", "task"],
        ),
        "check.started T1.1/0 lint
         check.finished T1.1/0 exit 1
         check.started T1.1/1 unit
         check.finished T1.1/1 exit 0
         task.rejected T1.1 check_failed",
    );
}

#[test]
fn the_requests_checks_win_over_those_found_in_the_repository() {
    let mut request = request("Build a CLI");
    request.checks = vec![check("mine", "make mine")];
    let mut bench = new_run();
    bench.send(&begin(request, survey()));
    same(
        &only(&bench.tell("plan.1 plans T1 a\nT1.1 hands in a"), &["check"]),
        "check.started T1.1/0 mine",
    );
}

#[test]
fn on_the_merged_tree_every_command_runs_once() {
    let mut bench = new_run();
    bench.tell("begin Build a CLI");
    let mut tasks = plan("T1 a; T2 b");
    let unit = json!({"name": "unit", "command": "make unit"});
    let same_as_the_project = json!({"name": "all", "command": "make test"});
    tasks["tasks"][0]["checks"] = json!([unit, same_as_the_project]);
    tasks["tasks"][1]["checks"] = json!([unit]);
    bench.send(&submission("plan.1", tasks));
    bench.tell(
        "T1.1 hands in a\ncheck T1.1/0 exits 0\ncheck T1.1/1 exits 0\nmerge T1 lands
         T2.1 hands in b\ncheck T2.1/0 exits 0",
    );
    same(
        &bench.tell("merge T2 lands\ncheck merged/0 exits 0\ncheck merged/1 exits 0"),
        "merge.finished T2 merged
         task.finished T2
         gate.passed execution
         check.started merged/0 tests
         check.finished merged/0 exit 0
         check.started merged/1 unit
         check.finished merged/1 exit 0
         gate.passed monitoring
         gate.passed closure
         run.finished done, report.done",
    );
}

#[test]
fn a_check_of_an_older_attempt_says_nothing_about_the_current_one() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 1\ntimer T1 fires\nT1.2 hands in a");
    let stale = bench.tell("check T1.1/0 exits 0");
    same(&stale, "");
    same(
        &only(&bench.tell("check T1.2/0 exits 0"), &["task"]),
        "task.verified T1.2 verify.checks_passed",
    );
    same(&render(&bench.send(&types::Input::Due)), "");
}
