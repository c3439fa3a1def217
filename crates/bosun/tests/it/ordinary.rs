//! Realistic repositories through the whole line: tests that already fail, no check at all, a check that cannot run,
//! pytest in a virtual environment; and work submitted but not done. With the real binary, in its real sandbox.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::binary::{Place, send, stderr, stdout};
use crate::commands::{SCRIPT, run};
use crate::stage::{Told, did, has, put, repository, script};

const GREET: &str = "Write hello to greeting.txt";
const UNITTEST: &str = "python3 -m unittest";

/// One test fails in each of two modules; a third module is fine.
const FAILING: [(&str, &str); 8] = [
    (".gitignore", "__pycache__/\n"),
    ("dates.py", "def is_leap(year):\n    return year % 4 == 0\n"),
    ("money.py", "def cents(amount):\n    return int(amount * 100)\n"),
    ("words.py", "def title(text):\n    return text.title()\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_dates.py",
        "import unittest\nfrom dates import is_leap\n\n\nclass Dates(unittest.TestCase):\n\
         \x20   def test_every_fourth_year(self):\n        self.assertTrue(is_leap(2024))\n\n\
         \x20   def test_not_every_century(self):\n        self.assertFalse(is_leap(1900))\n",
    ),
    (
        "tests/test_money.py",
        "import unittest\nfrom money import cents\n\n\nclass Money(unittest.TestCase):\n\
         \x20   def test_whole(self):\n        self.assertEqual(cents(2), 200)\n\n\
         \x20   def test_rounds(self):\n        self.assertEqual(cents(0.29), 29)\n",
    ),
    (
        "tests/test_words.py",
        "import unittest\nfrom words import title\n\n\nclass Words(unittest.TestCase):\n\
         \x20   def test_title(self):\n        self.assertEqual(title('two words'), 'Two Words')\n",
    ),
];
const TWO: [&str; 2] =
    ["tests.test_dates.Dates.test_not_every_century", "tests.test_money.Money.test_rounds"];

const SLUG: &str = "def slug(text):\n    return '-'.join(text.lower().split())\n";
const SLUG_TEST: &str = "import unittest\nfrom slug import slug\n\n\nclass Slug(unittest.TestCase):\n\
     \x20   def test_joins(self):\n        self.assertEqual(slug('Two Words'), 'two-words')\n";
const EMPTY_TEST: &str = "import unittest\n\n\nclass Slug(unittest.TestCase):\n\
     \x20   def test_joins(self):\n        self.assertEqual('two-words', 'two-words')\n";

/// A planner with one task, and a coder that makes these calls in each attempt and insists on submitting.
fn working(title: &str, artifacts: &[&str], calls: &[Value]) -> String {
    let inline = |call: &Value| {
        let pairs = call.as_object().expect("a call").iter();
        pairs.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
    };
    let hand_in = "[[attempt.reply]]\nsubmit = { summary = \"done\" }\n";
    let replies =
        calls.iter().map(|call| format!("[[attempt.reply]]\ncall = {{ {} }}\n", inline(call)));
    format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = {title:?}, artifacts = {artifacts:?} }}] }}\n\
         [[attempt]]\nrole = \"coder\"\n{}{hand_in}{hand_in}",
        replies.collect::<String>()
    )
}

fn write(path: &str, content: &str) -> Value {
    json!({ "tool": "write_file", "path": path, "content": content })
}

/// A run in the repository with two failing tests.
fn in_failing(calls: &[Value]) -> Told {
    let place = Place::new();
    let artifacts = ["slug.py", "tests/test_slug.py", "words.py"];
    let written = |path: &&&str| calls.iter().any(|call| call["path"] == **path);
    let artifacts: Vec<&str> = artifacts.iter().filter(written).copied().collect();
    let script = working("Write the function slug", &artifacts, calls);
    let (repo, script) = repository(&place, &FAILING, &script);
    let goal = "Write the function slug in slug.py, with a test";
    let mut args = run(&repo, &script, goal);
    args.extend(["--check", UNITTEST]);
    Told::of(&place, &args)
}

#[test]
fn tests_that_fail_already_are_told_and_not_held_against_the_task() {
    if !has("python3") {
        return;
    }
    let told = in_failing(&[write("slug.py", SLUG), write("tests/test_slug.py", SLUG_TEST)]);
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    let checks = told.events("check.finished");
    assert_eq!(checks[0]["check"]["on"], "base");
    assert_eq!(checks[0]["end"]["tests"]["failing"], json!(TWO));
    let last = checks.last().expect("a check of the merged tree");
    assert_eq!(last["check"]["on"], "merged");
    assert_eq!(last["end"]["tests"]["excused"], json!(TWO));
    for role in ["planner", "coder"] {
        let sessions = told.events("session.started").into_iter();
        let mut briefs = sessions.map(|data| &data["brief"]).filter(|brief| brief["role"] == role);
        let brief = briefs.next().expect("a brief").to_string();
        assert!(brief.contains("Failing before any change"), "{brief}");
        assert!(TWO.iter().all(|name| brief.contains(name)), "{brief}");
    }
    let report = &told.report()["tasks"][0];
    assert_eq!(report["checks"][0]["excused"], true, "{report}");
    assert_eq!(report["evidence"]["level"], "proven", "{report}");
    assert!(told.events("task.rejected").is_empty() && told.events("question.asked").is_empty());
}

#[test]
fn one_more_test_that_fails_sends_the_work_back() {
    if !has("python3") {
        return;
    }
    let shout = "def title(text):\n    return text.upper()\n";
    let read = json!({ "tool": "read_file", "path": "words.py" });
    let calls = [write("slug.py", SLUG), write("tests/test_slug.py", SLUG_TEST), read];
    let told = in_failing(&[calls.as_slice(), &[write("words.py", shout)]].concat());
    assert_eq!(told.code, 3, "{}", told.said);
    let rejected = told.events("task.rejected");
    let codes: Vec<&Value> = rejected.iter().map(|data| &data["fault"]["code"]).collect();
    assert!(
        !codes.is_empty() && codes.iter().all(|code| *code == "verify.check_failed"),
        "{codes:?}"
    );
    let failing = &told.events("check.finished")[1]["end"]["tests"]["failing"];
    let three = [TWO[0], TWO[1], "tests.test_words.Words.test_title"];
    assert_eq!(*failing, json!(three));
}

/// If a check fails anyway, its failure in a trial says nothing: a test must fail that did not fail before.
#[test]
fn a_test_of_nothing_proves_nothing_where_others_fail_anyway() {
    if !has("python3") {
        return;
    }
    let blind = SLUG_TEST.replace("self.assertEqual(", "return\n        self.assertEqual(");
    for (test, says) in [(EMPTY_TEST, "no test shows"), (&blind, "expectations in its tests")] {
        let told = in_failing(&[write("slug.py", SLUG), write("tests/test_slug.py", test)]);
        assert_eq!(told.code, 3, "{}", told.said);
        let text = told.report()["questions"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains(says), "{text}");
    }
}

/// The only question that a run waits for.
fn only_question(told: &Told) -> &Value {
    assert_eq!(told.code, 3, "{}", told.said);
    let questions = told.report()["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 1, "{questions:?}");
    &questions[0]
}

/// Asserts that nothing was spent before that question.
fn nothing_was_spent(told: &Told) {
    assert!(told.events("model.asked").is_empty(), "{}", told.said);
    let spent = &told.report()["spent"];
    assert_eq!((&spent["tokens"], &spent["calls"]), (&json!(0), &json!(0)), "{spent}");
}

/// The printed command that answers the open question, as words.
fn advised(place: &Place, id: &str) -> Vec<String> {
    let shown = stdout(&place.run(&["show", id]));
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("answer:"));
    let words = line.unwrap_or_else(|| panic!("no advice in {shown}")).trim();
    // The only quotes are around a command of two words.
    let (plain, quoted) = words.split_once(" '").unwrap_or((words, ""));
    let quoted = quoted.strip_suffix('\'').map(str::to_owned);
    plain.split(' ').skip(1).map(str::to_owned).chain(quoted).collect()
}

#[test]
fn without_any_check_the_first_question_is_which_one_to_run() {
    let place = Place::new();
    let files = [("README.md", "Greetings.\n"), ("look/all.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, SCRIPT);
    let told = Told::of(&place, &run(&repo, &script, GREET));
    assert_eq!(only_question(&told)["rule"], "baseline.no_checks");
    nothing_was_spent(&told);
    // The printed command can be run as it is. Here it names a check that the repository lacks, which is reported.
    let advice = advised(&place, told.id());
    assert_eq!(advice[advice.len() - 4..], [told.id(), "0", "check", "make test"]);
    let advice: Vec<&str> = advice.iter().map(String::as_str).collect();
    let again = Told::of(&place, &advice);
    assert_eq!(again.code, 3, "{}", again.said);
    assert_eq!(again.report()["questions"][1]["rule"], "baseline.cannot_run");
    nothing_was_spent(&again);
    let done = Told::of(&place, &["answer", told.id(), "check", "sh look/all.sh"]);
    assert_eq!((done.code, done.status()), (0, "done"), "{}", done.said);
    assert_eq!(done.report()["merged_checks"][0]["check"]["command"], "sh look/all.sh");
}

/// A repository whose only check calls a missing program or module.
fn cannot_run(place: &Place, recipe: &str) -> Told {
    let makefile = format!("test:\n\t{recipe}\n");
    let files = [(".gitignore", "bin/\n"), ("Makefile", makefile.as_str())];
    let (repo, script) = repository(place, &files, SCRIPT);
    let told = Told::of(place, &run(&repo, &script, GREET));
    assert_eq!(only_question(&told)["rule"], "baseline.cannot_run");
    nothing_was_spent(&told);
    told
}

#[test]
fn a_check_that_calls_a_missing_program_is_made_to_run_by_a_set_up() {
    if !has("make") {
        return;
    }
    let place = Place::new();
    let told = cannot_run(&place, "PATH=bin:$$PATH greeting-runner greeting.txt");
    let text = only_question(&told)["text"].as_str().unwrap_or_default();
    assert!(text.contains("greeting-runner is not found (exit 127)"), "{text}");
    let advice = advised(&place, told.id());
    assert_eq!(advice.last().map(String::as_str), Some("again"), "{advice:?}");
    let set_up = "mkdir bin && printf '#!/bin/sh\\ngrep -q hello \"$1\"\\n' > bin/greeting-runner \
                  && chmod +x bin/greeting-runner";
    let done = Told::of(&place, &["answer", told.id(), "setup", set_up]);
    assert_eq!((done.code, done.status()), (0, "done"), "{}", done.said);
    let asked = done.report()["questions"].as_array().map(Vec::len);
    assert_eq!(asked, Some(1), "asked once");
}

#[test]
fn without_a_check_that_cannot_run_the_work_goes_on_and_the_gate_asks() {
    if !has("make") || !has("python3") {
        return;
    }
    let place = Place::new();
    let told = cannot_run(&place, "python3 -m no_such_runner greeting.txt");
    let text = only_question(&told)["text"].as_str().unwrap_or_default();
    assert!(text.contains("no_such_runner is not installed"), "{text}");
    let left = Told::of(&place, &["answer", told.id(), "leave"]);
    assert_eq!(left.code, 3, "{}", left.said);
    assert!(!left.events("attempt.finished").is_empty(), "the work was done: {}", left.said);
    let questions = left.report()["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 2, "{questions:?}");
    assert_eq!(questions[1]["rule"], "gate.monitoring", "{questions:?}");
}

/// A Python that can import pytest: the installed one, or the one that `cargo xtask cheats` uses.
fn with_pytest() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = root.join("target/cheats/venv/bin/python");
    let all = [PathBuf::from("python3"), made];
    all.into_iter().find(|python| did(&root, &python.to_string_lossy(), &["-c", "import pytest"]))
}

/// Creates a virtual environment in the repository, with pytest copied into it.
fn environment(repo: &Path, python: &Path) -> bool {
    let copy = "import pathlib, shutil, sys, venv\n\
                import pytest\n\
                venv.create('.venv')\n\
                to = next(pathlib.Path('.venv/lib').iterdir()) / 'site-packages'\n\
                site = pathlib.Path(pytest.__file__).parent.parent\n\
                names = ['pytest', '_pytest', 'pluggy', 'iniconfig', 'packaging', 'pygments', 'exceptiongroup', 'tomli']\n\
                for name in names:\n\
                \x20   if (site / name).is_dir():\n\
                \x20       shutil.copytree(site / name, to / name)\n";
    let made = did(repo, &python.to_string_lossy(), &["-c", copy]);
    made && did(repo, ".venv/bin/python", &["-c", "import pytest"])
}

#[test]
fn pytest_in_a_virtual_environment_reports_its_tests_one_by_one() {
    let Some(python) = with_pytest() else { return };
    let place = Place::new();
    let test = "from slug import slug\n\n\ndef test_joins():\n    assert slug('Two Words') == 'two-words'\n";
    let calls = [write("slug.py", SLUG), write("tests/test_slug.py", test)];
    let artifacts = ["slug.py", "tests/test_slug.py"];
    let script = working("Write the function slug", &artifacts, &calls);
    let files = [
        (".gitignore", ".venv/\n__pycache__/\n.pytest_cache/\n"),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        ("words.py", "def title(text):\n    return text.title()\n"),
        (
            "tests/test_words.py",
            "from words import title\n\n\ndef test_title():\n    assert title('a') == 'A'\n\n\n\
             def test_fails_already():\n    assert title('a') == 'a'\n",
        ),
    ];
    let (repo, script) = repository(&place, &files, &script);
    if !environment(&repo, &python) {
        return;
    }
    let goal = "Write the function slug in slug.py, with a test";
    let told = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!((told.code, told.status()), (0, "done"), "{}", told.said);
    let base = &told.events("check.finished")[0]["end"]["tests"];
    assert_eq!(base["runner"], "pytest", "{base}");
    assert_eq!((&base["passed"], &base["failed"]), (&json!(1), &json!(1)), "{base}");
    assert!(base["failing"][0].as_str().is_some_and(|name| name.ends_with("test_fails_already")));
    assert_eq!(told.report()["tasks"][0]["evidence"]["level"], "proven");
}

/// Work that was submitted but not done is rejected each time, until a person is asked.
fn is_not_done(files: &[(&str, &str)], goal: &str, artifacts: &[&str], calls: &[Value]) {
    let place = Place::new();
    let files = [files, &[("test.sh", "true\n")]].concat();
    let (repo, script) = repository(&place, &files, &working(goal, artifacts, calls));
    let told = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(told.code, 3, "{goal}: {}", told.said);
    let rejected = told.events("task.rejected");
    let codes: Vec<&Value> = rejected.iter().map(|data| &data["fault"]["code"]).collect();
    assert!(
        !codes.is_empty() && codes.iter().all(|code| *code == "verify.nothing_done"),
        "{codes:?}"
    );
    assert!(told.events("merge.started").is_empty(), "{goal}");
}

#[test]
fn a_hand_in_after_a_write_that_failed_is_not_done() {
    let (old, new) = ("good day", "hello");
    let calls = [
        json!({ "tool": "edit_file", "path": "greeting.txt", "old_string": old, "new_string": new }),
    ];
    is_not_done(&[("greeting.txt", "bye\n")], GREET, &["greeting.txt"], &calls);
}

#[test]
fn a_file_that_was_to_be_deleted_and_is_still_there_is_not_done() {
    let files = [("notes.txt", "old\n"), ("README.md", "See notes.txt.\n")];
    let calls = [json!({ "tool": "read_file", "path": "README.md" }), write("README.md", "See.\n")];
    let goal = "Delete the file notes.txt, and do not mention it in README.md";
    is_not_done(&files, goal, &["notes.txt", "README.md"], &calls);
}

#[test]
fn notes_that_were_copied_and_not_moved_are_not_done() {
    let files = [("notes/one.md", "1\n"), ("notes/two.md", "2\n"), ("docs/README.md", "Docs.\n")];
    let calls = [write("docs/one.md", "1\n")];
    is_not_done(&files, "Move the notes to docs/", &["notes/", "docs/"], &calls);
}

/// Stops a run with a signal while its second check runs on the untouched tree; a finished check is not run again.
fn stopped_in_the_baseline(signal: &str) {
    let place = Place::new();
    let files =
        [(".gitignore", ".venv/\n"), ("own.py", ""), ("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, &script("greeting.txt", "hello\n"));
    // Files of an environment are read in place: the second check waits there for a write to the pipe.
    put(&repo, ".venv/pyvenv.cfg", "home = /usr/bin\n");
    put(&repo, ".venv/bin/activate", "");
    let pipe = repo.join(".venv/bin/pipe");
    if !did(&repo, "mkfifo", &[".venv/bin/pipe"]) {
        return;
    }
    let mut args = run(&repo, &script, GREET);
    args.extend(["--check", "sh test.sh", "--check", "cat .venv/bin/pipe", "--json"]);
    let mut child = place.spawn(&args);
    let mut id = String::new();
    for line in BufReader::new(child.stdout.take().expect("an output")).lines() {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        line["run"].as_str().unwrap_or_default().clone_into(&mut id);
        if line["event"] == "check.started" && line["data"]["check"]["index"] == 1 {
            break;
        }
    }
    send(signal, &child.id().to_string());
    child.wait().expect("it ends");
    std::fs::remove_file(&pipe).expect("the pipe is removed");
    put(&repo, ".venv/bin/pipe", "go on\n");
    let resumed = place.run(&["resume", &id, "--json"]);
    assert_eq!(resumed.status.code(), Some(0), "{}{}", stdout(&resumed), stderr(&resumed));
    let log = stdout(&place.run(&["log", &id, "--json"]));
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let on_base = lines.filter(|line| line["data"]["check"]["on"] == "base");
    let told: Vec<String> = on_base
        .map(|line| {
            format!("{} {}", line["event"].as_str().unwrap_or("?"), line["data"]["check"]["index"])
        })
        .collect();
    let first = ["check.started 0", "check.finished 0", "check.started 1"];
    assert_eq!(told[..3], first, "{told:?}");
    assert!(told[3..].iter().all(|line| line.ends_with(" 1")), "{told:?}");
    assert_eq!(told.iter().filter(|line| *line == "check.finished 1").count(), 1, "{told:?}");
}

#[test]
fn a_run_that_is_killed_in_the_baseline_goes_on_there() {
    stopped_in_the_baseline("-KILL");
}

#[test]
fn a_run_that_is_interrupted_in_the_baseline_goes_on_there() {
    stopped_in_the_baseline("-INT");
}
