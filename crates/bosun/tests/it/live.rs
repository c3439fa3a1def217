//! The live view in a real terminal: it appears, fits, survives resizing, takes answers and leaves a clean screen;
//! `watch` and `top` show runs of other processes; the user's own commands are notified of questions and of the end.

use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::screen::{Screen, can_be_had};
use crate::stage::repository;

/// Two tasks: the second depends on the first, and the first waits for a file.
const SCRIPT: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Write the greeting into its file", artifacts = ["greeting.txt"] }, { id = "T2", title = "Say in the manual what the greeting is for", artifacts = ["manual.txt"], depends_on = ["T1"] }] }
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
hold = "PLACE/go"
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
call = { tool = "write_file", path = "manual.txt", content = "hello is a greeting\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// Sets up a repository; returns the words of the command that starts a run in it.
fn stage(place: &Place) -> Vec<String> {
    let script = SCRIPT.replace("PLACE", &place.path().display().to_string());
    let (repo, script) = repository(place, &[("test.sh", "grep -q hello greeting.txt\n")], &script);
    let text = |path: PathBuf| path.display().to_string();
    let goal = "Write hello to greeting.txt and describe it in manual.txt".to_owned();
    vec![
        "run".to_owned(),
        goal,
        "--repo".to_owned(),
        text(repo),
        "--script".to_owned(),
        text(script),
    ]
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

fn let_go(place: &Place) {
    std::fs::write(place.path().join("go"), "").expect("a file");
}

fn lines_with<'a>(screen: &'a str, text: &str) -> Vec<&'a str> {
    screen.lines().filter(|line| line.contains(text)).collect()
}

/// One line for each task, at any width, until the report replaces them.
#[test]
fn tasks_are_shown_while_they_are_worked_on_and_after_a_resize() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let words = stage(&place);
    let screen = Screen::open(&place, place.path(), 120, 40);
    screen.run(&format!("{}; echo left-$?", quoted(&words)));
    let shown = screen.waits_until("the tasks", |screen| {
        screen.contains("● T1 running") && screen.contains("○ T2 waiting for T1")
    });
    assert!(shown.contains("execution") && shown.contains("0/2 tasks"), "{shown}");
    assert!(shown.contains("plan         adopted: 2 tasks"), "the lines scroll above: {shown}");
    screen.resize(40, 40);
    let narrow = screen.waits_until("one line for each task", |screen| {
        let (first, second) = (lines_with(screen, "● T1"), lines_with(screen, "○ T2"));
        let is_cut = |lines: &[&str]| {
            lines.len() == 1 && lines[0].chars().count() <= 40 && lines[0].ends_with('…')
        };
        first.len() == 1 && first[0].chars().count() <= 40 && is_cut(&second)
    });
    let second = lines_with(&narrow, "○ T2")[0];
    assert!(second.contains("waiting for T1"), "{narrow}");
    screen.resize(100, 40);
    screen.waits_until("the wide lines again", |screen| {
        lines_with(screen, "○ T2").iter().any(|line| line.contains("Say in the manual what"))
    });
    let_go(&place);
    let over = screen.waits_for("left-0");
    assert!(over.contains("done") && over.contains("accept r_"), "{over}");
    assert!(!over.contains("● T1") && !over.contains("○ T2"), "the block is gone: {over}");
}

/// Ctrl-C removes the block and prints how to continue, and the shell works as before.
#[test]
fn ctrl_c_leaves_a_clean_screen_and_the_command_that_goes_on() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let words = stage(&place);
    let screen = Screen::open(&place, place.path(), 100, 40);
    screen.run(&format!("{}; echo left-$?", quoted(&words)));
    screen.waits_for("● T1 running");
    screen.press("C-c");
    let left = screen.waits_for("left-130");
    assert!(left.contains("stopped; progress is saved. Resume with: bosun "), "{left}");
    assert!(left.contains(" resume r_") && !left.contains("● T1"), "{left}");
    screen.types("echo back-again");
    screen.press("Enter");
    screen.waits_until("the shell's echo", |screen| screen.matches("back-again").count() == 2);
    let_go(&place);
    screen.run("resume; echo left-$?");
    screen.waits_for("left-0");
}

/// Numbers are answers, and the question is shown below the tasks with its choices.
#[test]
fn a_question_is_answered_by_its_number() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let_go(&place);
    let mut words = stage(&place);
    words.extend(["--check".to_owned(), "test ! -e manual.txt".to_owned()]);
    let screen = Screen::open(&place, place.path(), 120, 50);
    screen.run(&format!("{}; echo left-$?", quoted(&words)));
    let asked = screen.waits_for("your answer, or Enter");
    assert!(asked.contains("waiting for you") && asked.contains(" stop"), "{asked}");
    assert!(asked.contains("(suggested)"), "{asked}");
    let stop = lines_with(&asked, "end the run");
    let number = stop.last().and_then(|line| line.split_whitespace().next()).expect("a choice");
    screen.types(number);
    screen.press("Enter");
    let over = screen.waits_until("the end", |screen| screen.contains("\nleft-"));
    assert!(lines_with(&over, "answer  ").iter().any(|line| line.contains(": stop")), "{over}");
    assert!(!over.contains("(suggested)"), "the question is gone: {over}");
}

/// A question does not stop other tasks, and is answered while they work.
#[test]
fn a_question_is_answered_while_another_task_goes_on() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let mut words = stage(&place);
    let script = std::fs::read_to_string(place.path().join("script.toml")).expect("a script");
    // The second task is the one that is held, and neither depends on the other.
    let hold = format!("hold = \"{}/go\"\n", place.path().display());
    let script = script.replace(&hold, "").replace(", depends_on = [\"T1\"]", "");
    let second = "call = { tool = \"write_file\", path = \"manual.txt\"";
    let script = script.replace(second, &format!("{hold}{second}"));
    std::fs::write(place.path().join("script.toml"), script).expect("a script");
    words.extend(["--check".to_owned(), "test ! -e greeting.txt".to_owned()]);
    let screen = Screen::open(&place, place.path(), 120, 50);
    screen.run(&format!("{}; echo left-$?", quoted(&words)));
    let asked = screen.waits_until("a question beside a running task", |screen| {
        screen.contains("? T1 asks") && screen.contains("● T2 running")
    });
    assert!(asked.contains("your answer, by number or in words"), "{asked}");
    screen.types("skip");
    screen.press("Enter");
    let answered = screen.waits_until("the answer", |screen| {
        lines_with(screen, "answer  ").iter().any(|line| line.contains(": skip"))
            && !screen.contains("? T1 asks")
    });
    assert!(answered.contains("● T2 running"), "{answered}");
    screen.press("C-c");
    screen.waits_for("left-130");
}

/// A run that another process drives is followed to its end, with its exit code.
#[test]
fn a_run_of_another_process_is_watched_until_it_is_over() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let words = stage(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let driver = place.spawn(&words);
    let screen = Screen::open(&place, place.path(), 120, 40);
    screen.waits_for_run(&place);
    screen.run("watch; echo left-$?");
    screen.waits_for("○ T2 waiting for T1");
    let listed = place.run(&["top", "--once"]);
    let table = stdout(&listed);
    assert!(table.contains("running") && table.contains("0/2"), "{table}{}", stderr(&listed));
    let active = stdout(&place.run(&["top", "--json"]));
    let active: Value = serde_json::from_str(&active).expect("one run");
    assert_eq!((&active["state"], &active["tasks"]), (&"running".into(), &2.into()));
    assert!(active["last_action"].is_string(), "{active}");
    let_go(&place);
    let over = screen.waits_for("left-0");
    assert!(over.contains("accept r_"), "{over}");
    let driver = driver.wait_with_output().expect("it ends");
    assert!(driver.status.success(), "{}", stderr(&driver));
    assert_eq!(stdout(&place.run(&["top", "--json"])), "", "nothing is going on any more");
    let again = place.run(&["watch"]);
    assert!(again.status.success() && stdout(&again).contains("accept r_"), "{}", stdout(&again));
}

/// Leaving the view does not affect the run.
#[test]
fn leaving_a_watched_run_does_not_touch_it() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let words = stage(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let driver = place.spawn(&words);
    let screen = Screen::open(&place, place.path(), 100, 40);
    screen.waits_for_run(&place);
    screen.run("watch; echo left-$?");
    screen.waits_for("● T1 running");
    screen.press("q");
    let left = screen.waits_for("left-130");
    assert!(left.contains("the run is unaffected") && !left.contains("● T1"), "{left}");
    let_go(&place);
    let driver = driver.wait_with_output().expect("it ends");
    assert!(driver.status.success(), "{}", stderr(&driver));
}

/// The user's own command gets the facts as variables; their content is never executed.
#[test]
fn commands_of_the_person_are_told_of_the_end_and_of_questions() {
    let place = Place::new();
    let_go(&place);
    let mut words = stage(&place);
    words[1] =
        "Write hello to greeting.txt; $(touch trap) and describe it in manual.txt".to_owned();
    words.extend(["--check".to_owned(), "test ! -e manual.txt".to_owned()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let told = place.path().join("told");
    let hook = format!(
        "printf '%s|%s|%s\\n' \"$BOSUN_RUN\" \"$BOSUN_KIND\" \"$BOSUN_TEXT\" >> '{}'",
        told.display()
    );
    let output = place.command(&words).env("BOSUN_ON_QUESTION", &hook).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let said = std::fs::read_to_string(&told).expect("it was told");
    assert!(said.starts_with("r_") && said.contains("|question|"), "{said}");
    let run = said.split('|').next().expect("an id").to_owned();
    let mut answer = place.command(&["answer", &run, "stop"]);
    answer.env("BOSUN_ON_END", &hook).output().expect("it runs");
    let said = std::fs::read_to_string(&told).expect("it was told");
    let last = said.lines().last().expect("a line");
    assert!(last.contains("|end|") && last.contains("$(touch trap)"), "{said}");
    assert!(!place.path().join("trap").exists(), "a goal was run");
}

/// The same from the user's config.toml, without a shell; a command that fails changes nothing.
#[test]
fn programs_of_the_persons_settings_are_told_and_their_failure_is_a_warning() {
    let place = Place::new();
    let_go(&place);
    let mut words = stage(&place);
    words.extend(["--check".to_owned(), "test ! -e manual.txt".to_owned()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (config, told) = (place.path().join("own.toml"), place.path().join("told it"));
    let set = |on: &str, words: &[&str]| {
        std::fs::write(&config, format!("{on} = {words:?}\n")).expect("a file");
    };
    let read = || -> serde_json::Value {
        let text = std::fs::read_to_string(&told).expect("it was told");
        serde_json::from_str(&text).expect("JSON")
    };
    let with_settings = |words: &[&str]| {
        place.command(words).env("BOSUN_CONFIG", &config).output().expect("it runs")
    };
    let mut ends = vec![];
    for on_end in ["tee", "/no/such/program"] {
        set("on_question", &["tee", &told.display().to_string()]);
        let output = with_settings(&words);
        assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
        let asked = read();
        assert_eq!(asked["kind"], "question");
        assert!(asked["text"].as_str().is_some_and(|text| !text.is_empty()), "{asked}");
        let run = asked["run"].as_str().expect("an id").to_owned();
        set("on_end", &[on_end, &told.display().to_string()]);
        let end = with_settings(&["answer", &run, "stop"]);
        let warned = stderr(&end).contains("warning: cannot run the on_end command");
        assert_eq!(warned, on_end != "tee", "{}", stderr(&end));
        if on_end == "tee" {
            let told = (read()["kind"].clone(), read()["report"]["run"].clone());
            assert_eq!(told, ("end".into(), run.as_str().into()));
        }
        ends.push(end.status.code());
    }
    assert_eq!(ends[0], ends[1], "a command that fails changes nothing");
}
