//! The presets `strict` and `audited` from one end to the other, as the programs of their documents would see them.

use std::collections::BTreeSet;

use engine::projection::{AuditLog, StrictLog};
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

fn words(records: &[Value], key: &str) -> Vec<String> {
    records.iter().map(|record| record[key].as_str().unwrap_or_default().to_owned()).collect()
}

/// M25, M26, M37: every step is one record, in order, with its four keys.
#[test]
fn a_strict_run_is_told_step_by_step() {
    let records = strictly(&played("strict/example.toml"));
    assert_eq!(
        words(&records, "type"),
        ["start", "plan", "patch", "test_result", "patch", "test_result", "end"]
    );
    for record in &records {
        let keys: Vec<&String> = record.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["ts", "role", "type", "data"]);
    }
    assert_eq!(records[1]["data"]["plan_id"], "plan_0001");
    assert_eq!(records[2]["data"].to_string(), r#"{"task_id":"T1","files":["src/stats.py"]}"#);
    assert_eq!(
        records[3]["data"].to_string(),
        r#"{"task_id":"T1","passed":true,"report":"=== 5 passed in 0.12s ==="}"#
    );
    assert_eq!(records[6]["data"]["status"], "complete");
}

/// M38: the last test result is false, and the run ends with an error.
#[test]
fn a_strict_run_that_fails_says_so_in_its_last_records() {
    let records = strictly(&played("strict/halts.toml"));
    assert_eq!(words(&records, "type"), ["start", "plan", "patch", "test_result", "error", "end"]);
    assert_eq!(records[3]["data"]["passed"], false);
    assert_eq!(records[5]["data"]["status"], "error");
}

/// M35, M40: a reply that is no JSON is told with its beginning, an agent's own error with its reason.
#[test]
fn what_agents_get_wrong_is_told() {
    let records = strictly(&played("strict/prose.toml"));
    assert_eq!(words(&records, "type")[1], "json_parse_error");
    assert!(records[1]["data"]["text"].as_str().is_some_and(|text| text.starts_with("Here is")));
    let records = strictly(&played("strict/out_of_order.toml"));
    assert_eq!(words(&records, "type")[1], "validation_error");
    let records = strictly(&played("strict/agent_error.toml"));
    assert_eq!(records[2]["data"]["reason"], "names.txt is needed and is not in artifacts");
}

/// M28, C11, C34: the same run twice is the same, to the byte; nothing is remembered between them.
#[test]
fn the_same_run_twice_is_the_same_to_the_byte() {
    for name in ["strict/example.toml", "audited/product.toml"] {
        let (once, again) = (played(name), played(name));
        let text = |played: &Played| {
            let lines = played.lines.iter().map(|line| serde_json::to_string(line).expect("JSON"));
            let told = strictly(played).into_iter().chain(audited(played));
            let told = told.map(|record| record.to_string());
            // Where the repository lies is another folder each time.
            lines.skip(1).map(|line| without_prev(&line)).chain(told).collect::<Vec<_>>()
        };
        assert_eq!(text(&once), text(&again), "{name}");
        assert_eq!(once.executed, again.executed, "{name}");
    }
}

/// The hash of the line before depends on the first line, which names the folder.
fn without_prev(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    line.as_object_mut().expect("an object").remove("prev");
    if let Some(data) = line["data"].as_object_mut() {
        data.remove("log_head");
    }
    line.to_string()
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

/// C57: a routing record says which version of which doctrine, which rule, how sure, which manifest, which documents.
#[test]
fn a_routing_record_has_its_provenance() {
    let records = audited(&played("audited/product.toml"));
    let found = records.iter().find(|record| record["eventType"] == "classification");
    let data = &found.expect("there is one")["data"];
    assert_eq!(data["doctrine_version"], "audited 1");
    assert_eq!(data["rule_applied"], "route.business");
    assert_eq!(data["classification_confidence"], "heuristic");
    assert_eq!(data["manifest_selected"], "product");
    assert_eq!(data["context_injected"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["context_excluded"][0]["rule"], "context.not_in_force");
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
