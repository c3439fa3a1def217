//! When another author writes tests, and what follows from them.

use serde_json::json;
use types::{Input, Policy, Survey, Tester};

use crate::Run;
use crate::testing::{Bench, begin, only, proving, request, run_with, same, survey};

const SEEN: [&str; 5] = ["check", "task", "retry", "question", "attempt"];

/// A crew with a tester.
fn crew(tester: Tester) -> Policy {
    let mut policy = proving();
    policy.verify.tester = tester;
    let coder = policy.roles[&types::RoleId::fixed("coder")].clone();
    policy.roles.insert(types::RoleId::tester(), coder);
    policy
}

/// A run whose coder has handed in code without a test.
fn unproven(tester: Tester, has_tester: bool) -> (Bench<Run>, String) {
    let mut bench = run_with(crew(tester));
    bench.send(&begin(request("Build a CLI"), Survey { has_tester, ..survey() }));
    bench.tell("check base/0 exits 0 passed=3");
    bench.tell("plan.1 plans T1 src/");
    let events = said(&mut bench, "T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3");
    (bench, events)
}

/// The other trials of that, which show nothing.
fn own_trials(bench: &mut Bench<Run>, attempt: &str) -> String {
    bench.tell(&format!("check altered:{attempt}/0 exits 1 failing=a"));
    said(bench, &format!("check mutated:{attempt}/0 exits 0 unnoticed=src/a.py:1"))
}

fn said(bench: &mut Bench<Run>, lines: &str) -> String {
    only(&bench.tell(lines), &SEEN)
}

fn evidence(bench: &Bench<Run>) -> types::Weighed {
    bench.machine.view(bench.now).tasks[0].evidence.clone().expect("it is weighed")
}

#[test]
fn changed_code_is_tested_by_somebody_who_starts_from_the_tree_before() {
    let (mut bench, events) = unproven(Tester::Auto, true);
    assert!(events.ends_with("check.finished T1.1/0 exit 0\nattempt.started T1-tests.1 tester"));
    let told = format!("{:?}", bench.asked());
    assert!(told.contains("Files that its coder may write"), "{told}");
    assert!(!told.contains("c-T1.1"), "it does not see the result: {told}");
    same(
        &said(&mut bench, "T1-tests.1 hands in +tests/new_a.py"),
        "attempt.finished T1-tests.1 submitted
         task.verified T1-tests.1 tester.written
         check.started T1.1 without it, with another author's tests/0 tests",
    );
    let told = crate::export::project_state(&bench.machine, &bench.lines(), bench.now).messages;
    let last = told.iter().rfind(|message| message.kind == "progress_update");
    assert_eq!(last.expect("an update").payload["current_task"], "T1");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 0 passed=4");
    let events = said(&mut bench, "check others_altered:T1.1/0 exits 1 failing=new");
    assert!(events.contains("task.verified T1.1 verify.checks_passed"), "{events}");
    let weighed = evidence(&bench);
    assert_eq!(weighed.level, types::Level::ProvenByOthers);
    assert_eq!(weighed.because.len(), 1, "no other trial took place: {weighed:?}");
}

/// The tests of before ran with those of another author, and what went missing from them is looked at by itself.
#[test]
fn what_tests_of_another_author_prove_needs_its_other_trials_only_if_something_is_odd() {
    for (now, with, altered, settled) in [
        ("passed=4", "passed=5 ordered=x", "exits 1 failing=new", true),
        ("passed=3 lost=a", "passed=5", "exits 1 failing=new", false),
        ("passed=4", "passed=5 lost=a", "exits 1 failing=new", false),
        ("passed=4", "passed=5", "exits 0 untried", false),
        ("passed=4", "passed=5", "breaks", false),
    ] {
        let mut bench = run_with(crew(Tester::Auto));
        bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
        bench.tell("check base/0 exits 0 passed=3\nplan.1 plans T1 src/");
        bench.tell(&format!("T1.1 hands in src/a.py +src/test_b.py\ncheck T1.1/0 exits 0 {now}"));
        bench.tell("T1-tests.1 hands in +tests/new_a.py");
        bench.tell("check others_without:T1.1/0 exits 1 failing=new");
        bench.tell(&format!("check others:T1.1/0 exits 0 {with}"));
        let events = said(&mut bench, &format!("check others_altered:T1.1/0 {altered}"));
        assert_eq!(events.contains("task.verified T1.1"), settled, "{now} {with}: {events}");
        let old = events.contains("check.started T1.1 with the tests of before/0");
        assert_eq!(old, !settled, "{now} {with}: {events}");
        if settled {
            let because = evidence(&bench).because.join("; ");
            assert!(because.starts_with("the goal changes tests: x; "), "{because}");
        }
    }
}

/// The project's own tests may be what fails.
#[test]
fn old_tests_that_fail_are_no_objection_of_another_author() {
    let mut bench = run_with(crew(Tester::Auto));
    bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
    bench.tell("check base/0 exits 0 passed=3\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py src/test_a.py\ncheck T1.1/0 exits 0 passed=3");
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    let events = said(&mut bench, "check others:T1.1/0 exits 1 failing=a");
    assert!(events.contains("check.started T1.1 with the tests of before/0"), "{events}");
    let events = said(&mut bench, "check old:T1.1/0 exits 1 failing=a");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
    assert!(!events.contains("look_again"), "{events}");
}

#[test]
fn nobody_is_asked_for_tests_without_a_model_for_it_or_where_the_policy_says_never() {
    for (tester, has_tester) in [(Tester::Auto, false), (Tester::Never, true)] {
        let (mut bench, _) = unproven(tester, has_tester);
        let events = own_trials(&mut bench, "T1.1");
        assert!(!events.contains("T1-tests"), "{events}");
        assert_eq!(evidence(&bench).level, types::Level::Unproven);
    }
}

#[test]
fn tests_that_pass_without_the_change_prove_nothing() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    for attempt in 1..=2 {
        bench.tell("check others_without:T1.1/0 exits 0 passed=4");
        let mut events = said(&mut bench, "check others:T1.1/0 exits 0 passed=4");
        if attempt == 1 {
            events = own_trials(&mut bench, "T1.1");
        }
        // Their author is told once.
        assert_eq!(events.contains("tester.look_again"), attempt == 1, "{events}");
        if attempt == 1 {
            bench.tell("timer T1-tests fires\nT1-tests.2 hands in +tests/new_a.py");
        }
    }
    let weighed = evidence(&bench);
    assert_eq!(weighed.level, types::Level::Unproven);
    let last = weighed.because.last().map(String::as_str);
    assert_eq!(last, Some("another author's tests also pass without the change"));
}

#[test]
fn an_author_looks_once_at_tests_that_fail_and_then_the_result_goes_back() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 1 failing=new");
    same(
        &own_trials(&mut bench, "T1.1"),
        "check.finished T1.1 with faults in it/0 exit 0
         retry.scheduled T1-tests tester.look_again 1 left, from c-T1-tests.1, told why",
    );
    let events = said(&mut bench, "timer T1-tests fires");
    assert!(events.contains("attempt.started T1-tests.2 tester"), "{events}");
    // What it changed is tried anew.
    let events = said(&mut bench, "T1-tests.2 hands in +tests/new_a.py");
    assert!(events.contains("check.started T1.1 without it"), "{events}");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    let events = said(&mut bench, "check others:T1.1/0 exits 1 failing=new");
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
    assert!(events.contains("retry.scheduled T1 "), "{events}");
    // The next result is tried with the same tests, and nobody looks at them again.
    bench.tell("timer T1 fires\nT1.2 hands in src/a.py");
    let events = said(&mut bench, "check T1.2/0 exits 0 passed=3");
    assert!(events.contains("check.started T1.2 without it"), "{events}");
    bench.tell("check others_without:T1.2/0 exits 1 failing=new");
    bench.tell("check others:T1.2/0 exits 1 failing=new");
    let events = own_trials(&mut bench, "T1.2");
    assert!(events.contains("task.rejected T1.2") && !events.contains("look_again"), "{events}");
}

#[test]
fn an_author_that_fails_or_withdraws_its_tests_costs_the_result_nothing() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    let events = said(&mut bench, "T1-tests.1 hands in src/a.py +tests/conftest.py");
    assert!(events.contains("retry.scheduled T1-tests tester.retry"), "{events}");
    bench.tell("timer T1-tests fires");
    let events = said(&mut bench, "T1-tests.2 fails resource session.turn_limit");
    assert!(events.contains("task.failed T1-tests tester.none"), "{events}");
    let events = own_trials(&mut bench, "T1.1");
    assert!(events.contains("task.verified T1.1"), "{events}");
    assert!(!events.contains("question.asked"), "{events}");
    let because = evidence(&bench).because.join("; ");
    assert!(because.contains("there are no tests by another author"), "{because}");

    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 1 failing=new");
    own_trials(&mut bench, "T1.1");
    bench.tell("timer T1-tests fires");
    let events = said(&mut bench, "T1-tests.2 hands in");
    assert!(events.contains("task.failed T1-tests tester.none"), "{events}");
    assert!(events.contains("task.verified T1.1"), "{events}");
}

#[test]
fn a_demand_that_no_test_can_show_is_one_on_a_file() {
    let with_tests = |scope: &str, touched: &str, file: &str| {
        let mut bench = run_with(crew(Tester::Auto));
        bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
        bench.tell(&format!("check base/0 exits 0 passed=3\nplan.1 plans T1 {scope}"));
        bench.tell(&format!("T1.1 hands in src/a.py {touched}\ncheck T1.1/0 exits 0 passed=3"));
        let demand = json!({ "demand": "the README explains -u", "file": file });
        let list = json!({ "summary": "done", "tests": [], "elsewhere": [demand] });
        let added = crate::testing::handed_in("T1-tests.1", "+tests/new_a.py", list.clone());
        bench.send(&added);
        if touched.is_empty() && scope == "./" {
            own_trials(&mut bench, "T1.1");
        }
        bench.tell("check others_without:T1.1/0 exits 1 failing=new");
        bench.tell("check others:T1.1/0 exits 0 passed=4");
        (said(&mut bench, "check others_altered:T1.1/0 exits 1 failing=new"), bench, list)
    };
    // Files that the coder may not write are none of its business.
    let held =
        [("./", "README.md", "README.md"), ("./", "docs/a.md", "docs/"), ("src/", "", "README.md")];
    for (scope, touched, file) in held {
        let (events, ..) = with_tests(scope, touched, file);
        assert!(events.contains("task.verified T1.1"), "{touched} {file}: {events}");
    }
    let (events, mut bench, list) = with_tests("./", "", "README.md");
    assert!(events.contains("retry.scheduled T1-tests tester.look_again"), "{events}");
    bench.tell("timer T1-tests fires");
    bench.send(&crate::testing::handed_in("T1-tests.2", "+tests/new_a.py", list));
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 0 passed=4");
    let events = bench.tell("check others_altered:T1.1/0 exits 1 failing=new");
    assert!(only(&events, &SEEN).contains("task.rejected T1.1 check_failed"), "{events:?}");
    let told = format!("{:?}", bench.machine.task_state(&"T1".parse().expect("an id")));
    assert!(told.contains("README.md is not changed") && told.contains("explains -u"), "{told}");
}

#[test]
fn the_work_keeps_as_much_of_the_budget_as_its_tests_get() {
    let mut bench = run_with(crew(Tester::Auto));
    let mut begin = begin(request("Build a CLI"), Survey { has_tester: true, ..survey() });
    if let Input::Begin(begin) = &mut begin {
        begin.request.budget.tokens = Some(1_000_000);
    }
    bench.send(&begin);
    bench.tell("check base/0 exits 0 passed=3\nplan.1 plans T1 src/");
    bench.tell("T1.1 hands in src/a.py");
    let free = bench.machine.free().tokens.expect("it is limited");
    bench.tell("check T1.1/0 exits 0 passed=3");
    let share = bench.machine.free().tokens.expect("it is limited");
    assert_eq!(share, free - free / 2);
    // When that is used up, nobody is asked for more.
    let events = said(&mut bench, "T1-tests.1 fails resource budget.call_does_not_fit");
    assert!(events.contains("task.failed T1-tests tester.none"), "{events}");
    let events = own_trials(&mut bench, "T1.1");
    assert!(events.contains("task.verified T1.1"), "{events}");
}

#[test]
fn tests_stand_if_there_is_no_budget_left_to_look_at_them_again() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 1 failing=new");
    own_trials(&mut bench, "T1.1");
    bench.tell("timer T1-tests fires");
    let events = said(&mut bench, "T1-tests.2 fails resource budget.call_does_not_fit");
    assert!(events.contains("task.verified T1-tests.2 tester.stand"), "{events}");
}

#[test]
fn what_the_coder_has_seen_proves_only_that_it_agrees_with_the_code() {
    let proven = |tester, file: &str, hidden| {
        let mut policy = crew(tester);
        if hidden {
            let check = types::Check::new("hidden", "sh /srv/hidden.sh");
            policy.checks.push(types::Check { hidden, ..check });
        }
        let mut bench = run_with(policy);
        bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
        bench.tell("check base/0 exits 1 passed=1 failing=a");
        bench.tell("plan.1 plans T1 src/");
        bench.tell(&format!("T1.1 hands in {file}"));
        let events = said(&mut bench, "check T1.1/0 exits 0 passed=2 mended=1");
        events.contains("attempt.started T1-tests.1 tester")
    };
    let (code, data) = ("src/a.py", "src/a.json");
    assert!(proven(Tester::Auto, code, false));
    // Hidden checks are tests by somebody else, too.
    assert!(!proven(Tester::Auto, code, true));
    assert!(!proven(Tester::Auto, data, false));
    assert!(proven(Tester::Always, code, true) && proven(Tester::Always, data, false));
}

#[test]
fn tests_stand_if_their_author_does_not_finish_looking_at_them() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 1 failing=new");
    own_trials(&mut bench, "T1.1");
    bench.tell("timer T1-tests fires");
    let events = said(&mut bench, "T1-tests.2 fails structural session.no_submission");
    assert!(events.contains("task.verified T1-tests.2 tester.stand"), "{events}");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    let events = said(&mut bench, "check others:T1.1/0 exits 1 failing=new");
    assert!(events.contains("task.rejected T1.1 check_failed"), "{events}");
}

/// Many runners name only the tests that fail.
#[test]
fn as_many_tests_of_another_author_run_with_the_change_as_without() {
    for (without, with, holds) in [
        ("passed=3", "passed=4 won=new", true),
        ("passed=3", "passed=5", true),
        // The change keeps the runner from finding them.
        ("passed=3", "passed=3", false),
        // Nobody knows how many would have run.
        ("narrowed", "passed=5", false),
        ("narrowed", "passed=5 won=new", true),
    ] {
        let mut bench = run_with(crew(Tester::Auto));
        bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
        bench.tell("check base/0 exits 0 passed=3 listed\nplan.1 plans T1 src/");
        bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 listed");
        bench.tell("T1-tests.1 hands in +tests/new_a.py");
        let failing = "failing=new,other";
        bench.tell(&format!("check others_without:T1.1/0 exits 1 {without} {failing}"));
        let events = said(&mut bench, &format!("check others:T1.1/0 exits 0 {with}"));
        assert_eq!(
            events.contains("author's tests, altered/0"),
            holds,
            "{without} {with}: {events}"
        );
    }
}

#[test]
fn what_hangs_in_tests_of_another_author_has_not_passed_them() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 untried");
    let events = own_trials(&mut bench, "T1.1");
    assert!(events.contains("retry.scheduled T1-tests tester.look_again"), "{events}");
}

/// As where the goal is to make it faster.
#[test]
fn what_does_not_end_without_the_change_fails_without_it() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    // Once more with a longer limit.
    bench.tell("check others_without:T1.1/0 hangs\ncheck others_without:T1.1/0 hangs");
    bench.tell("check others:T1.1/0 exits 0 passed=4");
    let events = said(&mut bench, "check others_altered:T1.1/0 exits 1 failing=new");
    assert!(events.contains("task.verified T1.1"), "{events}");
    assert_eq!(evidence(&bench).level, types::Level::ProvenByOthers);
}

#[test]
fn a_result_that_keeps_held_back_tests_from_failing_is_in_doubt() {
    let (mut bench, _) = unproven(Tester::Auto, true);
    bench.tell("T1-tests.1 hands in +tests/new_a.py");
    bench.tell("check others_without:T1.1/0 exits 1 failing=new");
    bench.tell("check others:T1.1/0 exits 0 passed=4");
    let events = said(&mut bench, "check others_altered:T1.1/0 exits 0 passed=4 unnoticed=new");
    assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
}

#[test]
fn tests_that_each_task_passed_alone_run_once_more_on_the_merged_result() {
    for (end, says) in [
        ("exits 0 passed=6", None),
        ("exits 1 passed=5 failing=new_T1", Some("each passed alone: new_T1")),
        ("exits 0 passed=3", Some("runs none of the tests by another author")),
        ("hangs", Some("does not end with tests by another author")),
    ] {
        let mut bench = run_with(crew(Tester::Auto));
        bench.send(&begin(request("Build a CLI"), Survey { has_tester: true, ..survey() }));
        bench.tell("check base/0 exits 0 passed=3\nplan.1 plans T1 src/; T2 lib/");
        for (task, folder) in [("T1", "src"), ("T2", "lib")] {
            let file = format!("{folder}/a.py");
            bench.tell(&format!("{task}.1 hands in {file}\ncheck {task}.1/0 exits 0 passed=3"));
            bench.tell(&format!("{task}-tests.1 hands in +tests/new_{task}.py"));
            bench.tell(&format!("check others_without:{task}.1/0 exits 1 failing=new_{task}"));
            bench.tell(&format!("check others:{task}.1/0 exits 0 passed=4"));
            bench.tell(&format!("check others_altered:{task}.1/0 exits 1 failing=new_{task}"));
            bench.tell(&format!("merge {task} lands\ncheck landed:{task}.1/0 exits 0 passed=3"));
        }
        let events = said(&mut bench, "check merged/0 exits 0 passed=3");
        assert!(events.contains("check.started merged, with another author's tests/0"), "{events}");
        let events = bench.tell(&format!("check with_tests/0 {end}"));
        assert_eq!(events.contains("gate.blocked monitoring"), says.is_some(), "{events}");
        let asked = format!("{:?}", bench.machine.view(bench.now).questions);
        assert!(says.is_none_or(|says| asked.contains(says)), "{end}: {asked}");
    }
}
