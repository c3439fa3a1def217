//! Layered settings, trust in a repository's own files, and mistakes that are detected before anything starts.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};
use crate::stage::put;

/// A command with its own configuration folder, and without API keys.
fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    let keys = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];
    for name in keys {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", place.path().join("config"));
    command
}

fn output(place: &Place, args: &[&str]) -> Output {
    command(place, args).output().expect("the binary runs")
}

fn own(place: &Place, name: &str, text: &str) -> PathBuf {
    put(place.path(), &format!("config/bosun/{name}"), text);
    place.path().join("config/bosun").join(name)
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    own(&place, "config.toml", "[roles.planner]\nmodel = \"ollama/big\"\n");
    own(
        &place,
        "models.toml",
        "default = \"ollama/small\"\n[providers.x.headers]\nkey = \"hush\"\n",
    );
    put(&repo, ".bosun/config.toml", "checks = [\"sh test.sh\"]\n");
    let folder = repo.to_str().expect("a plain path");
    let args = ["config", "show", "--origin", "--repo", folder];
    let untrusted = output(&place, &args);
    assert!(!stdout(&untrusted).contains("checks"), "{}", stdout(&untrusted));
    assert!(stderr(&untrusted).contains("bosun trust"), "{}", stderr(&untrusted));
    place.trust(&repo);
    let mut shown = command(&place, &args);
    let shown = stdout(&shown.env("BOSUN_EFFORT", "low").output().expect("the binary runs"));
    for line in [
        "model = \"ollama/small\"    # user (",
        "roles.planner.model = \"ollama/big\"    # user (",
        "checks = [\"sh test.sh\"]    # project (",
        "effort = \"low\"    # environment (the variable BOSUN_EFFORT)",
        "breaker.failures = 5    # built in",
        "providers.x.headers.key = \"[not shown]\"",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let json = stdout(&output(&place, &["config", "show", "--json", "--repo", folder]));
    let values: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(values.iter().any(|one| one["key"] == "model" && one["layer"] == "user"), "{json}");
    assert!(!json.contains("hush"), "{json}");
    let paths = stdout(&output(&place, &["config", "path", "--repo", folder]));
    assert_eq!(paths.lines().filter(|line| line.contains(" read ")).count(), 3, "{paths}");
    let without = ["--no-project", "config", "path", "--repo", folder];
    let paths = stdout(&output(&place, &without));
    assert!(paths.contains("project         ignored "), "{paths}");
}

#[test]
fn a_mistake_in_a_file_is_named_with_its_line() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    for (name, text, said) in [
        (
            "config.toml",
            "effort = \"low\"\nmodle = \"a/b\"\n",
            "line 2: unknown key modle; did you mean model?",
        ),
        (
            "config.toml",
            "[roles.plannr]\nmodel = \"a/b\"\n",
            "line 2: there is no role \"plannr\"; did you mean planner?",
        ),
        ("policy.toml", "[limits]\nparallel_task = 1\n", "parallel_task"),
    ] {
        let file = own(&place, name, text);
        let output = output(&place, &run(&repo, &script, "Write hello to greeting.txt"));
        assert_eq!(output.status.code(), Some(65), "{}", stderr(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        std::fs::remove_file(file).expect("it was there");
    }
}

/// Records can be read with a broken configuration, and a missing plan is reported before a missing model.
#[test]
fn a_broken_configuration_does_not_keep_anybody_from_the_records() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let ran = output(&place, &run(&repo, &script, "Write hello to greeting.txt"));
    assert!(ran.status.success(), "{}", stderr(&ran));
    let folder = repo.to_str().expect("a plain path");
    let missing =
        output(&place, &["run", "--repo", folder, "--plan", "nowhere.yaml", "Say hello in a.txt"]);
    assert!(stderr(&missing).contains("nowhere.yaml"), "{}", stderr(&missing));
    own(&place, "config.toml", "modle = \"a/b\"\n");
    let listed = output(&place, &["list", "-q"]);
    assert_eq!(stdout(&listed).lines().count(), 1, "{}", stderr(&listed));
    assert!(listed.status.success() && stderr(&listed).contains("modle"), "{}", stderr(&listed));
}

/// The user's own policy applies whatever a repository says, and instructions reach every agent.
#[test]
fn the_persons_own_policy_and_instruction_hold_in_every_repository() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    own(&place, "policy.toml", "[budget]\ntokens = 10\n");
    own(&place, "config.toml", "instruction = \"Greet politely.\"\n");
    put(&repo, ".bosun/policy.toml", "[budget]\ntokens = 100000\n");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Rules"]);
    place.trust(&repo);
    let goal = run(&repo, &script, "Write hello to greeting.txt");
    let few = output(&place, &goal);
    assert_eq!(few.status.code(), Some(5), "ten tokens are too few: {}", stdout(&few));
    std::fs::remove_file(place.path().join("config/bosun/policy.toml")).expect("it was there");
    let done = output(&place, &[goal.as_slice(), &["--json"]].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    let told = stdout(&done);
    assert!(told.contains("# From the person\\n\\nGreet politely."), "{told}");
    let flag = [goal.as_slice(), &["--json", "--instruction", "Greet twice."]].concat();
    assert!(stdout(&output(&place, &flag)).contains("Greet twice."), "a flag is stronger");
}

#[test]
fn nothing_of_a_repository_takes_effect_before_it_is_trusted() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    put(&repo, ".bosun/prompts/coder.md", "You are a stranger's coder.\n");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Prompts"]);
    let goal = run(&repo, &script, "Write hello to greeting.txt");
    let refused = output(&place, &goal);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    let said = stderr(&refused);
    assert!(said.contains(".bosun/prompts/coder.md") && said.contains("bosun trust "), "{said}");
    let without = output(&place, &[goal.as_slice(), &["--no-project", "--json"]].concat());
    assert!(without.status.success(), "{}", stderr(&without));
    assert!(!stdout(&without).contains("a stranger's coder"));
    place.trust(&repo);
    let trusted = output(&place, &[goal.as_slice(), &["--json"]].concat());
    assert!(stdout(&trusted).contains("a stranger's coder"), "{}", stderr(&trusted));
    put(&repo, ".bosun/config.toml", "[providers.openai]\nbase_url = \"http://evil.test\"\n");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Settings"]);
    assert_eq!(output(&place, &goal).status.code(), Some(5), "it was changed");
    place.trust(&repo);
    let too_much = output(&place, &goal);
    assert_eq!(too_much.status.code(), Some(65), "{}", stderr(&too_much));
    assert!(stderr(&too_much).contains("a project may not set providers.openai.base_url"));
    let listed = stdout(&output(&place, &["trust", "--list"]));
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(output(&place, &["trust", "--revoke", repo.to_str().expect("text")]).status.success());
    assert_eq!(stdout(&output(&place, &["trust", "--list"])), "");
}

/// Mistakes of the first hour: each is one line with the way out, and nothing is started.
#[test]
fn a_model_that_cannot_be_asked_is_found_before_anything_starts() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    let folder = repo.to_str().expect("a plain path");
    for (model, code, said) in [
        ("antropic/claude-opus-5-5", 2, "did you mean anthropic/claude-opus-5-5?"),
        ("nobody/x", 2, "known are anthropic"),
        ("anthropic/claude-opus-5-5", 2, "set ANTHROPIC_API_KEY"),
        ("azure/my-gpt", 2, "set AZURE_OPENAI_ENDPOINT"),
        ("local/x", 75, "no server for local/x at http://127.0.0.1:9"),
    ] {
        let args = ["run", "Write hello to greeting.txt", "--repo", folder, "--model", model];
        let mut command = command(&place, &args);
        let output =
            command.env("LOCAL_BASE_URL", "http://127.0.0.1:9/v1").output().expect("it runs");
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{model}: {told}");
        assert!(told.contains(said) && told.trim_end().lines().count() == 1, "{model}: {told}");
    }
    let args = ["run", "Write it", "--repo", folder, "--preset", "solo", "--planner-model", "a/b"];
    let no_role = output(&place, &args);
    assert_eq!(no_role.status.code(), Some(2), "{}", stderr(&no_role));
    assert!(stderr(&no_role).contains("--planner-model: the policy has no role planner"));
    assert_eq!(stdout(&output(&place, &["list"])), "", "nothing was started");
}

#[test]
fn a_repository_is_looked_at_and_its_settings_are_written_and_trusted() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let folder = repo.to_str().expect("a plain path");
    let made = output(&place, &["init", "--yes", "--repo", folder]);
    assert!(stdout(&made).contains("wrote  .bosun/config.toml"), "{}", stdout(&made));
    let text = std::fs::read_to_string(repo.join(".bosun/config.toml")).expect("a file");
    assert!(text.contains("\nchecks = [\"") && text.contains("# model = "), "{text}");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Rules"]);
    let done = output(&place, &run(&repo, &script, "Write hello to greeting.txt"));
    assert!(done.status.success(), "{}{}", stdout(&done), stderr(&done));
    let doctor = output(&place, &["doctor", "--json", "--repo", folder]);
    let findings: Vec<Value> =
        stdout(&doctor).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let find = |what: &str| findings.iter().find(|one| one["what"] == what).unwrap_or(&Value::Null);
    assert_eq!(find("uncommitted changes")["good"], true, "{findings:?}");
    assert_eq!(find("project files")["good"], true, "{findings:?}");
    assert_eq!(find("configuration")["good"], true, "{findings:?}");
    put(&repo, "new.txt", "x\n");
    let doctor = output(&place, &["doctor", "--repo", folder]);
    let said = stdout(&doctor);
    assert!(
        said.contains("uncommitted changes in new.txt are not part of a run; --with-changes"),
        "{said}"
    );
}

/// The doctor checks the model that a project sets, and reports a mistake in a file once, with its place.
#[test]
fn the_doctor_looks_at_the_settings_that_a_run_would_have() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    put(&repo, "Cargo.lock", "version = 4\n");
    put(&repo, ".bosun/config.toml", "model = \"antropic/x\"\nchecks = [\"no-such-tool -x\"]\n");
    place.trust(&repo);
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Settings"]);
    let args = ["doctor", "--repo", repo.to_str().expect("a plain path")];
    let said = stdout(&output(&place, &args));
    assert!(said.contains("there is no provider \"antropic\""), "{said}");
    assert!(said.contains("✘ check no-such-tool -x"), "{said}");
    // The repository does not tell where cargo keeps its downloads.
    assert!(said.contains("✔ set-up") && said.contains("✔ journal"), "{said}");
    own(&place, "config.toml", "[providers.box]\ndialect = \"chat\"\nkey_neded = false\n");
    let said = stdout(&output(&place, &args));
    assert!(said.contains("✘ configuration"), "{said}");
    assert_eq!(said.matches("did you mean key_needed?").count(), 1, "{said}");
}

/// A custom server is probed before a run, like the known ones.
#[test]
fn a_server_on_this_machine_that_does_not_answer_is_found_before_anything_starts() {
    let place = Place::new();
    let (repo, _) = repository(&place, SCRIPT);
    let provider = "dialect = \"chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_needed = false\n";
    own(&place, "config.toml", &format!("model = \"box/x\"\n[providers.box]\n{provider}"));
    let folder = repo.to_str().expect("a plain path");
    let refused = output(&place, &["run", "Write hello to greeting.txt", "--repo", folder]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(75), "{said}");
    assert!(said.contains("no server for box/x at http://127.0.0.1:9/v1"), "{said}");
    assert!(said.contains("the server at http://127.0.0.1:9 cannot be reached"), "{said}");
}

#[test]
fn a_catalogue_is_merged_into_the_persons_own() {
    let place = Place::new();
    put(place.path(), "new.toml", "[\"x/y\"]\nwindow = 5\n");
    let refreshed = output(&place, &["models", "--refresh", "new.toml"]);
    assert!(stdout(&refreshed).contains("1 new, 0 changed"), "{}", stdout(&refreshed));
    let listed = stdout(&output(&place, &["models"]));
    assert!(listed.contains("x/y") && listed.contains("unknown"), "{listed}");
    put(place.path(), "bad.toml", "[\"x/y\"]\nwindows = 5\n");
    let bad = output(&place, &["models", "--refresh", "bad.toml"]);
    assert_eq!(bad.status.code(), Some(65), "{}", stderr(&bad));
}
