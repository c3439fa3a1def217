//! Reviews that are delayed, abandoned, and retried.

use types::{OnNoGo, Phase, Policy};

use crate::testing::{only, run_with, same, strict};

/// A task's failure stops only that task, and a person is asked about unfinished tasks.
fn lenient() -> Policy {
    let mut policy = strict();
    let rule = "id = 'failure.stop'\naction = 'stop'\nreason = 'r'";
    policy.failures = vec![toml::from_str(rule).expect("a rule")];
    policy.headless = false;
    let execution = policy.gates.iter_mut().filter(|gate| gate.phase == Phase::Execution);
    execution.for_each(|gate| gate.on_no_go = OnNoGo::Ask);
    policy
}

#[test]
fn a_first_review_whose_role_is_left_alone_comes_later() {
    let mut policy = lenient();
    policy.breaker.failures = 1;
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI\nplan.1 plans T1 a; T2 b\nT1.1 hands in a\ncheck T1.1/0 exits 0");
    bench.tell("T1-review.1 fails structural contract.malformed\nT2.1 hands in b");
    same(
        &bench.tell("check T2.1/0 exits 0\ntimer T2-review fires"),
        "check.finished T2.1/0 exit 0
         retry.scheduled T2-review failure.breaker_open 1 left
         retry.released T2-review
         attempt.started T2-review.1 tester",
    );
    assert_eq!(bench.machine.view(bench.now).retries, 0, "what is put off is not one more");
}

#[test]
fn a_review_that_failed_is_tried_again_with_its_task() {
    let mut bench = run_with(lenient());
    bench.tell("begin Build a CLI\nplan.1 plans T1 a\nT1.1 hands in a\ncheck T1.1/0 exits 0");
    same(
        &only(&bench.tell("T1-review.1 fails structural contract.malformed"), &["task", "gate"]),
        "task.failed T1-review failure.stop
         task.failed T1 review.none
         gate.blocked execution: 0 of 1 tasks are finished, 1 failed",
    );
    bench.tell("answer 0 retry\nT1.2 hands in a");
    same(
        &bench.tell("check T1.2/0 exits 0"),
        "check.finished T1.2/0 exit 0
         attempt.started T1-review.2 tester",
    );
}
