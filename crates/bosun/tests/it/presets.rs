//! The presets `strict` and `audited` from one end to the other, as the programs of their documents would see them.

use std::collections::BTreeSet;

use engine::projection::{AuditLog, StrictLog};
use serde_json::Value;
use testkit::{Played, Scenario, play, scenarios};

use crate::binary::{Place, stderr, stdout};

fn played(name: &str) -> Played {
    let path = scenarios().join(name);
    let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(play(&scenario)).expect("it can be played")
}

fn strictly(played: &Played) -> Vec<Value> {
    let mut log = StrictLog::default();
    played.lines.iter().flat_map(|line| log.line(line)).collect()
}

fn audited(played: &Played) -> Vec<Value> {
    let mut log = AuditLog::default();
    played.lines.iter().flat_map(|line| log.line(line)).collect()
}

fn words(records: &[Value], key: &str) -> Vec<String> {
    records.iter().map(|record| record[key].as_str().unwrap_or_default().to_owned()).collect()
}

/// M25, M26, M37: every step is one record, in order, with its four keys.
#[test]
fn a_strict_run_is_told_step_by_step() {
    let records = strictly(&played("strict/example.toml"));
    let task = ["patch", "command", "test_result"];
    let expected = [&["start", "command", "plan"][..], &task, &task, &["command", "end"]].concat();
    assert_eq!(words(&records, "type"), expected);
    for record in &records {
        let keys: Vec<&String> = record.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["ts", "role", "type", "data"]);
    }
    assert_eq!(records[1]["data"]["on"], "base");
    assert_eq!(records[2]["data"]["plan_id"], "plan_0001");
    assert_eq!(records[3]["data"].to_string(), r#"{"task_id":"T1","files":["src/stats.py"]}"#);
    assert_eq!(
        records[4]["data"].to_string(),
        r#"{"on":"T1.1","command":"sh run_tests.sh","task_id":"T1","exit_code":0,"output":"=== 5 passed in 0.12s ===\n"}"#
    );
    assert_eq!(
        records[5]["data"].to_string(),
        r#"{"task_id":"T1","passed":true,"report":"=== 5 passed in 0.12s ===\n"}"#
    );
    assert_eq!(records.last().expect("an end")["data"]["status"], "complete");
}

/// M38: the last test result is false, and the run ends with an error.
#[test]
fn a_strict_run_that_fails_says_so_in_its_last_records() {
    let records = strictly(&played("strict/halts.toml"));
    assert_eq!(
        words(&records, "type"),
        [
            "start",
            "command",
            "plan",
            "patch",
            "command",
            "test_result",
            "correction",
            "error",
            "end"
        ]
    );
    assert_eq!(records[4]["data"]["exit_code"], 1);
    assert_eq!(records[5]["data"]["passed"], false);
    assert_eq!(records[5]["data"]["report"], records[4]["data"]["output"], "M21: it is computed");
    assert_eq!(records[6]["data"]["model_passed"], true);
    assert_eq!(records[6]["data"]["model_text"], "all good");
    assert_eq!(records[8]["data"]["status"], "error");
}

/// M35, M40: a reply that is no JSON is told with its beginning, an agent's own error with its reason.
#[test]
fn what_agents_get_wrong_is_told() {
    let records = strictly(&played("strict/prose.toml"));
    let find = |records: &[Value], kind: &str| {
        let found = records.iter().find(|record| record["type"] == kind);
        found.unwrap_or_else(|| panic!("no {kind} in {records:?}"))["data"].clone()
    };
    let text = find(&records, "json_parse_error");
    assert!(text["text"].as_str().is_some_and(|text| text.starts_with("Here is")));
    find(&strictly(&played("strict/out_of_order.toml")), "validation_error");
    let error = find(&strictly(&played("strict/agent_error.toml")), "error");
    assert_eq!(error["reason"], "names.txt is needed and is not in artifacts");
}

/// M28, C11, C34: the same run twice is the same, to the byte; nothing is remembered between them.
#[test]
fn the_same_run_twice_is_the_same_to_the_byte() {
    for name in ["strict/example.toml", "audited/product.toml"] {
        let (once, again) = (played(name), played(name));
        let told = |played: &Played| {
            let told = strictly(played).into_iter().chain(audited(played));
            told.map(|record| record.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(told(&once), told(&again), "{name}");
        assert_eq!(once.trace(), again.trace(), "{name}");
        assert_eq!(once.executed, again.executed, "{name}");
    }
}

/// The ten checks of document 004 on an audit log; what does not hold, if anything.
fn objections(records: &[Value], product: bool) -> Vec<String> {
    let kinds = words(records, "eventType");
    let place = |kind: &str| kinds.iter().position(|found| found == kind);
    let of_role = |role: &str| {
        records.iter().any(|record| {
            record["eventType"] == "agent_execution_start"
                && record["agentId"].as_str().is_some_and(|id| id.starts_with(role))
        })
    };
    let mut found = Vec::new();
    let mut hold = |holds: bool, what: &str| found.extend((!holds).then(|| what.to_owned()));
    hold(kinds.first().is_some_and(|kind| kind == "execution_start"), "starts right");
    hold(kinds.last().is_some_and(|kind| kind == "execution_end"), "ends right");
    let agents = |kind: &str| -> Vec<(usize, String)> {
        let of_kind = records.iter().enumerate().filter(|(_, one)| one["eventType"] == kind);
        of_kind.map(|(at, one)| (at, one["agentId"].to_string())).collect()
    };
    let destroyed = agents("agent_destroyed");
    let spawned = agents("agent_spawned");
    let later =
        |(at, id): &(usize, String)| destroyed.iter().any(|(end, other)| end > at && other == id);
    hold(spawned.iter().all(later), "every spawned agent is destroyed after it");
    hold(spawned.len() == destroyed.len(), "no agent is destroyed twice");
    let times = words(records, "timestamp");
    hold(times.windows(2).all(|pair| pair[0] <= pair[1]), "times do not go back");
    hold(place("classification").is_some(), "there is a classification");
    hold(place("product_skipped").is_some() != of_role("product"), "product is skipped or runs");
    hold(of_role("product") == product, "product runs where it should");
    hold(of_role("dev") && of_role("qa"), "dev and qa run");
    let ids: BTreeSet<String> = words(records, "taskId").into_iter().collect();
    hold(ids.len() == 1, "all records are of one task");
    found
}

/// C54, C55, C57: the ten checks pass, and the records of the document are exactly so many.
#[test]
fn an_audit_log_passes_the_ten_checks() {
    let of_the_document = [
        "execution_start",
        "agent_spawned",
        "classification",
        "agent_destroyed",
        "product_skipped",
        "agent_execution_start",
        "agent_execution_end",
        "execution_end",
    ];
    for (name, product, count) in
        [("audited/technical.toml", false, 14), ("audited/product.toml", true, 17)]
    {
        let records = audited(&played(name));
        assert_eq!(objections(&records, product), Vec::<String>::new(), "{name}");
        let kinds = words(&records, "eventType");
        let known = kinds.iter().filter(|kind| of_the_document.contains(&kind.as_str())).count();
        assert_eq!(known, count, "{name}: {kinds:?}");
    }
}

/// C14, C57: a routing record says which version of which doctrine, which rule, how sure, which manifest, which documents.
#[test]
fn a_routing_record_has_its_provenance() {
    let records = audited(&played("audited/product.toml"));
    let found = records.iter().find(|record| record["eventType"] == "classification");
    let data = &found.expect("there is one")["data"];
    assert_eq!(data["doctrine_version"], "audited 1");
    assert_eq!(data["rule_applied"], "route.business");
    assert_eq!(data["classification_confidence"], "heuristic");
    assert_eq!(data["manifest_selected"], "product");
    let refs = |list: &Value| words(list.as_array().expect("a list"), "ref");
    assert_eq!(refs(&data["context_injected"]), ["context/adr-2.md", "context/principles.md"]);
    assert_eq!(refs(&data["context_excluded"]), ["context/adr-1.md", "context/style.md"]);
    assert_eq!(data["context_excluded"][0]["rule"], "context.not_in_force");
    assert_eq!(data["context_excluded"][1]["side"], "dev");
    // What each agent was really given.
    let given = |role: &str| {
        let begun = records.iter().find(|record| {
            record["eventType"] == "agent_execution_start"
                && record["agentId"].as_str().is_some_and(|id| id.starts_with(role))
        });
        refs(&begun.expect("it ran")["data"]["injected_context"])
    };
    assert_eq!(given("product"), ["context/adr-2.md", "context/principles.md"]);
    let all = ["context/adr-2.md", "context/principles.md", "context/style.md"];
    assert_eq!((given("dev"), given("qa")), (all.map(str::to_owned).to_vec(), given("dev")));
}

/// C31, C32: what is escalated has its status, and a package with what the agent said or tried.
#[test]
fn an_escalation_is_on_record_with_what_was_tried() {
    for (name, tried) in [
        ("audited/beyond_scope.toml", "cat /etc/passwd"),
        ("audited/outside_workspace.toml", "../../../etc/passwd"),
        ("audited/registry_tried.toml", "context/adr-1.md"),
        ("audited/operator_says.toml", "a guest may be of a hotel"),
    ] {
        let records = audited(&played(name));
        let found = records.iter().find(|record| record["eventType"] == "escalation");
        let data = &found.unwrap_or_else(|| panic!("{name}: {records:?}"))["data"];
        assert_eq!(data["status"], "escalated", "{name}");
        let output = data["package"]["output"].as_str().expect("an output");
        assert!(output.contains(tried), "{name}: {output:?}");
        assert!(
            data["escalation_reason"].as_str().is_some_and(|why| why.contains(tried)),
            "{data}"
        );
    }
}

/// C28, C49: retries and calls are on record, with what they were.
#[test]
fn retries_and_calls_are_in_the_audit() {
    let records = audited(&played("audited/fresh.toml"));
    let retry = records.iter().find(|record| record["eventType"] == "retry").expect("a retry");
    assert_eq!(retry["data"]["retries_left"], 3);
    let records = audited(&played("audited/beyond_scope.toml"));
    let call = records.iter().find(|record| record["eventType"] == "tool_call").expect("a call");
    assert_eq!(call["data"]["args"]["command"], "cat /etc/passwd");
    assert_eq!(call["data"]["outcome"], "refused");
}

/// A strict project, committed, whose test is a script.
fn project(place: &Place, content: &str) -> std::path::PathBuf {
    let folder = place.path().join("project");
    let policies = "test_command: sh run_tests.sh\n";
    let goal = "goal: Add get_user_stats to src/stats.py\n";
    let test = "grep -q get_user_stats src/stats.py && echo '=== 5 passed in 0.12s ==='\n";
    let own = [
        ("config/policies.yaml", policies),
        ("config/tasks.yaml", goal),
        ("workspace/run_tests.sh", test),
    ];
    for (name, text) in runtime::presets::strict::LAYOUT.iter().chain(&own) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    place.git(&folder, &["init", "-q", "-b", "main"]);
    place.git(&folder, &["add", "-A"]);
    place.git(&folder, &["commit", "-q", "-m", "Start"]);
    let say = |role: &str, reply: &str| {
        format!("[[attempt]]\nrole = \"{role}\"\n[[attempt.reply]]\nsay = '''{reply}'''\n")
    };
    let script = [
        say(
            "planner",
            r#"{"plan_id":"plan_0001","tasks":[{"id":"T1","title":"Implement get_user_stats","rationale":"Wanted","acceptance":"It is there","artifacts":["src/stats.py"]}]}"#,
        ),
        say(
            "coder",
            &format!(r#"{{"edits":[{{"path":"src/stats.py","content":"{content}\n"}}]}}"#),
        ),
        say("tester", r#"{"task_id":"T1","passed":true,"report":"=== 5 passed in 0.12s ==="}"#),
    ];
    std::fs::write(place.path().join("script.toml"), script.concat()).expect("a file");
    folder
}

/// The binary with the network switched off.
#[expect(clippy::disallowed_methods, reason = "a test of the binary has to run it")]
fn without_network(place: &Place, args: &[&str]) -> std::process::Output {
    let plain = place.command(args);
    let mut command = std::process::Command::new("unshare");
    command.args(["-r", "-n"]).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(place.path()).output().expect("the binary runs")
}

const RUN: [&str; 7] =
    ["run", "--preset", "strict", "--repo", "project", "--script", "script.toml"];

/// M1, M9, M17, M25, M29, M33, M37: a project made by the layout runs from its own files with no network at all, and
/// leaves its log and its plan in `runs/`. C35, C48: no agent's workspace is left.
#[test]
fn a_strict_project_runs_offline_and_leaves_its_log() {
    let place = Place::new();
    let folder = project(&place, "def get_user_stats(data): pass");
    let run = without_network(&place, &RUN);
    assert!(run.status.success(), "{}\n{}", stdout(&run), stderr(&run));
    let runs: Vec<std::path::PathBuf> = std::fs::read_dir(folder.join("runs"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    let log = runs.iter().find(|path| path.to_string_lossy().ends_with(".log.jsonl"));
    let log = std::fs::read_to_string(log.expect("there is a log")).expect("a file");
    let records: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        words(&records, "type"),
        ["start", "command", "plan", "patch", "command", "test_result", "command", "end"]
    );
    let plan = std::fs::read_to_string(folder.join("runs/plan_0001.json")).expect("a plan");
    assert_eq!(serde_json::from_str::<Value>(&plan).expect("JSON"), records[2]["data"]);
    let left = std::fs::read_dir(place.home().join("worktrees")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no workspace is left");
    let status = place.git(&folder, &["status", "--porcelain"]);
    let (log, plan) = ("?? runs/2", "?? runs/plan_0001.json");
    let records = |line: &str| line.starts_with(log) || line == plan;
    assert!(status.lines().count() == 2, "the records are there, and git sees them: {status}");
    assert!(status.lines().all(records), "nothing of the user's is touched: {status}");
    let again = place.run(&RUN);
    assert!(again.status.success(), "records are no uncommitted work: {}", stderr(&again));
}

/// M29: a model on another machine is refused before anything begins, unless the person allows it; a local one is not.
#[test]
fn a_strict_run_asks_no_model_on_another_machine() {
    let place = Place::new();
    project(&place, "x");
    let with = |more: &[&str]| {
        let run = ["run", "--preset", "strict", "--repo", "project"];
        place.run(&[run.as_slice(), more].concat())
    };
    let refused = with(&["--model", "anthropic/claude-sonnet-4-5"]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("allow it with --online"), "{}", stderr(&refused));
    assert!(stdout(&refused).starts_with(r#"{"status":"error","reason":"#), "{}", stdout(&refused));
    // There is no key here, so that nothing is sent.
    let allowed = with(&["--online", "--model", "anthropic/claude-sonnet-4-5"]);
    assert_ne!(allowed.status.code(), Some(5), "{}", stderr(&allowed));
}

/// M33: what `init` advises can be copied, and the project can be worked on after it.
#[test]
fn the_advice_for_a_new_strict_project_works() {
    let place = Place::new();
    let folder = place.path().join("new");
    std::fs::create_dir(&folder).expect("a folder");
    place.git(&folder, &["init", "-q", "-b", "main"]);
    let init = place.run(&["init", "--preset", "strict", "--repo", "new"]);
    assert!(init.status.success(), "{}", stderr(&init));
    let said = stdout(&init);
    let advice = said.lines().find_map(|line| line.split_once("then: ")).expect("advice").1;
    let (add, commit) = advice.split_once(" && ").expect("two commands");
    let add: Vec<&str> = add.strip_prefix("git ").expect("git").split(' ').collect();
    place.git(&folder, &add);
    assert!(commit.starts_with("git commit -m "), "{commit}");
    place.git(&folder, &["commit", "-q", "-m", "Rules"]);
    assert_eq!(place.git(&folder, &["status", "--porcelain"]), "", "all of it is committed");
}

/// M16, M38: what fails is said as one object on standard output, and the exit code is not 0.
#[test]
fn a_strict_run_that_fails_ends_with_the_error_object() {
    let place = Place::new();
    project(&place, "# nothing");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    let said = stdout(&run);
    let last: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["status"], "error");
    assert!(
        last["reason"].as_str().is_some_and(|reason| reason.contains("did not pass")),
        "{last}"
    );
}

/// M16: the object is said once, after everything else, also where there is more to hand out or that fails.
#[test]
fn the_error_object_is_the_last_line_and_there_is_one() {
    let place = Place::new();
    project(&place, "# nothing");
    let objects = |run: &std::process::Output| -> Vec<Value> {
        let said = stdout(run);
        let lines = said.lines().filter(|line| line.starts_with('{'));
        lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let run = place.run(&[RUN.as_slice(), &["--response"]].concat());
    let said = objects(&run);
    assert_eq!(words(&said, "status"), ["failed", "error"], "{said:?}");
    let title = ["spec", "init", "s.yaml", "--title", "Add get_user_stats to src/stats.py"];
    assert!(place.run(&title).status.success());
    assert!(place.run(&["spec", "approve", "s.yaml"]).status.success());
    let out = ["--spec", "s.yaml", "--spec-out", "nowhere/s.yaml"];
    let run = place.run(&[RUN.as_slice(), &out].concat());
    let said = objects(&run);
    assert_eq!(words(&said, "status"), ["error"], "{said:?}");
    assert!(stdout(&run).ends_with("}\n"), "{}", stdout(&run));
    assert!(
        said[0]["reason"].as_str().is_some_and(|reason| reason.contains("nowhere")),
        "{said:?}"
    );
}

/// M1, M2: no goal, or a role that is missing, is an error as an object too.
#[test]
fn a_strict_project_without_a_goal_is_an_error() {
    let place = Place::new();
    let folder = project(&place, "x");
    std::fs::write(folder.join("config/tasks.yaml"), "goal:\n").expect("a file");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
    assert!(stdout(&run).starts_with(r#"{"status":"error","reason":"the goal is empty"#));
    std::fs::write(folder.join("config/agents.yaml"), "planner:\n  prompt: prompts/planner.md\n")
        .expect("a file");
    let run = place.run(&RUN);
    assert_eq!(run.status.code(), Some(65), "{}", stderr(&run));
    assert!(stdout(&run).contains("there is no coder in it"), "{}", stdout(&run));
}
