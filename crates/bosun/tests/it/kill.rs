//! The real binary, killed with SIGKILL while it plays the demo, at many different moments, and resumed: the report is
//! the same as if nothing had happened.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Output;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

/// Scripted answers to the demo's questions; a demo that was killed and resumed needs them, too.
const ANSWERS: [&str; 2] =
    ["retry leave the test of version as it is", "retry CHANGES.md was promised; write it"];

/// Number of moments tried. `cargo xtask crash` tries hundreds of others: those around every single write.
const MOMENTS: usize = 6;

/// The moments are split among tests, so that they run in parallel.
#[test]
fn the_demo_survives_being_killed_while_it_is_planned_and_tried() {
    killed_at(0..3);
}
/// P42: finished work is not repeated.
#[test]
fn the_demo_survives_being_killed_while_tasks_are_tried_again_and_merged() {
    killed_at(3..MOMENTS);
}

fn killed_at(moments: std::ops::Range<usize>) {
    let whole = Place::new();
    let output = whole.run(&["demo", "--keep", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output).lines().count();
    let expected = essence(report(&stdout(&output)));
    for moment in moments {
        let place = Place::new();
        // The run is recorded once its first line is printed; from there on, any moment will do.
        let after = 1 + moment * (lines - 2) / MOMENTS;
        kill_after(&place, after, moment);
        let resumed = resumed(&place);
        if resumed.status.code() == Some(68) {
            // It was killed after its last line: there is nothing left to resume.
            let shown = place.run(&["show", "--json"]);
            let view: Value = serde_json::from_str(&stdout(&shown)).expect("a report");
            assert_eq!(essence(view), expected, "killed after line {after}");
            continue;
        }
        let (code, said) = (resumed.status, stderr(&resumed));
        let last = stdout(&resumed).lines().last().unwrap_or_default().to_owned();
        assert!(code.success(), "killed after line {after}: {code}, {said}{last}");
        assert_eq!(essence(report(&stdout(&resumed))), expected, "killed after line {after}");
        let verified = place.run(&["log", "--verify"]);
        assert!(verified.status.success(), "{}", stderr(&verified));
    }
}

/// Starts the demo, and kills it shortly after it has printed so many lines. The delay differs between moments, so that
/// the time between two lines is hit, too.
fn kill_after(place: &Place, lines: usize, moment: usize) {
    let mut child = place.spawn(&["demo", "--keep", "--json"]);
    let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
    let mut line = String::new();
    for _ in 0..lines {
        line.clear();
        out.read_line(&mut line).expect("a line");
    }
    // Reading part of the next output takes as long as the binary takes to produce it.
    let mut bytes = vec![0; moment * 200];
    out.read_exact(&mut bytes).ok();
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// Resumes a demo that was killed, and answers its questions.
fn resumed(place: &Place) -> Output {
    let mut output = place.run(&["resume", "--json"]);
    for _ in ANSWERS {
        if output.status.code() != Some(3) {
            break;
        }
        let view = report(&stdout(&output));
        let asked = view["questions"].as_array().expect("questions");
        let open = asked.iter().position(|question| question["answer"].is_null());
        let open = open.expect("it waits for an answer");
        let run = view["run"].as_str().expect("an id");
        output = place.run(&["answer", "--json", run, &open.to_string(), ANSWERS[open]]);
    }
    output
}

fn report(stdout: &str) -> Value {
    let last = stdout.lines().last().expect("there is output");
    let mut last: Value = serde_json::from_str(last).expect("the last line is JSON");
    last["report"].take()
}

/// The report without times, hashes that contain times, paths, and the cost of repeated requests.
fn essence(mut report: Value) -> Value {
    let changing = [
        "run",
        "repository",
        "branch",
        "base",
        "head",
        "started",
        "ended",
        "elapsed_ms",
        "spent",
        "usage",
        "progress",
        "variance",
    ];
    let object = report.as_object_mut().expect("a report is an object");
    for key in changing {
        object.remove(key);
    }
    for task in report["tasks"].as_array_mut().expect("a report has tasks") {
        task.as_object_mut().expect("a task is an object").remove("commit");
    }
    for question in report["questions"].as_array_mut().expect("a report has questions") {
        let question = question.as_object_mut().expect("a question is an object");
        // The other fields hold the answerer, the time and the package of the attempt, with its hashes and times.
        question.retain(|key, _| matches!(key.as_str(), "id" | "choice" | "rule"));
    }
    for gate in report["gates"].as_array_mut().expect("a report has gates") {
        gate.as_object_mut().expect("a gate is an object").remove("card");
        gate["decision"].as_object_mut().expect("a decision is an object").remove("seen");
    }
    report
}
