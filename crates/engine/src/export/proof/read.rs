//! Reads the statements of a proof and compares them with each other. Needs no journal and no repository, and does not
//! check signatures: the caller that opened the envelopes has done so.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{Digest, Status, Timestamp, Weighed};

use super::{RUN, STATEMENT, SVR, TEST_RESULT, property};

/// The result of reading a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    pub claims: Claims,
    /// The payloads of the run: its own statement first.
    pub parts: Vec<usize>,
    /// Payloads about something else.
    pub others: usize,
    /// Every inconsistency between the statements.
    pub problems: Vec<String>,
}

/// The run predicate, as far as it is read back. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub bosun: Version,
    pub run: RunClaim,
    pub result: ResultClaim,
    pub policy: PolicyClaim,
    pub models: Vec<String>,
    pub tasks: Vec<TaskClaim>,
    pub gates: Vec<GateClaim>,
    pub questions: Vec<QuestionClaim>,
    pub logs: Vec<LogClaim>,
    pub statements: Vec<PartClaim>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunClaim {
    pub id: String,
    pub goal: String,
    pub status: Status,
    pub started_on: Timestamp,
    pub finished_on: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultClaim {
    pub branch: String,
    pub git_commit: String,
    pub git_tree: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyClaim {
    pub name: String,
    pub digest: Sha256,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sha256 {
    pub sha256: Digest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskClaim {
    pub id: String,
    pub title: String,
    pub evidence: Option<Weighed>,
    /// Who accepted the result in spite of which doubt.
    #[serde(default)]
    pub accepted: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateClaim {
    pub phase: String,
    pub go: bool,
    pub score: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionClaim {
    pub question: String,
    pub answer: String,
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogClaim {
    pub log: String,
    pub lines: u64,
    pub head: Sha256,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartClaim {
    pub predicate_type: String,
    pub git_commit: String,
    pub digest: Sha256,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// Reads the payloads of a bundle. An error says why they do not prove one run.
pub fn examine(payloads: &[&[u8]]) -> Result<Examined, String> {
    let mut read = Vec::new();
    for (payload, place) in payloads.iter().zip(1..) {
        let value: Value = serde_json::from_slice(payload)
            .map_err(|error| format!("payload {place} is not JSON: {error}"))?;
        read.push(value);
    }
    let of_a_run = |value: &Value| value["predicateType"] == RUN;
    let own: Vec<usize> = (0..read.len()).filter(|place| of_a_run(&read[*place])).collect();
    let [own] = own.as_slice() else {
        return Err(format!(
            "it has {} about a run instead of exactly one",
            types::count(own.len(), "statement")
        ));
    };
    let statement = &read[*own];
    let claims: Claims = serde_json::from_value(statement["predicate"].clone())
        .map_err(|error| format!("the statement about the run cannot be read: {error}"))?;
    let mut parts = vec![*own];
    let mut problems = about_result("the statement about the run", statement, &claims.result);
    for wanted in &claims.statements {
        let fits = |payload: &&[u8]| Digest::of(payload) == wanted.digest.sha256;
        let Some(place) = payloads.iter().position(fits) else {
            problems.push(format!("a statement that the run names is missing: {}", called(wanted)));
            continue;
        };
        problems.extend(part(&read[place], wanted, &claims));
        parts.push(place);
    }
    if !claims.statements.iter().any(|one| one.predicate_type == SVR) {
        problems.push("the statement about the gates is missing".to_owned());
    }
    let others = (0..payloads.len()).filter(|place| !parts.contains(place)).count();
    Ok(Examined { claims, parts, others, problems })
}

fn called(part: &PartClaim) -> String {
    match (&part.tree, &part.check) {
        (Some(tree), Some(check)) => format!("check {check} on {tree}"),
        _ => part.predicate_type.clone(),
    }
}

/// Checks that a statement is about the run's result commit.
fn about_result(what: &str, statement: &Value, result: &ResultClaim) -> Vec<String> {
    let mut problems = form(what, statement);
    let digest = &statement["subject"][0]["digest"];
    if digest["gitCommit"] != result.git_commit.as_str() {
        problems.push(format!("{what} is about a different commit than the run's result"));
    }
    if digest["gitTree"] != result.git_tree.as_str() {
        problems.push(format!("{what} names a different tree than the run's result"));
    }
    problems
}

fn form(what: &str, statement: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    if statement["_type"] != STATEMENT {
        problems.push(format!("{what} is not an in-toto statement"));
    }
    if statement["subject"].as_array().map(Vec::len) != Some(1) {
        problems.push(format!("{what} is not about exactly one commit"));
    }
    problems
}

fn part(statement: &Value, wanted: &PartClaim, claims: &Claims) -> Vec<String> {
    let what = called(wanted);
    let mut problems = Vec::new();
    if statement["predicateType"] != wanted.predicate_type.as_str() {
        problems.push(format!("{what} has a different type than the run states"));
    }
    if statement["subject"][0]["digest"]["gitCommit"] != wanted.git_commit.as_str() {
        problems.push(format!("{what} is about a different commit than the run states"));
    }
    match wanted.predicate_type.as_str() {
        SVR => {
            problems.extend(about_result(&what, statement, &claims.result));
            problems.extend(gates(&statement["predicate"], claims));
        }
        TEST_RESULT => {
            problems.extend(form(&what, statement));
            let predicate = &statement["predicate"];
            if predicate["result"].as_str() != wanted.result.as_deref() {
                problems.push(format!("{what} has a different result than the run states"));
            }
            let merged = wanted.tree.as_deref() == Some("merged");
            if merged && wanted.git_commit != claims.result.git_commit {
                problems.push(format!("{what} did not check the run's result"));
            }
        }
        _ => problems.push(format!("{what} has an unknown type")),
    }
    problems
}

fn gates(predicate: &Value, claims: &Claims) -> Vec<String> {
    let mut problems = Vec::new();
    let listed = predicate["properties"].as_array().map(Vec::as_slice).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.iter().filter_map(Value::as_str).collect();
    let passed = claims.gates.iter().filter(|gate| gate.go).map(|gate| property(&gate.phase));
    let passed: BTreeSet<String> = passed.collect();
    if listed != passed.iter().map(String::as_str).collect() {
        problems.push("the passed gates are not those that the run states".to_owned());
    }
    let policy = claims.policy.digest.sha256.to_string();
    if predicate["verifier"]["policy"]["digest"]["sha256"] != policy.as_str() {
        problems.push("the gates were judged by a different policy than the run states".to_owned());
    }
    problems
}
