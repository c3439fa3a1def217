//! Planning, progress and questions as document 001's messages.

use super::*;
use crate::testing::{Bench, begin, new_run, planned, request, survey};

fn told(bench: &Bench<Run>) -> Vec<Message> {
    let lines = bench.lines();
    let own: Vec<&Envelope> = lines.iter().filter(|line| line.attempt.is_none()).collect();
    messages(&bench.machine, &own, bench.now)
}

fn of_kind<'a>(all: &'a [Message], kind: &str) -> Vec<&'a Message> {
    all.iter().filter(|message| message.kind == kind).collect()
}

/// P11, P12, P20: the planner's request has requirements and limits, its answer refers to that message, and each step
/// of the work is a progress update.
#[test]
fn planning_and_progress_are_told_as_messages() {
    let mut bench = planned("T1 a; T2 b after T1");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands");
    let all = told(&bench);
    let [asked] = of_kind(&all, "planning_request")[..] else { panic!("{all:#?}") };
    assert_eq!((asked.from.as_str(), asked.to.as_str()), ("coordinator", "planner"));
    assert_eq!(asked.payload["requirements"][0]["priority"], "must_have");
    assert!(asked.payload["constraints"]["max_tokens"].as_u64().is_some());
    let [answer] = of_kind(&all, "planning_response")[..] else { panic!("{all:#?}") };
    assert_eq!(answer.in_reply_to.as_ref(), Some(&asked.message_id));
    assert_eq!(answer.payload["status"], "success");
    let tasks = &answer.payload["plan"]["phases"][0]["tasks"];
    assert_eq!(tasks[1]["dependencies"], json!(["T1"]));
    let updates = of_kind(&all, "progress_update");
    let last = &updates.last().expect("an update").payload;
    assert_eq!((&last["progress_percentage"], &last["tasks_remaining"]), (&50.into(), &1.into()));
    assert_eq!(
        (&last["current_phase"], &last["current_task"]),
        (&"execution".into(), &"T2".into())
    );
    let results = of_kind(&all, "task_result");
    let requests = of_kind(&all, "task_request");
    assert_eq!(results[0].in_reply_to.as_ref(), Some(&requests[0].message_id));
}

/// P11: a plain goal has requirements too, with the priority its wording implies.
#[test]
fn the_sentences_of_a_goal_are_its_requirements() {
    let mut bench = new_run();
    let text = "Build a CLI that prints tides. It should read a file. Colours would be nice.";
    bench.send(&begin(request(text), survey()));
    let all = told(&bench);
    let asked = of_kind(&all, "planning_request");
    let listed = asked[0].payload["requirements"].as_array().expect("a list");
    let priorities: Vec<&str> = listed.iter().filter_map(|one| one["priority"].as_str()).collect();
    assert_eq!(priorities, ["must_have", "should_have", "nice_to_have"]);
}

/// P20: an open question is a blocker of the next update until it is answered.
#[test]
fn an_open_question_blocks() {
    let mut bench = new_run();
    bench.tell("begin fix it");
    let all = told(&bench);
    let update = of_kind(&all, "progress_update").last().expect("an update").payload.clone();
    assert_eq!(update["blockers"][0]["requires_coordinator_decision"], true);
    bench.tell("answer 0 The login page shows the wrong title");
    let all = told(&bench);
    let answer = of_kind(&all, "answer")[0];
    assert_eq!(answer.in_reply_to.as_ref(), Some(&of_kind(&all, "escalation")[0].message_id));
    let update = of_kind(&all, "progress_update").last().expect("an update").payload.clone();
    assert_eq!(update["blockers"], json!([]));
}
