//! The activity of a run, folded from recorded lines.

use serde_json::{Value, json};
use types::Money;

use super::*;

fn line(attempt: Option<&str>, second: i64, event: &str, data: impl Into<Value>) -> Envelope {
    let data: Value = data.into();
    let mut line = json!({
        "v": 1, "seq": 1, "at": Timestamp::from_millis(second * 1_000), "run": "r_01",
        "by": "engine", "prev": types::Digest::ZERO, "event": event, "data": data,
    });
    if let Some(attempt) = attempt {
        line["attempt"] = attempt.into();
    }
    Envelope::parse(&line.to_string()).expect("a line")
}

fn decision() -> Value {
    json!({ "rule": "permit.artifact", "reason": "it is", "seen": ["write_file a.txt"] })
}

fn started() -> Value {
    json!({ "attempt": "T1.1", "role": "coder", "start": "", "scope": [], "budget": {} })
}

fn replied(tokens: u64, cost: &str) -> Value {
    let usage = json!({ "input": tokens, "output": 0 });
    let reply = json!({ "blocks": [], "stop": "end", "usage": usage, "cost": cost });
    json!({ "session": 1, "turn": 1, "model": "script/x", "reply": reply })
}

#[test]
fn a_task_has_its_last_action_its_time_and_what_it_spent_so_far() {
    let mut activity = Activity::default();
    let task = json!({ "id": "T1", "title": "It", "artifacts": ["a.txt"], "phase": "development",
        "estimate_seconds": 60 });
    let plan = json!({ "plan": { "tasks": [task] }, "decision": decision() });
    activity.apply(&line(None, 1, "plan.adopted", plan));
    assert!(activity.has_estimates());
    activity.apply(&line(None, 2, "attempt.started", started()));
    activity.apply(&line(Some("T1.1"), 3, "model.replied", replied(100, "0.02")));
    let call = json!({ "call": "s1.t1.c0", "tool": "write_file", "decision": decision() });
    activity.apply(&line(Some("T1.1"), 4, "tool.started", call));
    let id: TaskId = "T1".parse().expect("a task");
    let task = activity.task(&id).expect("it is known");
    assert_eq!(task.phase, Some(PlanPhase::Development));
    assert_eq!((task.action.as_str(), task.spent().tokens), ("write_file a.txt", 100));
    assert_eq!(activity.under_way().money, Money::nanos(20_000_000));
    let last = activity.last().expect("something happened");
    assert_eq!((last.who.as_deref(), last.what.as_str()), (Some("T1.1"), "write_file a.txt"));
    // The final figures in the run's own log count, once.
    let finished = json!({
        "attempt": "T1.1", "result": "cancelled", "usage": {}, "turns": 1,
        "spent": { "tokens": 120, "money": "0.03", "calls": 1 }, "log_head": types::Digest::ZERO,
    });
    activity.apply(&line(None, 5, "attempt.finished", finished));
    activity.apply(&line(None, 6, "task.finished", json!({ "task": "T1", "commit": "" })));
    let task = activity.task(&id).expect("it is known");
    assert_eq!((task.spent().tokens, task.attempt.as_ref()), (120, None));
    assert_eq!(activity.under_way(), Spend::default());
    assert_eq!(task.began.and_then(|began| Some(task.ended?.since(began).0)), Some(4_000));
}

/// Planning and reviews are not tasks of the plan: nothing merges them.
#[test]
fn work_outside_of_the_plan_ends_with_its_attempt() {
    let mut activity = Activity::default();
    let started =
        json!({ "attempt": "plan.1", "role": "planner", "start": "", "scope": [], "budget": {} });
    activity.apply(&line(None, 1, "attempt.started", started));
    let id: TaskId = "plan".parse().expect("a task");
    assert_eq!(activity.task(&id).expect("it is known").ended, None);
    let finished = json!({
        "attempt": "plan.1", "result": "cancelled", "usage": {}, "turns": 1,
        "spent": { "tokens": 1, "money": "0.00", "calls": 1 }, "log_head": types::Digest::ZERO,
    });
    activity.apply(&line(None, 5, "attempt.finished", finished));
    let ended = activity.task(&id).expect("it is known").ended;
    assert_eq!(ended, Some(Timestamp::from_millis(5_000)));
}

#[test]
fn a_check_is_there_while_it_runs() {
    let mut activity = Activity::default();
    let check = json!({ "on": "base", "index": 0 });
    let what = json!({ "name": "test\u{1b}[2J", "command": "make test" });
    let begun = json!({ "check": check, "what": what, "commit": "" });
    activity.apply(&line(None, 1, "check.started", begun));
    let names: Vec<&str> = activity.checks().map(|(_, check)| check.name.as_str()).collect();
    assert_eq!(names, ["test [2J"]);
}

/// After an interruption the check starts anew.
#[test]
fn the_time_of_a_check_that_was_interrupted_counts_from_the_resumption() {
    let started = Timestamp::from_millis(30_000);
    let mut activity = Activity::driven_since(started);
    let what = json!({ "name": "test", "command": "make test" });
    let begun = |index: u32| json!({ "check": { "on": "base", "index": index }, "what": what, "commit": "" });
    activity.apply(&line(None, 1, "check.started", begun(0)));
    activity.apply(&line(None, 40, "check.started", begun(1)));
    let since: Vec<Timestamp> = activity.checks().map(|(_, check)| check.since).collect();
    assert_eq!(since, [started, Timestamp::from_millis(40_000)]);
}

/// The run's own log has the spending of an attempt that waits for more.
#[test]
fn what_a_waiting_attempt_has_spent_is_not_under_way() {
    let mut activity = Activity::default();
    activity.apply(&line(None, 2, "attempt.started", started()));
    activity.apply(&line(Some("T1.1"), 3, "model.replied", replied(100, "0.02")));
    let short = json!({
        "spent": { "tokens": 100, "money": "0.02", "calls": 1 }, "budget": {}, "task": "T1",
        "decision": { "rule": "budget.call", "reason": "the next call does not fit", "seen": [] },
        "wanted": { "tokens": 900, "money": "0.00", "calls": 1 },
    });
    activity.apply(&line(None, 4, "budget.warned", short));
    let id: TaskId = "T1".parse().expect("a task");
    let task = |activity: &Activity| activity.task(&id).expect("it is known").clone();
    assert!(task(&activity).waits_for_budget);
    assert_eq!(task(&activity).action, "the next call does not fit");
    assert_eq!((activity.under_way(), task(&activity).spent().tokens), (Spend::default(), 100));
    let raised = json!({
        "by": "engine", "add": {}, "task": "T1", "share": { "tokens": 2_000 },
        "decision": { "rule": "budget.enlarged", "reason": "there is more", "seen": [] },
    });
    activity.apply(&line(None, 5, "budget.raised", raised));
    assert!(!task(&activity).waits_for_budget);
    assert_eq!(activity.under_way().tokens, 100);
}
