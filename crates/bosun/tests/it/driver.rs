//! Drivers of runs, with real processes: answers that arrive while the driver exits, runs whose driver was killed,
//! requests that outlive the process that received them, and output that loses no line.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout};

use serde_json::Value;

use crate::binary::{Place, send, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};
use crate::stage;

const GOAL: &str = "Write hello to greeting.txt";

/// A running program, and the lines read from it.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    read: Vec<Value>,
}

impl Running {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut child = place.spawn(&[args, &["--json"]].concat());
        let out = BufReader::new(child.stdout.take().expect("it has an output"));
        Self { child, out, read: vec![] }
    }

    fn next(&mut self) {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).expect("a line");
        assert!(read > 0, "it ended early: {:?}", self.read.last());
        self.read.push(serde_json::from_str(&line).expect("JSON"));
    }

    /// Reads until a line matches.
    fn until(&mut self, has: impl Fn(&Value) -> bool) {
        while !self.read.last().is_some_and(&has) {
            self.next();
        }
    }

    fn id(&self) -> String {
        self.read[0]["run"].as_str().expect("an id").to_owned()
    }

    fn kill(mut self) -> String {
        let id = self.id();
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
        id
    }

    /// Reads the rest of the output; returns the exit code, all lines and stderr.
    fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("the rest");
        let lines = rest.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        self.read.extend(lines);
        let output = self.child.wait_with_output().expect("it ends");
        (output.status.code(), self.read, stderr(&output))
    }
}

fn happened(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |line| line["event"] == kind
}

fn text(path: &std::path::Path) -> String {
    path.to_str().expect("a plain path").to_owned()
}

/// Two tasks whose check proves nothing, so that each ends with a question; the second waits for a file first.
fn two_tasks(place: &Place) -> Vec<String> {
    let go = text(&place.path().join("go"));
    let script = format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = \"Write a\", artifacts = [\"a.txt\"] }}, \
         {{ id = \"T2\", title = \"Write b\", artifacts = [\"b.txt\"] }}] }}\n\
         [[attempt]]\ntask = \"T1\"\nrole = \"coder\"\n[[attempt.reply]]\n\
         call = {{ tool = \"write_file\", path = \"a.txt\", content = \"a\\n\" }}\n\
         [[attempt.reply]]\nsubmit = {{ summary = \"done\" }}\n\
         [[attempt]]\ntask = \"T2\"\nrole = \"coder\"\n[[attempt.reply]]\nhold = {go:?}\n\
         call = {{ tool = \"write_file\", path = \"b.txt\", content = \"b\\n\" }}\n\
         [[attempt.reply]]\nsubmit = {{ summary = \"done\" }}\n"
    );
    let (repo, script) = stage::repository(place, &[("test.sh", "true\n")], &script);
    let words = ["run", "Write a.txt and b.txt", "--check", "true"];
    let words = words.map(str::to_owned).into_iter();
    words.chain(["--repo".to_owned(), text(&repo), "--script".to_owned(), text(&script)]).collect()
}

/// An answer is not lost, at whatever moment it arrives while the last task ends and the driver exits.
#[test]
fn an_answer_that_comes_while_the_driver_leaves_is_heard() {
    // The last is the question of the second task, after which the driver exits.
    for moment in ["tool.finished", "attempt.finished", "check.finished", "question.asked"] {
        let place = Place::new();
        let words = two_tasks(&place);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut driver = Running::start(&place, &words);
        driver.until(happened("question.asked"));
        std::fs::write(place.path().join("go"), "").expect("a file");
        driver.next();
        driver.until(happened(moment));
        let id = driver.id();
        let answered = place.run(&["answer", &id, "0", "accept"]);
        let (code, _, said) = driver.end();
        let both = format!("{moment}: {code:?} {said}{}{}", stdout(&answered), stderr(&answered));
        let shown = place.run(&["show", &id, "--json"]);
        let view: Value = serde_json::from_slice(&shown.stdout).expect("a run");
        assert_eq!(view["questions"][0]["choice"], "accept", "{both}");
        let handed_on = stderr(&answered).contains("delivered to");
        assert_eq!(answered.status.code(), Some(if handed_on { 0 } else { 3 }), "{both}");
    }
}

/// A run whose driver was killed is reported as interrupted, and can be followed and cancelled.
#[test]
fn a_run_whose_driver_was_killed_is_interrupted_and_can_be_cancelled() {
    let place = Place::new();
    let words = two_tasks(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut driver = Running::start(&place, &words);
    driver.until(happened("plan.adopted"));
    let id = driver.kill();
    let listed = place.run(&["list"]);
    let listed = stdout(&listed) + &stderr(&listed);
    assert!(listed.contains("interrupted") && listed.contains(&format!("resume {id}")), "{listed}");
    let listed: Value =
        serde_json::from_slice(&place.run(&["list", "--json"]).stdout).expect("one");
    assert_eq!(listed["interrupted"], true);
    let shown = stdout(&place.run(&["show", &id]));
    assert!(shown.trim_start().starts_with("interrupted "), "{shown}");
    assert_eq!(shown.matches(&format!("resume {id}")).count(), 1, "{shown}");
    let mut follower = place.spawn(&["log", &id, "--follow"]);
    let mut said = BufReader::new(follower.stderr.take().expect("it has an output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    assert!(
        line.contains("no process is driving") && line.contains(&format!("resume {id}")),
        "{line}"
    );
    let cancelled = place.run(&["cancel", &id]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    assert!(stdout(&cancelled).contains("is cancelled"), "{}", stdout(&cancelled));
    let followed = follower.wait_with_output().expect("it ends");
    assert!(followed.status.success() && stdout(&followed).contains("run.finished"));
}

/// Kills a run while its model is held, then creates the file that releases it; returns the run's id.
fn killed_while_asked(place: &Place, words: &[&str]) -> String {
    let mut driver = Running::start(place, words);
    driver.until(happened("model.asked"));
    let id = driver.kill();
    std::fs::write(place.path().join("go"), "").expect("a file");
    id
}

/// `plan --out` is recorded: the process that resumes the run writes the plan to the requested path.
#[test]
fn a_plan_is_written_where_it_was_wanted_also_by_another_process() {
    let place = Place::new();
    let go = text(&place.path().join("go"));
    let held = SCRIPT.replacen("submit =", &format!("hold = {go:?}\nsubmit ="), 1);
    repository(&place, &held);
    let words = ["plan", "--out", "plan.yaml", "--repo", "repo", "--script", "script.toml", GOAL];
    let id = killed_while_asked(&place, &words);
    let log = stdout(&place.run(&["log", &id, "--json"]));
    assert!(log.contains(r#""outputs":{"plan":"../plan.yaml"}"#), "{log}");
    // From another folder.
    let mut resume = place.command(&["resume", &id]);
    let resumed = resume.current_dir(place.path().join("repo")).output().expect("it runs");
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(stdout(&resumed).contains("T1    Write the greeting"), "{}", stdout(&resumed));
    let plan = std::fs::read_to_string(place.path().join("plan.yaml")).expect("the plan");
    assert!(plan.contains("greeting.txt"), "{plan}");
}

fn alone(place: &Place, replies: &str) -> Vec<String> {
    let folder = place.path().join("work");
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = place.path().join("script.toml");
    std::fs::write(&script, format!("[[attempt]]\nrole = \"solo\"\n{replies}")).expect("a script");
    let words = ["run", "--preset", "solo", "--repo", "work", "--script", "script.toml", "Do it"];
    words.map(str::to_owned).to_vec()
}

/// The schema of the answer and the goal are recorded with the first line.
#[test]
fn an_answer_must_fit_its_schema_also_after_a_kill() {
    let place = Place::new();
    let go = text(&place.path().join("go"));
    let replies = format!(
        "[[attempt.reply]]\nsay = \"It is 30.\"\nhold = {go:?}\n[[attempt.reply]]\nsay = '{{\"age\": 30}}'\n"
    );
    let words = alone(&place, &replies);
    let schema = r#"{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}"#;
    std::fs::write(place.path().join("schema.json"), schema).expect("a schema");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.extend(["--output-schema", "schema.json"]);
    let id = killed_while_asked(&place, &words);
    let resumed = place.run(&["resume", &id]);
    assert_eq!(resumed.status.code(), Some(0), "{}", stderr(&resumed));
    assert_eq!(stdout(&resumed), "{\"age\":30}\n");
    // Every resume checks the answer again, without a request to the model.
    assert_eq!(stdout(&place.run(&["resume", &id])), "{\"age\":30}\n");
}

/// `resume` requests a failed reply again, with or without the id; the exit code is that of the new outcome.
#[test]
fn resume_goes_on_with_an_input_that_ended_in_a_fault() {
    let place = Place::new();
    let broke = "[[attempt.reply]]\nfault = { class = \"structural\", code = \"model.broken\", what = \"it broke\" }\n";
    let words = alone(&place, &format!("{broke}{broke}[[attempt.reply]]\nsay = \"Done.\"\n"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = place.run(&words);
    assert_eq!(first.status.code(), Some(1), "{}", stderr(&first));
    let listed: Value =
        serde_json::from_slice(&place.run(&["list", "--json"]).stdout).expect("one");
    let again = place.run(&["resume", listed["run"].as_str().expect("an id")]);
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    assert!(stderr(&again).contains("it broke"), "{}", stderr(&again));
    let last = place.run(&["resume"]);
    assert_eq!(last.status.code(), Some(0), "{}", stderr(&last));
    assert_eq!(stdout(&last), "Done.\n");
}

/// Sequence numbers of the printed lines, by log.
fn printed(lines: &[Value]) -> BTreeMap<String, Vec<u64>> {
    let mut logs: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line["event"].is_string()) {
        let log = line["attempt"].as_str().unwrap_or_default().to_owned();
        logs.entry(log).or_default().push(line["seq"].as_u64().expect("a number"));
    }
    logs
}

fn all_were_printed(place: &Place, id: &str, lines: &[Value]) {
    for (log, numbers) in printed(lines) {
        let mut args = vec!["log", id, "--json"];
        if !log.is_empty() {
            args.extend(["--attempt", log.as_str()]);
        }
        let recorded = stdout(&place.run(&args)).lines().count() as u64;
        assert_eq!(numbers, (1..=recorded).collect::<Vec<u64>>(), "log {log:?}");
    }
}

/// Whether a run is over, waits for a person or is stopped: all recorded lines were printed, and a report.
#[test]
fn no_line_is_lost_however_a_run_is_left() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    for more in [[].as_slice(), &["--approve-plan"]] {
        let words = [run(&repo, &script, GOAL), more.to_vec()].concat();
        for _ in 0..3 {
            let driver = Running::start(&place, &words);
            let (_, lines, _) = driver.end();
            assert!(lines.last().expect("lines")["report"].is_object());
            let id = lines[0]["run"].as_str().expect("an id").to_owned();
            all_were_printed(&place, &id, &lines);
        }
    }
    let place = Place::new();
    let words = two_tasks(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut driver = Running::start(&place, &words);
    driver.until(happened("question.asked"));
    send("-INT", &driver.child.id().to_string());
    let id = driver.id();
    let (code, lines, said) = driver.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(lines.last().expect("lines")["report"].is_object());
    all_were_printed(&place, &id, &lines);
}

/// A slow reader gets everything; a reader that stops leaves a run that can be resumed.
#[test]
fn a_reader_that_leaves_stops_the_run_in_good_order() {
    let place = Place::new();
    let words = two_tasks(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut driver = Running::start(&place, &words);
    driver.until(happened("plan.adopted"));
    let Running { child, out, read } = driver;
    drop(out);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let id = read[0]["run"].as_str().expect("an id");
    assert!(stderr(&output).contains(&format!("resume {id}")), "{}", stderr(&output));
    std::fs::write(place.path().join("go"), "").expect("a file");
    let resumed = place.run(&["resume", id]);
    assert_eq!(resumed.status.code(), Some(3), "{}", stderr(&resumed));
}

/// A moved repository is reported as such, and nothing is tried in its place.
#[test]
fn a_moved_repository_is_named_anew() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let waiting = [run(&repo, &script, GOAL), vec!["--approve-plan", "--json"]].concat();
    let told = place.run(&waiting);
    assert_eq!(told.status.code(), Some(3), "{}", stderr(&told));
    let first = stdout(&told).lines().next().expect("a line").to_owned();
    let first: Value = serde_json::from_str(&first).expect("JSON");
    let id = first["run"].as_str().expect("an id");
    std::fs::rename(&repo, place.path().join("moved")).expect("it can be moved");
    let lines = || stdout(&place.run(&["log", id, "--json"])).lines().count();
    let before = lines();
    let refused = place.run(&["resume", id]);
    assert_eq!(refused.status.code(), Some(66), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--repo PATH"), "{}", stderr(&refused));
    assert_eq!(lines(), before, "nothing was tried");
    let other = place.run(&["resume", id, "--repository", "."]);
    assert_eq!(other.status.code(), Some(66), "{}", stderr(&other));
    let resumed = place.run(&["resume", id, "--repo", "moved"]);
    assert_eq!(resumed.status.code(), Some(3), "{}", stderr(&resumed));
    let answered = place.run(&["answer", id, "approve"]);
    assert_eq!(answered.status.code(), Some(0), "{}", stderr(&answered));
    let accepted = place.run(&["accept", id]);
    assert!(accepted.status.success(), "{}", stderr(&accepted));
    assert!(place.path().join("moved/greeting.txt").exists());
}
