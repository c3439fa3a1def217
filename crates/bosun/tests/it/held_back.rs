//! Hidden checks and hidden documents: what agents can find of them, with the real binary in its real sandbox.

use crate::binary::Place;
use crate::commands::run;
use crate::stage::{Told, put, repository};

/// A coder that looks for what is held back, in every place where it could be.
const NOSY: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "One", artifacts = ["one.txt"] }] }
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
call = { tool = "shell", command = "LOOK" }
[[attempt.reply]]
call = { tool = "read_file", path = ".bosun/policy.toml" }
[[attempt.reply]]
call = { tool = "write_file", path = "one.txt", content = "1\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// Everything that agents and ordinary checks were shown.
fn shown(place: &Place, told: &Told) -> String {
    let calls: Vec<String> = told.lines.iter().map(ToString::to_string).collect();
    let log = place.command(&["log", told.id(), "--jsonl"]).output().expect("a log");
    let transcript = place.command(&["transcript", told.id()]).output().expect("a transcript");
    let text = [log.stdout, transcript.stdout].concat();
    calls.join("\n") + &String::from_utf8_lossy(&text)
}

#[test]
fn a_hidden_check_outside_of_the_repository_runs_and_no_agent_finds_it() {
    let place = Place::new();
    let acceptance = place.path().join("acceptance");
    put(&acceptance, "run.sh", "# CANARY-SCRIPT\nset -e\n. \"$(dirname \"$0\")/wanted\"\n");
    put(&acceptance, "wanted", "test \"$(cat one.txt)\" = 1\n");
    let at = acceptance.canonicalize().expect("a folder").display().to_string();
    // The folder is even granted to all commands, as a toolchain would be.
    let policy = format!(
        "[workspace]\nvisible = [\"{at}\"]\n[[checks]]\nname = \"tests\"\n\
         command = \"sh test.sh\"\n[[checks]]\nname = \"CANARY-NAME\"\n\
         command = \"sh {at}/run.sh\"\nhidden = true\n"
    );
    let look = format!(
        "cat .bosun/policy.toml; git show HEAD:.bosun/policy.toml; git log -p; \
         cat {at}/run.sh; ls {at}; true"
    );
    let test = format!("cat .bosun/policy.toml {at}/run.sh; true\n");
    let files = [("test.sh", test.as_str()), (".bosun/policy.toml", policy.as_str())];
    let (repo, script) = repository(&place, &files, &NOSY.replace("LOOK", &look));
    place.trust(&repo);
    let policy = repo.join(".bosun/policy.toml");
    let mut args = run(&repo, &script, "Write 1 to one.txt");
    let policy = policy.to_str().expect("a path").to_owned();
    args.extend(["--policy", &policy]);
    let told = Told::of(&place, &args);
    assert_eq!(told.status(), "done", "{}", told.said);
    let ends = told.events("tool.finished");
    assert!(ends.len() >= 2, "{ends:?}");
    let all = shown(&place, &told);
    assert!(!all.contains("CANARY-SCRIPT"), "the script was shown");
    for end in ends {
        assert!(!end.to_string().contains("CANARY"), "{end}");
    }
    assert!(told.outputs().iter().all(|text| !text.contains("CANARY")), "{:?}", told.outputs());
}

#[test]
fn a_hidden_document_is_not_read_from_the_history() {
    let place = Place::new();
    let look = "cat context/secret.md; git show HEAD~1:context/secret.md; git log -p --all; \
                git cat-file --batch-all-objects --batch; true";
    let files = [("test.sh", "true\n"), ("context/secret.md", "CANARY-DOCUMENT\n")];
    let (repo, script) = repository(&place, &files, &NOSY.replace("LOOK", look));
    // It is gone from the tree, not from the objects.
    place.git(&repo, &["rm", "--quiet", "-r", "context"]);
    place.git(&repo, &["commit", "--quiet", "--message=Remove it"]);
    let told = Told::of(&place, &run(&repo, &script, "Write 1 to one.txt"));
    assert_eq!(told.status(), "done", "{}", told.said);
    assert!(!told.events("tool.finished").is_empty());
    assert!(!shown(&place, &told).contains("CANARY-DOCUMENT"), "the document was shown");
}
