//! Ordinary repositories through the whole line: with dependencies in ignored folders, with submodules, with virtual
//! environments, with set-up commands. With the real binary, in its real sandbox.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::Place;
use crate::commands::run;
use crate::stage::{Told, did, has, put, repository, script};

/// The prepared states in the home of a test.
fn states(place: &Place) -> Vec<PathBuf> {
    let below = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let shelves = below(place.home().join("prepared")).into_iter();
    shelves.flat_map(below).filter(|state| state.join("record.json").is_file()).collect()
}

fn record(state: &Path) -> Value {
    let text = std::fs::read_to_string(state.join("record.json")).expect("a record");
    serde_json::from_str(&text).expect("JSON")
}

const NODE: [(&str, &str); 4] = [
    (".gitignore", "node_modules/\n"),
    ("package.json", "{ \"type\": \"commonjs\", \"scripts\": { \"test\": \"node --test\" } }\n"),
    ("package-lock.json", "{ \"lockfileVersion\": 3 }\n"),
    (
        "test/sum.test.js",
        "const test = require('node:test');\nconst dep = require('dep');\nconst fs = require('node:fs');\n\
         test('sum', () => { dep.equal(require('../sum.js')(1, 2), 3); });\n\
         test('cache', () => { fs.writeFileSync('node_modules/.cache/c', 'x'); });\n\
         test('closed', () => { require('node:assert').throws(() => fs.writeFileSync('node_modules/dep/index.js', 'x')); });\n",
    ),
];

#[test]
fn ignored_dependencies_of_a_node_repository_are_brought_along() {
    if !has("node") || !has("npm") {
        return;
    }
    let place = Place::new();
    let script = script("sum.js", "module.exports = (a, b) => a + b;\n");
    let (repo, script) = repository(&place, &NODE, &script);
    let dep = "exports.equal = (a, b) => { if (a !== b) throw new Error(`${a} is not ${b}`); };\n";
    put(&repo, "node_modules/dep/index.js", dep);
    let told = Told::of(&place, &run(&repo, &script, "Write the function sum in sum.js"));
    assert_eq!(told.status(), "done", "{}", told.said);
    let states = states(&place);
    assert_eq!(states.len(), 1, "prepared once");
    assert_eq!(record(&states[0])["kept"], serde_json::json!(["node_modules"]));
    let kept = std::fs::read_to_string(states[0].join("tree/node_modules/dep/index.js"));
    assert_eq!(kept.expect("a file"), dep, "nobody wrote to what is shared");
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
    let left = std::fs::read_dir(place.home().join("worktrees")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "worktrees are removed");
}

#[test]
fn a_submodule_is_there_for_agents_and_checks() {
    let place = Place::new();
    let lib = place.path().join("lib");
    std::fs::create_dir(&lib).expect("a folder");
    put(&lib, "words.txt", "hello\n");
    for args in [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "-m", "x"]] {
        place.git(&lib, args);
    }
    let check = "grep -q -f libs/words/words.txt greeting.txt\n";
    let script = script("greeting.txt", "hello\n");
    let (repo, script) = repository(&place, &[("test.sh", check)], &script);
    let from = lib.to_str().expect("a path");
    let allow = "protocol.file.allow=always";
    place.git(&repo, &["-c", allow, "submodule", "--quiet", "add", from, "libs/words"]);
    place.git(&repo, &["commit", "--quiet", "--message=Add words"]);
    let told = Told::of(&place, &run(&repo, &script, "Write hello to greeting.txt"));
    assert_eq!(told.status(), "done", "{}", told.said);
    assert_eq!(place.git(&repo, &["status", "--porcelain"]), "");
}

fn environment(repo: &Path) {
    let made = did(repo, "python3", &["-m", "venv", "--without-pip", ".venv"]);
    assert!(made, "an environment is made");
    let lib = std::fs::read_dir(repo.join(".venv/lib")).expect("a folder");
    let python = lib.flatten().next().expect("a version").path();
    // A package of the environment, a program in it, and the repository's own package, installed as editable.
    put(&python, "site-packages/dep.py", "def equal(a, b):\n    assert a == b, (a, b)\n");
    let editable = format!("{}/src\n", repo.canonicalize().expect("a path").display());
    put(&python, "site-packages/__editable__.own-1.0.pth", &editable);
    let program = format!("#!{}/.venv/bin/python\nimport dep\n", repo.display());
    put(repo, ".venv/bin/tool", &program);
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(repo.join(".venv/bin/tool"), open).expect("a program");
}

#[test]
fn a_virtual_environment_in_the_repository_is_found_by_itself() {
    if !has("python3") {
        return;
    }
    let place = Place::new();
    let script = script("src/own.py", "def double(n):\n    return n * 2\n");
    let files = [
        (".gitignore", ".venv/\n__pycache__/\n"),
        ("src/README.md", "The package.\n"),
        ("check.py", "import dep, own\ndep.equal(own.double(2), 4)\nprint(own.__file__)\n"),
        ("test.sh", "set -e\n.venv/bin/python check.py\npython check.py\ntool\n"),
    ];
    let (repo, script) = repository(&place, &files, &script);
    environment(&repo);
    let told = Told::of(&place, &run(&repo, &script, "Let double in src/own.py double its number"));
    assert_eq!(told.status(), "done", "{}", told.said);
    let outputs = told.outputs();
    let own = |line: &&str| line.contains("/src/");
    // The module does not exist on the untouched tree.
    let with_it = &outputs[1..];
    assert!(with_it.iter().all(|text| text.lines().filter(own).count() == 2), "{outputs:?}");
}

#[test]
fn an_environment_that_a_set_up_made_stays_where_it_was_made() {
    if !has("python3") {
        return;
    }
    let place = Place::new();
    let policy = "[workspace]\nsetup = [\"sh set-up.sh\"]\n";
    let set_up = "set -e\npython3 -m venv --without-pip .venv\n\
                  printf '#!%s/.venv/bin/python\\nimport sys; print(sys.prefix)\\n' \"$PWD\" > .venv/bin/tool\n\
                  chmod +x .venv/bin/tool\nmkdir build\necho x > build/left\n";
    let files = [
        (".gitignore", ".venv/\nbuild/\n"),
        (".bosun/policy.toml", policy),
        ("set-up.sh", set_up),
        ("own.py", "pass\n"),
        (
            "test.sh",
            "set -e\n.venv/bin/python own.py\ntool\necho y > build/left\ntest -f greeting.txt\n",
        ),
    ];
    let (repo, script) = repository(&place, &files, &script("greeting.txt", "hello\n"));
    place.trust(&repo);
    let told = Told::of(&place, &run(&repo, &script, "Write hello to greeting.txt"));
    assert_eq!(told.status(), "done", "{}", told.said);
    let states = states(&place);
    assert_eq!(record(&states[0])["kept"], serde_json::json!([".venv", "build"]));
    let prefix = states[0].join("tree/.venv");
    assert!(told.outputs().iter().all(|text| text.contains(&*prefix.to_string_lossy())));
    let left = std::fs::read_to_string(states[0].join("tree/build/left")).expect("a file");
    assert_eq!(left, "x\n", "each worktree has its own");
}

const TWO: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "One", artifacts = ["one.txt"] }, { id = "T2", title = "Two", artifacts = ["two.txt"] }] }
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
call = { tool = "write_file", path = "one.txt", content = "1\n" }
[[attempt.reply]]
submit = { summary = "done" }
[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
call = { tool = "write_file", path = "two.txt", content = "2\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

#[test]
fn a_set_up_runs_once_for_all_tasks_and_again_when_a_lock_file_changes() {
    let place = Place::new();
    let policy = "[workspace]\nsetup = [\"mkdir -p vendor && od -An -tx8 -N8 /dev/urandom > vendor/stamp\"]\n\
                  locks = [\"deps.lock\"]\n";
    let files = [
        (".gitignore", "vendor/\n"),
        (".bosun/policy.toml", policy),
        ("deps.lock", "1\n"),
        ("test.sh", "cat vendor/stamp && ! echo x 2>/dev/null > vendor/stamp\n"),
    ];
    let (repo, script) = repository(&place, &files, TWO);
    place.trust(&repo);
    let goal = "Write 1 to one.txt and 2 to two.txt";
    let told = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(told.status(), "done", "{}", told.said);
    let outputs = told.outputs();
    assert!(outputs.len() >= 3 && outputs.iter().all(|text| *text == outputs[0]), "{outputs:?}");
    let made = states(&place);
    assert_eq!(made.len(), 1);
    let commands = record(&made[0])["commands"].clone();
    assert_eq!(commands.as_array().map(Vec::len), Some(1), "{commands}");
    assert_eq!(commands[0]["ended"], serde_json::json!({ "exited": 0 }));
    put(&repo, "deps.lock", "2\n");
    place.git(&repo, &["commit", "--quiet", "--all", "--message=Other dependencies"]);
    let again = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(again.status(), "done", "{}", again.said);
    assert_ne!(again.outputs()[0], outputs[0]);
    assert_eq!(states(&place).len(), 2);
}

/// The script of a set-up is no lock file, and decides what all later checks execute.
#[test]
fn a_set_up_whose_script_has_changed_is_made_anew() {
    let place = Place::new();
    let policy = "[workspace]\nsetup = [\"sh ./tools/set-up.sh\"]\nlocks = [\"deps.lock\"]\n";
    let set_up = |word: &str| format!("mkdir -p vendor && echo {word} > vendor/word\n");
    let files = [
        (".gitignore", "vendor/\n"),
        (".bosun/policy.toml", policy),
        ("deps.lock", "1\n"),
        ("tools/set-up.sh", &set_up("theirs")),
        ("test.sh", "cat vendor/word\n"),
    ];
    let (repo, script) = repository(&place, &files, TWO);
    place.trust(&repo);
    let goal = "Write 1 to one.txt and 2 to two.txt";
    let told = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(told.status(), "done", "{}", told.said);
    assert!(told.outputs().iter().all(|text| *text == "theirs\n"), "{:?}", told.outputs());
    assert_eq!(states(&place).len(), 1, "the attempts of a run share one");
    put(&repo, "tools/set-up.sh", &set_up("ours"));
    place.git(&repo, &["commit", "--quiet", "--all", "--message=Another script"]);
    let again = Told::of(&place, &run(&repo, &script, goal));
    assert_eq!(again.status(), "done", "{}", again.said);
    assert!(again.outputs().iter().all(|text| *text == "ours\n"), "{:?}", again.outputs());
}

/// A plan may own the folder around installed dependencies, so an agent may move that.
#[test]
fn an_agent_that_moves_dependencies_changes_only_its_own() {
    let place = Place::new();
    let moves = "mv packages/a packages/b";
    let writes = "echo changed > packages/b/node_modules/dep/index.js";
    let script = format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = \"Move it\", artifacts = [\"packages/\"] }}] }}\n\
         [[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\n\
         call = {{ tool = \"shell\", command = {moves:?} }}\n[[attempt.reply]]\n\
         call = {{ tool = \"shell\", command = {writes:?} }}\n[[attempt.reply]]\n\
         submit = {{ summary = \"done\" }}\n"
    );
    let policy = "[workspace]\nbring = [\"packages/a/node_modules\"]\n";
    let files = [
        (".gitignore", "node_modules/\n"),
        (".bosun/policy.toml", policy),
        ("packages/a/package.json", "{}\n"),
        ("test.sh", "test -f packages/b/package.json\n"),
    ];
    let (repo, script) = repository(&place, &files, &script);
    place.trust(&repo);
    put(&repo, "packages/a/node_modules/dep/index.js", "installed\n");
    let told = Told::of(&place, &run(&repo, &script, "Move packages/a to packages/b"));
    let moved = told.lines.iter().filter(|line| line["event"] == "tool.finished").count();
    assert!(moved >= 2, "both commands ran: {}", told.said);
    let states = states(&place);
    assert_eq!(states.len(), 1, "{}", told.said);
    for top in [&states[0].join("tree"), &repo] {
        let text = std::fs::read_to_string(top.join("packages/a/node_modules/dep/index.js"));
        assert_eq!(text.expect("a file"), "installed\n");
    }
}

#[test]
fn a_set_up_that_fails_is_a_question_and_no_model_is_asked() {
    let place = Place::new();
    let policy = "[workspace]\nsetup = [\"echo fetching; echo 'no registry' >&2; exit 3\"]\n";
    let files = [(".bosun/policy.toml", policy), ("test.sh", "true\n")];
    let (repo, script) = repository(&place, &files, &script("greeting.txt", "hello\n"));
    place.trust(&repo);
    let told = Told::of(&place, &run(&repo, &script, "Write hello to greeting.txt"));
    assert_eq!(told.code, 3, "{}", told.said);
    assert!(told.events("model.asked").is_empty(), "{}", told.said);
    let report = &told.lines.last().expect("a report")["report"];
    let questions = report["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 1, "{report}");
    assert_eq!(questions[0]["rule"], "baseline.cannot_run");
    let text = questions[0]["text"].as_str().unwrap_or_default();
    for part in ["exit 3", "no registry", "[workspace]", "set-up command"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(states(&place).is_empty());
    assert_eq!(place.git(&repo, &["worktree", "list"]).lines().count(), 1, "nobody began");
}

#[test]
fn what_cargo_has_downloaded_is_there_without_a_network() {
    let place = Place::new();
    let script = script(
        "src/lib.rs",
        "pub fn text(n: u32) -> String {\n    itoa::Buffer::new().format(n).to_owned()\n}\n",
    );
    let files = [
        (".gitignore", "target/\n"),
        (
            "Cargo.toml",
            "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nitoa = \"1\"\n[workspace]\n",
        ),
        ("tests/it.rs", "#[test]\nfn it() { assert_eq!(own::text(7), \"7\"); }\n"),
    ];
    let (repo, script) = repository(&place, &files, &script);
    put(&repo, "src/lib.rs", "");
    if !did(&repo, "cargo", &["generate-lockfile", "--offline"]) {
        return;
    }
    std::fs::remove_dir_all(repo.join("src")).expect("it was there");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Lock"]);
    let told = Told::of(&place, &run(&repo, &script, "Write the function text in src/lib.rs"));
    assert_eq!(told.status(), "done", "{}", told.said);
}

#[test]
fn what_go_has_downloaded_is_there_without_a_network() {
    let place = Place::new();
    if !did(place.path(), "go", &["version"]) {
        return;
    }
    let files = [
        ("go.mod", "module own\n\ngo 1.18\n"),
        (
            "own_test.go",
            "package own\nimport \"testing\"\nfunc TestIt(t *testing.T) { if Double(2) != 4 { t.Fatal(Double(2)) } }\n",
        ),
    ];
    let script = script("own.go", "package own\n\nfunc Double(n int) int { return n * 2 }\n");
    let (repo, script) = repository(&place, &files, &script);
    let told = Told::of(&place, &run(&repo, &script, "Write the function Double in own.go"));
    assert_eq!(told.status(), "done", "{}", told.said);
}
