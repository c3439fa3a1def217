//! The presets `strict` and `audited` from end to end, as the programs of their documents would see them.

use std::collections::BTreeSet;

use engine::export::{AuditLog, StrictLog};
use serde_json::Value;
use testkit::{Played, Scenario, play, scenarios};

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

pub(crate) fn words(records: &[Value], key: &str) -> Vec<String> {
    records.iter().map(|record| record[key].as_str().unwrap_or_default().to_owned()).collect()
}

/// M25, M26, M37: every step is one record, in order, with its four keys.
#[test]
fn a_strict_run_is_told_step_by_step() {
    let records = strictly(&played("strict/example.toml"));
    let task = ["patch", "command", "test_result", "evidence"];
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

/// M35, M40: a reply that is not JSON is recorded with its beginning, an agent's own error with its reason.
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

/// M28, C11, C34: two equal runs are identical, byte for byte; nothing is remembered between them.
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

/// The ten checks of document 004 on an audit log; returns those that fail.
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

/// C54, C55, C57: the ten checks pass, and the number of records named in the document is exact.
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

/// C14, C57: a routing record names the doctrine and its version, rule, confidence, manifest and documents.
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
    // The documents that each agent was actually given.
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

/// C31, C32: an escalation has its status, and a package with the agent's words or attempted action.
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

/// C28, C49: retries and calls are recorded with their details.
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
