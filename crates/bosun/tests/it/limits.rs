//! The time that checks get, with the real binary: learnt from the untouched tree, and never held against the work if it
//! is not enough. The slow check waits for a pipe, in an environment that is read in place, as long as a test wants.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::binary::{Place, send, stderr, stdout};
use crate::commands::{SCRIPT, run};
use crate::stage::{Told, did, put, repository};

const GOAL: &str = "Write hello to greeting.txt";

/// Waits for the pipe once the result is there.
const HANGS: &str = "if grep -qs hello greeting.txt; then cat .venv/bin/pipe; fi\n";

/// A repository with a check of the result, a slow check, and a pipe; with a policy of these limits.
struct Stage {
    place: Place,
    repo: PathBuf,
    script: PathBuf,
    policy: PathBuf,
}

impl Stage {
    /// `None` if pipes cannot be made here.
    fn new(slow: &str, policy: &str) -> Option<Self> {
        let place = Place::new();
        let test = ("test.sh", "grep -q hello greeting.txt\n");
        let files = [(".gitignore", ".venv/\n"), ("own.py", ""), test, ("slow.sh", slow)];
        let (repo, script) = repository(&place, &files, SCRIPT);
        put(&repo, ".venv/pyvenv.cfg", "home = /usr/bin\n");
        put(&repo, ".venv/bin/activate", "");
        let policy_file = place.path().join("policy.toml");
        std::fs::write(&policy_file, policy).expect("a file");
        let made = did(&repo, "mkfifo", &[".venv/bin/pipe"]);
        made.then_some(Self { place, repo, script, policy: policy_file })
    }

    fn args(&self) -> Vec<&str> {
        let mut args = run(&self.repo, &self.script, GOAL);
        args.extend(["--policy", self.policy.to_str().expect("a path")]);
        args.extend(["--check", "sh test.sh", "--check", "sh slow.sh"]);
        args
    }

    fn pipe(&self) -> PathBuf {
        self.repo.join(".venv/bin/pipe")
    }

    /// From now on the slow check ends at once.
    fn open(&self) {
        std::fs::remove_file(self.pipe()).expect("the pipe is removed");
        put(&self.repo, ".venv/bin/pipe", "go on\n");
    }

    /// Answers a question; returns the exit code and all lines of the log.
    fn answer(&self, id: &str, words: &[&str]) -> (Option<i32>, Vec<Value>) {
        let output = self.place.run(&[&["answer", id], words].concat());
        let log = stdout(&self.place.run(&["log", id, "--json"]));
        let lines = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(!stderr(&output).contains("error"), "{}", stderr(&output));
        (output.status.code(), lines)
    }
}

/// The limits of a check, in order, by the tree that it ran on.
fn limits<'a>(lines: &'a [Value], name: &str) -> Vec<(&'a Value, u64)> {
    let started = lines
        .iter()
        .filter(|line| line["event"] == "check.started" && line["data"]["what"]["name"] == name);
    let limit = |data: &Value| data["limit_ms"].as_u64().expect("a limit");
    started.map(|line| (&line["data"]["check"]["on"], limit(&line["data"]))).collect()
}

fn rules(told: &Told) -> Vec<&Value> {
    told.events("question.asked").into_iter().map(|asked| &asked["decision"]["rule"]).collect()
}

#[test]
fn a_check_that_times_out_on_a_result_is_a_question_and_no_feedback() {
    let limits_of = "[limits]\ncheck_timeout_factor = 1\ncheck_timeout_least_ms = 3000\n";
    let Some(stage) = Stage::new(HANGS, limits_of) else { return };
    let told = Told::of(&stage.place, &stage.args());
    assert_eq!(told.code, 3, "{}", told.said);
    assert_eq!(rules(&told), ["verify.timed_out"], "{}", told.said);
    assert!(told.events("retry.scheduled").is_empty(), "{}", told.said);
    let attempts = told.events("attempt.started").into_iter().map(|data| &data["attempt"]);
    assert_eq!(attempts.collect::<Vec<_>>(), ["plan.1", "T1.1"], "{}", told.said);
    // It had more time once, by rule.
    let slow = limits(&told.lines, "sh slow.sh");
    let on_result: Vec<u64> =
        slow.iter().filter(|(on, _)| on["attempt"] == "T1.1").map(|(_, limit)| *limit).collect();
    assert_eq!(on_result.len(), 2, "{slow:?}");
    assert_eq!(on_result[1], on_result[0] * 2, "{slow:?}");
    let asked = told.events("question.asked")[0]["text"].as_str().expect("a text").to_owned();
    assert!(asked.contains("sh slow.sh did not end within"), "{asked}");
    assert!(asked.contains("untouched tree"), "{asked}");
    stage.open();
    let (code, lines) = stage.answer(told.id(), &["0", "again"]);
    assert_eq!(code, Some(0), "{lines:#?}");
    let finished = lines.iter().find(|line| line["event"] == "run.finished").expect("an end");
    assert_eq!(finished["data"]["status"], "done");
    assert!(!lines.iter().any(|line| line["event"] == "retry.scheduled"));
}

#[test]
fn an_untouched_tree_that_times_out_is_the_first_question() {
    // The limit of this check alone is short: the machine may be busy.
    let policy = "[[checks]]\nname = \"tests\"\ncommand = \"sh test.sh\"\n\
                  [[checks]]\nname = \"slow\"\ncommand = \"cat .venv/bin/pipe\"\ntimeout_ms = 3000\n";
    let Some(stage) = Stage::new("", policy) else { return };
    let mut args = run(&stage.repo, &stage.script, GOAL);
    args.extend(["--policy", stage.policy.to_str().expect("a path")]);
    let told = Told::of(&stage.place, &args);
    assert_eq!(told.code, 3, "{}", told.said);
    assert_eq!(rules(&told), ["baseline.timed_out"], "{}", told.said);
    for nothing in ["attempt.started", "session.started", "model.asked"] {
        assert!(told.events(nothing).is_empty(), "{nothing}: {}", told.said);
    }
    let choices = &told.events("question.asked")[0]["terms"]["choices"];
    let ids: Vec<&Value> =
        choices.as_array().expect("choices").iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["again", "check", "leave", "stop"]);
    stage.open();
    let (code, lines) = stage.answer(told.id(), &["0", "again"]);
    assert_eq!(code, Some(0), "{lines:#?}");
    let slow = limits(&lines, "slow");
    assert_eq!(slow[..2], [(&json!("base"), 3_000), (&json!("base"), 6_000)], "{slow:?}");
    // The other check of the untouched tree is not repeated.
    let tests = limits(&lines, "tests");
    assert_eq!(tests.iter().filter(|(on, _)| **on == "base").count(), 1, "{tests:?}");
}

#[test]
fn later_checks_get_a_multiple_of_what_the_untouched_tree_took() {
    let policy = "[limits]\ncheck_timeout_least_ms = 1\n";
    let Some(stage) = Stage::new("sleep 2\n", policy) else { return };
    let told = Told::of(&stage.place, &stage.args());
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    let ends = told.events("check.finished").into_iter();
    let mut on_base = ends.filter(|data| data["check"] == json!({"on": "base", "index": 1}));
    let took = on_base.next().expect("a check")["end"]["elapsed_ms"].as_u64().expect("a time");
    assert!(took >= 2_000, "{took}");
    let slow = limits(&told.lines, "sh slow.sh");
    assert_eq!(slow[0], (&json!("base"), 1_800_000), "{slow:?}");
    assert_eq!(slow[1], (&json!({"attempt": "T1.1"}), took * 5), "{slow:?}");
    assert!(slow[2..].iter().all(|(_, limit)| *limit >= took * 5), "{slow:?}");
}

/// Lets the check that waits for the pipe go on.
fn release(pipe: &Path) {
    std::fs::write(pipe, "go on\n").expect("the check reads it");
}

#[test]
fn a_long_check_has_a_line_at_its_start_one_at_its_end_and_few_between() {
    let slow = "[ -e greeting.txt ] || { echo compiling 1 of 3; cat .venv/bin/pipe; }\n";
    let Some(stage) = Stage::new(slow, "") else { return };
    let mut child = stage.place.spawn(&stage.args());
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().expect("an output")).lines() {
        let line = line.expect("a line");
        let about = line.contains("check sh slow.sh");
        // The runner's own last line, and the time.
        let long = about && line.contains(" s: compiling 1 of 3");
        if about {
            lines.push(line.trim().to_owned());
        }
        if long {
            release(&stage.pipe());
        }
        if about && line.contains("passed") {
            break;
        }
    }
    send("-INT", &child.id().to_string());
    child.wait().expect("it ends");
    assert!(lines[0].ends_with("check sh slow.sh started"), "{lines:#?}");
    assert!((3..=4).contains(&lines.len()), "{lines:#?}");
    assert!(lines.windows(2).all(|two| two[0] != two[1]), "{lines:#?}");
}
