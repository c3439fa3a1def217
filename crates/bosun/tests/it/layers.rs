//! Checks of a project that is built: what the build of the untouched tree left is handed to later checks, what an
//! attempt left never is, and a result is built from nothing before it is done. With the real binary, in its sandbox.

use std::fs::File;
use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::run;
use crate::stage::{Told, repository, script};

/// A build that makes an object of each source that is newer than its object, and says so; then a test of all objects.
const TEST: &str = "mkdir -p out\n\
    for source in src/*.txt; do\n\
    object=out/$(basename $source .txt).o\n\
    if [ ! -e $object ] || [ $source -nt $object ]; then cp $source $object; echo compiled $source; fi\n\
    done\n\
    pwd\n\
    cat out/*.o > out/all\n\
    grep -q hello out/all && grep -q needed out/all\n";

const FILES: [(&str, &str); 5] = [
    (".gitignore", "out/\n"),
    ("src/a.txt", "one\n"),
    ("src/b.txt", "two\n"),
    ("src/c.txt", "needed\n"),
    ("test.sh", TEST),
];

const GOAL: &str = "Write hello to src/b.txt";
const ALL: [&str; 3] = ["compiled src/a.txt", "compiled src/b.txt", "compiled src/c.txt"];

/// A coder that reads and writes a file, after running a command.
fn coder(command: &str, path: &str, content: &str) -> String {
    let first =
        format!("[[attempt.reply]]\ncall = {{ tool = \"shell\", command = {command:?} }}\n");
    let written = "[[attempt.reply]]\ncall = { tool = \"write_file\"";
    let read = format!("[[attempt.reply]]\ncall = {{ tool = \"read_file\", path = {path:?} }}\n");
    let first = if command.is_empty() { read } else { format!("{read}{first}") };
    script(path, content).replace(written, &format!("{first}{written}"))
}

/// A repository whose policy keeps output also of quick builds.
fn built(place: &Place, files: &[(&str, &str)], verify: &str, script: &str) -> (PathBuf, PathBuf) {
    let policy = format!("[verify]\nwarm_from_ms = 0\n{verify}");
    let files = [files, &[(".bosun/policy.toml", policy.as_str())]].concat();
    let (repo, script) = repository(place, &files, script);
    place.trust(&repo);
    (repo, script)
}

/// What each check compiled, by its subject.
fn compiled(told: &Told) -> Vec<(String, Vec<String>)> {
    let ends = told.events("check.finished").into_iter();
    let lines = |text: &str| {
        let of_build = text.lines().filter(|line| line.starts_with("compiled"));
        of_build.map(str::to_owned).collect()
    };
    ends.map(|data| {
        let text = data["end"]["output"]["text"].as_str().unwrap_or_default();
        (data["check"].to_string(), lines(text))
    })
    .collect()
}

/// The commit whose check counts for the merged one, which has the same files.
fn taken_over(told: &Told) -> Value {
    let ends = told.events("check.finished");
    ends.last().expect("a check")["end"]["same_as"].clone()
}

#[test]
fn a_check_builds_on_what_the_untouched_tree_left_and_the_last_one_from_nothing() {
    let place = Place::new();
    let (repo, script) = built(&place, &FILES, "", &coder("", "src/b.txt", "hello\n"));
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    assert_eq!(told.status(), "done", "{}", told.said);
    let compiled = compiled(&told);
    let [base, first, .., merged] = compiled.as_slice() else { panic!("{compiled:?}") };
    assert!(base.0.contains("base") && merged.0.contains("merged"), "{compiled:?}");
    assert_eq!(
        (base.1.as_slice(), merged.1.as_slice()),
        (&ALL.map(str::to_owned)[..], &ALL.map(str::to_owned)[..])
    );
    assert_eq!(first.1, ["compiled src/b.txt"]);
    assert_eq!(taken_over(&told), Value::Null, "the last one is run");
    // All checks and trials see the same path, which tells nothing about them.
    let paths: Vec<String> = told
        .outputs()
        .iter()
        .filter_map(|text| text.lines().find(|line| line.starts_with('/')).map(str::to_owned))
        .collect();
    assert!(paths.iter().all(|path| *path == paths[0] && path.ends_with("/repo")), "{paths:?}");
    let left = std::fs::read_dir(place.home().join("worktrees")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "the trees are removed");
}

#[test]
fn what_an_attempt_builds_or_plants_never_reaches_a_check() {
    let place = Place::new();
    // The objects say what the sources do not, and look newer than anything.
    let plant = "mkdir -p out && echo hello needed > out/b.o && cp out/b.o out/all && touch -d 2099-01-01 out/b.o && cat out/b.o";
    let script = coder(plant, "src/b.txt", "three\n");
    let (repo, script) = built(&place, &FILES, "", &script);
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    assert_ne!(told.status(), "done", "{}", told.said);
    let planted = told.events("tool.finished");
    assert!(planted.iter().any(|data| data.to_string().contains("hello needed")), "{planted:?}");
    let compiled = compiled(&told);
    assert_eq!(compiled[1].1, ["compiled src/b.txt"], "{compiled:?}");
    let exit = &told.events("check.finished")[1]["end"]["ended"];
    assert_eq!(exit["exited"], 1, "{}", told.said);
}

#[test]
fn output_of_a_removed_source_does_not_outlive_it() {
    let place = Place::new();
    // The object of a source that is needed and gone would still be there.
    let plan =
        script("src/b.txt", "hello\n").replace("\"src/b.txt\"]", "\"src/b.txt\", \"src/c.txt\"]");
    let read = "[[attempt.reply]]\ncall = { tool = \"read_file\", path = \"src/b.txt\" }\n[[attempt.reply]]\ncall = { tool = \"shell\", command = \"rm src/c.txt\" }\n[[attempt.reply]]\ncall = { tool = \"write_file\"";
    let plan = plan.replace("[[attempt.reply]]\ncall = { tool = \"write_file\"", read);
    let (repo, script) = built(&place, &FILES, "", &plan);
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    assert_ne!(told.status(), "done", "{}", told.said);
    let compiled = compiled(&told);
    assert_eq!(compiled[1].1, ["compiled src/a.txt", "compiled src/b.txt"], "{}", told.said);
}

/// The file behind a link may be older than the object that was made of the one before.
#[test]
fn a_source_that_became_a_link_is_built_from_nothing() {
    let place = Place::new();
    let script = coder("rm src/b.txt && ln -s c.txt src/b.txt", "src/a.txt", "hello\n")
        .replace("\"src/a.txt\"]", "\"src/a.txt\", \"src/b.txt\"]");
    let (repo, script) = built(&place, &FILES, "", &script);
    let told = Told::of(&place, &run(&repo, &script, "Write hello to src/a.txt"));
    assert_eq!(compiled(&told)[1].1, ALL, "{}", told.said);
}

#[test]
fn a_policy_says_which_checks_build_from_nothing() {
    for (cold, merged, first) in [("never", 1, 1), ("always", 3, 3)] {
        let place = Place::new();
        let cold_key = format!("cold = \"{cold}\"\n");
        let (repo, script) = built(&place, &FILES, &cold_key, &coder("", "src/b.txt", "hello\n"));
        let told = Told::of(&place, &run(&repo, &script, GOAL));
        assert_eq!(told.status(), "done", "{}", told.said);
        let compiled = compiled(&told);
        let last = compiled.last().expect("a check");
        assert_eq!((last.1.len(), compiled[1].1.len()), (merged, first), "{cold}: {compiled:?}");
    }
}

#[test]
fn a_check_that_works_only_in_a_fresh_checkout_gets_one() {
    let place = Place::new();
    let test = TEST.replace("mkdir -p out", "mkdir out || exit 1");
    let mut files = FILES;
    files[4].1 = &test;
    let (repo, script) = built(&place, &files, "", &coder("", "src/b.txt", "hello\n"));
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    assert_eq!(told.status(), "done", "{}", told.said);
    let compiled = compiled(&told);
    // A trial that cannot be made has no lines.
    assert!(compiled.iter().all(|(_, lines)| [0, 3].contains(&lines.len())), "{compiled:?}");
}

#[test]
fn output_of_a_quick_build_is_not_kept_and_the_same_files_are_checked_once() {
    let place = Place::new();
    let (repo, script) = repository(&place, &FILES, &coder("", "src/b.txt", "hello\n"));
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    assert_eq!(told.status(), "done", "{}", told.said);
    let ends = told.events("check.finished");
    assert!(ends[1]["end"]["cold"] == true && taken_over(&told).is_string(), "{ends:?}");
    let compiled = compiled(&told);
    // A trial that cannot be made has no lines.
    assert!(compiled.iter().all(|(_, lines)| [0, 3].contains(&lines.len())), "{compiled:?}");
}

#[test]
fn compiled_python_is_not_kept() {
    let place = Place::new();
    let test = "[ -e __pycache__/a.pyc ] && echo compiled before\nmkdir -p __pycache__\n\
                touch __pycache__/a.pyc\ngrep -q -e hello -e two src/b.txt\n";
    let files = [(".gitignore", "__pycache__/\n"), ("src/b.txt", "two\n"), ("test.sh", test)];
    let (repo, script) = built(&place, &files, "", &coder("", "src/b.txt", "hello\n"));
    let told = Told::of(&place, &run(&repo, &script, GOAL));
    let compiled = compiled(&told);
    assert!(compiled.len() > 1, "{}", told.said);
    assert!(compiled.iter().all(|(_, lines)| lines.is_empty()), "{compiled:?}");
}

/// Kills a run as soon as it has written such a line; returns its id.
fn killed_after(place: &Place, args: &[&str], line: impl Fn(&Value) -> bool) -> String {
    let out: PathBuf = place.path().join("begun.jsonl");
    let mut command = place.command(&[args, &["--json"]].concat());
    command.stdout(File::create(&out).expect("a file"));
    let mut child = command.spawn().expect("the binary starts");
    loop {
        let text = std::fs::read_to_string(&out).expect("lines");
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let mut lines = whole.lines().filter_map(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(found) = lines.find(&line) {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            return found["run"].as_str().expect("a run").to_owned();
        }
        assert!(child.try_wait().expect("a state").is_none(), "it ended: {text}");
        std::thread::yield_now();
    }
}

#[test]
fn a_killed_run_goes_on_with_what_the_baseline_left() {
    let place = Place::new();
    let (repo, script) = built(&place, &FILES, "", &coder("", "src/b.txt", "hello\n"));
    let of_attempt = |line: &Value| {
        line["event"] == "check.started" && line["data"].to_string().contains("T1.1")
    };
    let id = killed_after(&place, &run(&repo, &script, GOAL), of_attempt);
    let output = place.run(&["resume", &id, "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let first = text
        .lines()
        .find(|line| line.contains("\"check.finished\"") && line.contains("T1.1"))
        .expect("a check");
    assert!(
        first.contains("compiled src/b.txt") && !first.contains("compiled src/a.txt"),
        "{first}"
    );
}
