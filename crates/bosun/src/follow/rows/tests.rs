//! The lines of the live view at common terminal widths.

use serde_json::{Value, json};
use types::Envelope;

use super::*;

const WIDTHS: [usize; 4] = [40, 80, 120, 200];

/// A run with these tasks and questions, two minutes after it began.
pub(crate) fn view(tasks: impl Into<Value>, questions: impl Into<Value>) -> RunView {
    let (tasks, questions): (Value, Value) = (tasks.into(), questions.into());
    let start = Timestamp::from_millis(0);
    serde_json::from_value(json!({
        "run": "r_01", "goal": "Add a tide command that prints high and low water",
        "status": "running", "phase": "execution", "policy": "crew", "repository": "harbour",
        "branch": "bosun/r_01", "base": "", "head": "", "started": start,
        "progress": { "percent": 20, "phase": "execution", "current": ["T2"], "total": 5,
            "completed": 1, "failed": 1, "skipped": 0, "running": 1, "waiting": 2, "blockers": 0,
            "elapsed_ms": 120_000, "remaining_ms": 200_000 },
        "tasks": tasks, "merged_checks": [], "gates": [], "questions": questions, "changes": [],
        "missing": [], "attempts": 3, "retries": 1, "budget": { "money": "5.00" },
        "spent": { "tokens": 12_000, "money": "0.12", "calls": 9 }, "usage": {},
        "elapsed_ms": 120_000,
    }))
    .expect("a view")
}

fn task(id: &str, stage: &str, title: &str) -> Value {
    json!({ "id": id, "title": title, "stage": stage, "depends_on": [], "attempts": 1,
        "checks": [] })
}

fn tasks() -> Value {
    let mut waiting = task("T3", "waiting", "Describe the tide command in the manual");
    waiting["depends_on"] = json!(["T1", "T2"]);
    let mut failed = task("T4", "failed", "Draw the tide as a curve");
    failed["fault"] = "2 of 7 tests fail: curve_is_smooth, curve_ends\x1b[2J".into();
    json!([
        task("T1", "finished", "Read the harbour's table"),
        task("T2", "running", "Print 満潮 and 干潮 for any day of the year"),
        waiting,
        failed,
        task("T5", "asking", "Publish the table"),
    ])
}

pub(crate) fn line(
    attempt: Option<&str>,
    second: i64,
    event: &str,
    data: impl Into<Value>,
) -> Envelope {
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

fn activity() -> Activity {
    let mut activity = Activity::default();
    let started = json!({ "attempt": "T2.2", "role": "coder", "start": "", "scope": [],
        "budget": {} });
    activity.apply(&line(None, 30, "attempt.started", started));
    let reply = json!({ "blocks": [], "stop": "end", "usage": { "input": 500, "output": 10 },
        "cost": "0.02" });
    let reply = json!({ "session": 1, "turn": 1, "model": "script/x", "reply": reply });
    activity.apply(&line(Some("T2.2"), 60, "model.replied", reply));
    let decision = json!({ "rule": "permit.artifact", "reason": "it is",
        "seen": ["edit_file src/tide/very/deep/folder/\u{202e}print.rs"] });
    let call = json!({ "call": "s1.t1.c0", "tool": "edit_file", "decision": decision });
    activity.apply(&line(Some("T2.2"), 61, "tool.started", call));
    activity
}

fn drawn(width: usize, most: usize) -> Vec<String> {
    let now = Timestamp::from_millis(120_000);
    let lines = rows(&view(tasks(), json!([])), &activity(), now, width, most);
    assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:#?}");
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    assert!(!lines.iter().any(|line| line.contains(['\x1b', '\u{202e}'])), "{lines:?}");
    lines
}

#[test]
fn every_width_has_one_line_for_each_task_with_its_state() {
    for width in WIDTHS {
        let lines = drawn(width, 20);
        assert_eq!(lines.len(), 6, "{width}: {lines:#?}");
        let says = |place: usize, words: &[&str]| {
            let line: &String = &lines[place];
            assert!(words.iter().all(|word| line.contains(word)), "{width}: {words:?} in {line}");
        };
        says(0, &["execution", "2:00", "$0.14"]);
        says(1, &["✔ T1", "finished"]);
        says(2, &["● T2", "running", "edit_file"]);
        says(3, &["○ T3", "waiting for T"]);
        says(4, &["✘ T4", "failed", "2 of 7"]);
        says(5, &["? T5", "waiting for"]);
    }
}

#[test]
fn columns_are_left_out_by_priority() {
    let narrow = drawn(40, 20);
    assert!(!narrow[2].contains("$0.02"), "{narrow:#?}");
    let usual = drawn(80, 20);
    assert!(usual[2].contains("1:30") && usual[2].contains("$0.02"), "{usual:#?}");
    assert!(usual[0].contains("~3:20 left (by pace)"), "{usual:#?}");
    let wide = drawn(200, 20);
    for part in ["coder #2", "満潮", "edit_file src/tide/very/deep/folder/print.rs", "1:30"] {
        assert!(wide[2].contains(part), "{part} is not in {}", wide[2]);
    }
    assert!(wide[0].contains("Add a tide command that prints"), "{wide:#?}");
}

#[test]
fn of_too_many_tasks_those_that_matter_now_are_shown() {
    let lines = drawn(80, 4);
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[1].contains("T4") && lines[2].contains("T5"), "{lines:#?}");
    assert!(lines[3].contains("… 3 more: 1 finished, 1 running, 1 waiting"), "{lines:#?}");
}

#[test]
fn tasks_stand_under_the_phases_of_their_plan() {
    let mut activity = activity();
    let phased = |id: &str, phase: &str| {
        json!({ "id": id, "title": "It", "artifacts": [format!("{id}.txt")], "phase": phase,
            "estimate_seconds": 60 })
    };
    let tasks_of = [("T1", "initialization"), ("T2", "development"), ("T4", "initialization")];
    let planned: Vec<Value> = tasks_of.map(|(id, phase)| phased(id, phase)).into();
    let decision = json!({ "rule": "plan.valid", "reason": "it is", "seen": [] });
    let plan = json!({ "plan": { "tasks": planned }, "decision": decision });
    activity.apply(&line(None, 1, "plan.adopted", plan));
    let now = Timestamp::from_millis(120_000);
    let lines = rows(&view(tasks(), json!([])), &activity, now, 80, 30);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let place = |words: &str| lines.iter().position(|line| line.contains(words)).expect(words);
    assert!(place("initialization") < place("✔ T1") && place("✔ T1") < place("✘ T4"), "{lines:#?}");
    assert!(place("✘ T4") < place("development"), "{lines:#?}");
    assert!(place("development") < place("● T2"), "{lines:#?}");
    assert!(lines[0].contains("(by plan)"), "{lines:#?}");
}

#[test]
fn before_there_is_a_plan_its_making_and_the_checks_are_shown() {
    let mut activity = Activity::default();
    let what = json!({ "name": "make test", "command": "make test" });
    let begun = json!({ "check": { "on": "base", "index": 0 }, "what": what, "commit": "" });
    activity.apply(&line(None, 100, "check.started", begun));
    let view = view(json!([task("plan", "waiting", "make the plan")]), json!([]));
    let lines = rows(&view, &activity, Timestamp::from_millis(120_000), 80, 20);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    assert!(lines[1].contains("● base") && lines[1].contains("check make test"), "{lines:#?}");
    assert!(lines[1].ends_with("20 s"), "{lines:#?}");
    // What its runner prints is shown in place, the last line only.
    let check = types::CheckId { on: types::Subject::Base, index: 0 };
    for text in ["compiling a\n", "compiling b\n"] {
        activity.hear(&runtime::Delta {
            log: types::LogId::run("r_01".parse().expect("a run")),
            session: types::SessionId::ROOT,
            call: None,
            check: Some(check.clone()),
            kind: runtime::DeltaKind::Output,
            text: text.to_owned(),
        });
    }
    let lines = rows(&view, &activity, Timestamp::from_millis(125_000), 80, 20);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    assert!(lines[1].contains("compiling b") && lines[1].ends_with("25 s"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("compiling a")), "{lines:#?}");
}

#[test]
fn an_attempt_that_waits_for_budget_says_so_and_counts_once() {
    let mut activity = activity();
    let short = json!({
        "spent": { "tokens": 510, "money": "0.02", "calls": 1 }, "budget": {}, "task": "T2",
        "decision": { "rule": "budget.call", "reason": "the next call does not fit", "seen": [] },
        "wanted": { "tokens": 900, "money": "0.00", "calls": 1 },
    });
    activity.apply(&line(None, 62, "budget.warned", short));
    let now = Timestamp::from_millis(120_000);
    // The run's own log, of which this is the view, counts the waiting attempt.
    let lines = rows(&view(tasks(), json!([])), &activity, now, 120, 20);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    assert!(lines[0].contains("$0.12"), "{lines:#?}");
    assert!(lines[2].contains("○ T2 waiting for budget"), "{lines:#?}");
}

#[test]
fn before_the_first_line_is_read_there_is_no_time() {
    let mut view = view(json!([]), json!([]));
    view.goal = String::new();
    let now = Timestamp::from_millis(1_795_000_000_000);
    let head = rows(&view, &Activity::default(), now, 120, 20)[0].to_string();
    assert!(!head.contains(&duration(now.since(view.started))), "{head}");
}
