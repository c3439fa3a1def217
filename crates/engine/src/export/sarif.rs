//! The findings of a run as SARIF 2.1.0: findings in diffs, doubts about evidence, checks that did not pass. Findings
//! in a replaced attempt are reported as notes, since they are not in the result.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use types::{
    AttemptId, AttemptResult, Envelope, Event, Fault, Finding, FindingKind, Subject, TaskId,
};

use super::checks::{Checked, checked};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The output lines of a check that are included in a message.
const LAST_LINES: usize = 20;

/// The SARIF log of a run, from its lines.
#[must_use]
pub fn sarif(lines: &[Envelope], version: &str) -> Value {
    let own: Vec<&Envelope> = lines.iter().filter(|line| line.attempt.is_none()).collect();
    let last = last_attempts(&own);
    let mut results = Vec::new();
    for line in &own {
        match &line.event {
            Event::AttemptFinished {
                attempt,
                result: AttemptResult::Submitted { findings, .. },
                ..
            } => {
                let told = findings.0.iter().map(|one| found(attempt, one, &last));
                results.extend(told);
            }
            Event::TaskRejected { attempt, fault } if fault.code.starts_with("evidence.") => {
                results.push(doubt(attempt, fault, &last));
            }
            _ => {}
        }
    }
    let failed = checked(lines).into_iter().filter(|one| !one.end.passed());
    results.extend(failed.map(|one| failed_check(&one)));
    let mut rules: Vec<(String, &'static str)> = Vec::new();
    for result in &mut results {
        let id = result["ruleId"].as_str().unwrap_or_default().to_owned();
        let place = rules.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            rules.push((id.clone(), described(&id)));
            rules.len() - 1
        });
        result["ruleIndex"] = json!(place);
    }
    let rules: Vec<Value> = rules
        .iter()
        .map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } }))
        .collect();
    let run = own.first().map(|line| line.run.to_string()).unwrap_or_default();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "bosun", "version": version, "rules": rules } },
            "automationDetails": { "id": format!("bosun/{run}") },
            "originalUriBaseIds": { "SRCROOT": {
                "description": { "text": "The root of the repository" },
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// The last attempt at each task, whose findings count.
fn last_attempts<'a>(own: &[&'a Envelope]) -> BTreeMap<&'a TaskId, u32> {
    let mut last = BTreeMap::new();
    for line in own {
        if let Event::AttemptStarted { attempt, .. } = &line.event {
            last.insert(&attempt.task, attempt.n);
        }
    }
    last
}

fn found(attempt: &AttemptId, finding: &Finding, last: &BTreeMap<&TaskId, u32>) -> Value {
    let mut text = format!("{attempt} {} {}", finding.kind.says(), finding.path);
    if !finding.line.is_empty() {
        text = format!("{text}: {}", finding.line.trim());
    }
    let mut result = result(&format!("finding.{}", kind(finding.kind)), &text, "warning");
    result["locations"] = json!([location(finding.path.as_str())]);
    of_attempt(result, attempt, last)
}

fn doubt(attempt: &AttemptId, fault: &Fault, last: &BTreeMap<&TaskId, u32>) -> Value {
    let evidence = if fault.evidence.is_empty() { "" } else { "\n\n" };
    let text = format!("{attempt}: {}{evidence}{}", fault.what, fault.evidence);
    of_attempt(result(&fault.code, &text, "warning"), attempt, last)
}

fn failed_check(one: &Checked<'_>) -> Value {
    let (name, place, ended) = (&one.what.name, one.place(), one.end.ended);
    let why = one.end.cannot_run.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    let tail = one.tail(LAST_LINES);
    let text = format!("{name} did not pass on {place}: {ended}{why}\n\n{tail}");
    // The base was already like that.
    let level = if *one.on == Subject::Base { "note" } else { "error" };
    let mut result = result("check.failed", text.trim_end(), level);
    result["properties"] = json!({
        "tree": one.tree(),
        "commit": one.commit,
        "command": one.what.command,
        "failing": one.end.tests.as_ref().map(|tests| &tests.failing),
    });
    result
}

fn result(rule: &str, text: &str, level: &str) -> Value {
    json!({ "ruleId": rule, "level": level, "message": { "text": text } })
}

fn of_attempt(mut result: Value, attempt: &AttemptId, last: &BTreeMap<&TaskId, u32>) -> Value {
    let replaced = last.get(&attempt.task) != Some(&attempt.n);
    if replaced {
        result["kind"] = json!("informational");
        result["level"] = json!("none");
    }
    result["properties"] = json!({ "attempt": attempt, "replaced": replaced });
    result
}

fn location(path: &str) -> Value {
    let artifact = json!({ "uri": encoded(path), "uriBaseId": "SRCROOT" });
    json!({ "physicalLocation": { "artifactLocation": artifact } })
}

/// A path as a relative URI reference.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The serialized name of a kind of finding.
fn kind(kind: FindingKind) -> String {
    let word = serde_json::to_value(kind).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn described(rule: &str) -> &'static str {
    match rule {
        "check.failed" => "A check failed",
        rule if rule.starts_with("evidence.") => "The evidence for the result is in doubt",
        _ => "A part of the diff that a person should review",
    }
}

#[cfg(test)]
mod tests {
    use types::FaultClass;

    use super::*;
    use crate::Run;
    use crate::testing::{Bench, planned};

    fn results(bench: &Bench<Run>) -> Vec<Value> {
        let log = sarif(&bench.lines(), "1.2.3");
        log["runs"][0]["results"].as_array().expect("a list").clone()
    }

    #[test]
    fn findings_name_their_file_and_what_was_replaced_is_information() {
        let mut bench = planned("T1 src/é.rs");
        bench.tell("T1.1 hands in src/é.rs !early_exit\ncheck T1.1/0 exits 1\ntimer T1 fires");
        bench.tell("T1.2 hands in src/é.rs !stub");
        let attempt = AttemptId::new("T1".parse().expect("a task"), 2);
        let fault = Fault::new(FaultClass::Semantic, "evidence.signs", "its checks pass, but")
            .with_evidence("src/a.rs: the line");
        bench.log.push((Event::TaskRejected { attempt, fault }, bench.now));
        let found = results(&bench);
        let told: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (one["ruleId"].as_str().unwrap_or(""), one["level"].as_str().unwrap_or("")))
            .collect();
        let wanted = [
            ("finding.early_exit", "none"),
            ("finding.stub", "warning"),
            ("evidence.signs", "warning"),
            ("check.failed", "error"),
        ];
        assert_eq!(told, wanted);
        assert_eq!(found[0]["kind"], "informational");
        let uri = &found[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "src/%C3%A9.rs");
        assert!(found[2]["message"]["text"].as_str().is_some_and(|text| text.contains("the line")));
    }

    #[test]
    fn a_path_is_a_relative_reference() {
        assert_eq!(encoded("src/a b#1/é.py"), "src/a%20b%231/%C3%A9.py");
    }
}
