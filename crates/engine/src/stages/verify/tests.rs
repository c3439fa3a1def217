//! Submissions are verified by their changes and by checks, alone and again after merging.

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
        &only(
            &bench.tell("plan.1 plans T1 a\nT1.1 hands in a\nmerge T1 lands"),
            &["task", "gate", "run"],
        ),
        "gate.passed planning
         task.verified T1.1 verify.no_checks
         task.finished T1
         gate.passed execution
         gate.blocked monitoring: no check can verify the result; specify one with --check",
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
        &bench.tell(
            "merge T2 lands\ncheck landed:T2.1/0 exits 0\ncheck merged/0 exits 0\ncheck merged/1 exits 0",
        ),
        "merge.finished T2 merged
         check.started merged T2.1/0 unit
         check.finished merged T2.1/0 exit 0
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

/// A result with findings.
fn hands_in(path: &str, found: &[(types::FindingKind, &str)]) -> types::Input {
    let finding = |(kind, line): &(types::FindingKind, &str)| types::Finding {
        kind: *kind,
        path: path.parse().expect("a path"),
        line: (*line).to_owned(),
    };
    let change = types::FileChange {
        path: path.parse().expect("a path"),
        added: 1,
        removed: 1,
        how: types::ChangeKind::Modified,
        only_comments: false,
    };
    let end = types::AttemptEnd {
        result: types::AttemptResult::Submitted {
            commit: types::CommitId("c".to_owned()),
            changes: types::Changes(vec![change]),
            submission: json!({}),
            findings: types::Findings(found.iter().map(finding).collect()),
        },
        spent: types::Spend::default(),
        usage: types::Usage::default(),
        turns: 1,
        log_head: types::Digest::ZERO,
        denied: vec![],
    };
    let id = types::EffectId::Attempt("T1.1".parse().expect("an attempt"));
    types::Input::Outcome(id, types::Outcome::Attempt(Box::new(end)))
}

/// X26, C53: a task owns tests only if the plan names them; changes to others are violations.
#[test]
fn tests_that_the_task_does_not_own_are_not_to_be_changed() {
    use types::FindingKind::{TestChanged, TestDeleted};
    for (scope, path, owned) in [
        ("./", "tests/a.py", false),
        ("src/", "src/user_test.go", false),
        ("tests/a.py", "tests/a.py", true),
        ("tests/", "tests/deep/a.py", true),
        ("src/user_test.go", "src/user_test.go", true),
    ] {
        for kind in [TestChanged, TestDeleted] {
            let mut bench = planned(&format!("T1 {scope}"));
            let events = render(&bench.send(&hands_in(path, &[(kind, "")])));
            let rejected = events.contains("task.rejected T1.1 semantic");
            assert_eq!(rejected, !owned, "{scope} {path}: {events}");
        }
    }
}

#[test]
fn assertions_and_skips_count_also_in_tests_that_the_task_owns() {
    use types::FindingKind::{AssertionDeleted, CheckWeakened, TestSkipped};
    for kind in [AssertionDeleted, TestSkipped, CheckWeakened] {
        let mut bench = planned("T1 tests/a.py");
        let events = bench.send(&hands_in("tests/a.py", &[(kind, "assert x == 1")]));
        let fault = events.iter().find_map(|event| match event {
            types::Event::TaskRejected { fault, .. } => Some(fault.clone()),
            _ => None,
        });
        let fault = fault.expect("it is rejected");
        assert_eq!(fault.class, types::FaultClass::Semantic);
        assert!(fault.what.contains("tests/a.py"), "{fault}");
        assert_eq!(fault.evidence, "tests/a.py: assert x == 1");
        assert!(fault.code.starts_with("verify."), "{}", fault.code);
    }
}

#[test]
fn what_a_policy_does_not_count_is_no_violation() {
    let mut policy = crate::testing::crew();
    policy.verify.violations.clear();
    let mut bench = crate::testing::planned_with(policy, "T1 ./");
    let found = [(types::FindingKind::TestSkipped, "#[ignore]")];
    let events = render(&bench.send(&hands_in("tests/a.rs", &found)));
    assert!(events.contains("check.started"), "{events}");
}

#[test]
fn a_policys_checks_come_before_those_that_were_found() {
    let mut policy = crate::testing::crew();
    policy.checks = vec![check("mine", "make mine")];
    let mut bench = crate::testing::planned_with(policy, "T1 a");
    let events = bench.tell("T1.1 hands in a");
    assert!(events.contains("check.started T1.1/0 mine"), "{events}");
}

#[test]
fn what_passed_on_the_same_files_built_from_nothing_is_not_run_again_when_merged() {
    let known = |bench: &crate::testing::Bench<crate::Run>| {
        bench.asked().iter().find_map(|effect| match effect {
            types::Effect::RunCheck { check, against, .. }
                if check.on == types::Subject::Merged =>
            {
                Some(against.known.as_ref().and_then(|end| end.same_as.clone()))
            }
            _ => None,
        })
    };
    for (end, is_known) in [("exits 0 cold", true), ("exits 0", false)] {
        let mut bench = planned("T1 a");
        bench.tell(&format!("T1.1 hands in\ncheck T1.1/0 {end}\nmerge T1 lands"));
        let commit = is_known.then(|| types::CommitId("c-T1.1".to_owned()));
        assert_eq!(known(&bench), Some(commit), "{end}");
    }
    // Other results are on the branch, too: what was checked there counts.
    for (end, is_known) in [("exits 0 cold", true), ("exits 0", false)] {
        let mut bench = planned("T1 a; T2 b");
        bench.tell("T1.1 hands in\ncheck T1.1/0 exits 0 cold\nmerge T1 lands");
        bench.tell("T2.1 hands in\ncheck T2.1/0 exits 0 cold\nmerge T2 lands");
        bench.tell(&format!("check landed:T2.1/0 {end}"));
        let commit = is_known.then(|| types::CommitId("m-T2".to_owned()));
        assert_eq!(known(&bench), Some(commit), "{end}");
    }
}
