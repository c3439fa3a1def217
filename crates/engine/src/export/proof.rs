//! The result of a run as in-toto statements that can be signed and read without the journal: each check as a
//! `test-result`, the gates as `svr`, the run itself as our own predicate (`run-predicate.schema.json`). A fold over
//! the log: it signs nothing, reads no file, and does not vouch for the log.

mod read;

pub use read::{Claims, Examined, LogClaim, PartClaim, examine};

use serde_json::{Value, json};
use types::{
    Answer, CommitId, Digest, Envelope, Event, GateView, LogId, RunView, Status, TaskView,
    TestOutcome, Timestamp, Verdict,
};

use super::checks::{Checked, Reports, checked};
use crate::Run;

/// The JSON Schema of the run predicate.
pub const RUN_PREDICATE_SCHEMA: &str = include_str!("proof/run-predicate.schema.json");

/// The statement and predicate types of a proof.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
pub const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
pub const SVR: &str = "https://in-toto.io/attestation/svr/v0.1";
pub const RUN: &str = "urn:x-bosun:attestation:run:v0.1";
/// The verifier of the gates: this program, with the rules of the policy's digest.
pub const VERIFIER: &str = "urn:x-bosun:verifier:v0.1";
/// The namespace of SSH signatures over statements; a signature for any other does not count.
pub const NAMESPACE: &str = "bosun@attestation";

/// The longest command included verbatim in a statement.
const MOST_COMMAND: usize = 1_000;

/// The end of one of a run's logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead {
    pub log: LogId,
    pub lines: u64,
    pub head: Digest,
}

/// Facts that a proof needs besides the log.
#[derive(Debug, Clone, Copy)]
pub struct ProofFacts<'a> {
    /// The version of this program.
    pub version: &'a str,
    /// The tree of the result commit.
    pub tree: &'a str,
    pub logs: &'a [LogHead],
    pub reports: &'a Reports,
    pub now: Timestamp,
}

/// Why there is nothing to prove; `None` if there is.
#[must_use]
pub fn unprovable(view: &RunView) -> Option<&'static str> {
    match view.status {
        Status::Running => Some("it is not over yet; finish it with `bosun resume`"),
        Status::Waiting => {
            Some("it waits for an answer; `bosun questions` lists the open questions")
        }
        Status::Refused => Some("it was refused, so there is no result"),
        _ if view.head == view.base => Some("it changed nothing, so there is no result"),
        _ => None,
    }
}

/// The statements about a finished run, serialized as they are signed. The first is the run's own; it has the digests
/// of all others, so that none can be removed unnoticed.
#[must_use]
pub fn statements(run: &Run, lines: &[Envelope], facts: &ProofFacts<'_>) -> Vec<String> {
    let view = run.view(facts.now);
    let policy = run.policy_digest();
    let (mut all, mut list) = (Vec::new(), Vec::new());
    let mut add = |statement: &Value, mut entry: Value| {
        let text = statement.to_string();
        entry["digest"] = json!({ "sha256": Digest::of(text.as_bytes()) });
        list.push(entry);
        all.push(text);
    };
    for one in checked(lines) {
        let subject = subject(&name(&view, &one), one.commit, None);
        let tree = tree(&view, &one);
        let result = test_result(&one, tree, facts.reports);
        let mut entry = named(TEST_RESULT, &subject);
        entry["tree"] = json!(tree);
        entry["check"] = json!(one.what.name);
        entry["result"] = json!(verdict(&one));
        add(&statement(&subject, TEST_RESULT, &result), entry);
    }
    let result = subject(&view.branch, &view.head, Some(facts.tree));
    let gates = statement(&result, SVR, &svr(&view, policy.as_ref(), facts));
    add(&gates, named(SVR, &result));
    let mut predicate = predicate(&view, lines, policy.as_ref(), facts);
    predicate["statements"] = Value::Array(list);
    all.insert(0, statement(&result, RUN, &predicate).to_string());
    all
}

fn statement(subject: &Value, kind: &str, predicate: &Value) -> Value {
    json!({
        "_type": STATEMENT,
        "subject": [subject],
        "predicateType": kind,
        "predicate": predicate,
    })
}

fn subject(name: &str, commit: &CommitId, tree: Option<&str>) -> Value {
    let mut digest = json!({ "gitCommit": commit });
    if let Some(tree) = tree {
        digest["gitTree"] = json!(tree);
    }
    json!({ "name": name, "digest": digest })
}

/// The name of the commit that a check ran on.
fn name(view: &RunView, one: &Checked<'_>) -> String {
    match one.attempt() {
        Some(attempt) => attempt.to_string(),
        None if *one.commit == view.head => view.branch.clone(),
        None => one.place(),
    }
}

/// A statement as the run's own names it; the digest is added once known.
fn named(kind: &str, subject: &Value) -> Value {
    let commit = &subject["digest"]["gitCommit"];
    json!({ "predicateType": kind, "gitCommit": commit, "digest": null })
}

/// The tree that a check ran on. A merge that is no longer the result was an intermediate state of the branch.
fn tree(view: &RunView, one: &Checked<'_>) -> &'static str {
    match one.tree() {
        "merged" if *one.commit != view.head => "branch",
        tree => tree,
    }
}

/// A check that passed with a remark is a warning; one that did not pass has failed, regardless of the rules' decision.
fn verdict(one: &Checked<'_>) -> &'static str {
    let (end, tests) = (one.end, one.end.tests.as_deref());
    if !end.passed() || end.cannot_run.is_some() || end.untried.is_some() {
        return "FAILED";
    }
    let odd = tests.is_some_and(|tests| {
        !tests.complete || tests.failed > 0 || !tests.lost.is_empty() || !tests.failing.is_empty()
    });
    if odd || !end.rewrote.is_empty() || !end.left_out.is_empty() { "WARNED" } else { "PASSED" }
}

fn test_result(one: &Checked<'_>, tree: &str, reports: &Reports) -> Value {
    let verdict = verdict(one);
    let report = one.report(reports);
    let names = |outcome: TestOutcome| -> Vec<&str> {
        let cases = report.iter().flat_map(|report| &report.cases);
        cases.filter(|case| case.outcome == outcome).map(|case| case.name.as_str()).collect()
    };
    let (mut passed, mut failed) = (names(TestOutcome::Passed), names(TestOutcome::Failed));
    // A check without a list of tests is one test; one that failed although all its tests passed is one more.
    let whole = one.what.name.as_str();
    match verdict {
        "FAILED" if failed.is_empty() => failed.push(whole),
        "FAILED" => {}
        _ if report.is_none() => passed.push(whole),
        _ => {}
    }
    let mut own = json!({
        "tree": tree,
        "check": whole,
        "ended": one.end.ended.to_string(),
        "finishedOn": one.at,
    });
    if let Some(attempt) = one.attempt() {
        own["attempt"] = json!(attempt);
    }
    if let Some(why) = &one.end.cannot_run {
        own["cannotRun"] = json!(why);
    }
    if let Some(tests) = &one.end.tests {
        own["runner"] = json!(tests.runner);
        own["complete"] = json!(tests.complete);
        let (passed, failed, skipped) = (tests.passed, tests.failed, tests.skipped);
        own["counts"] = json!({ "passed": passed, "failed": failed, "skipped": skipped });
        own["skippedTests"] = json!(names(TestOutcome::Skipped));
        own["lostTests"] = json!(tests.lost);
        own["failedBeforeTests"] = json!(tests.excused);
    }
    json!({
        "result": verdict,
        "configuration": [configuration(one)],
        "passedTests": passed,
        "warnedTests": [],
        "failedTests": failed,
        "bosun": own,
    })
}

/// The command of a check, its only configuration here.
fn configuration(one: &Checked<'_>) -> Value {
    let command = &one.what.command;
    let digest = Digest::of(command.as_bytes());
    let mut descriptor = json!({
        "name": one.what.name,
        "digest": { "sha256": digest },
        "mediaType": "text/x-shellscript",
    });
    if command.len() <= MOST_COMMAND {
        descriptor["annotations"] = json!({ "command": command });
    }
    descriptor
}

/// The passed gates, as properties of the result.
fn svr(view: &RunView, policy: Option<&Digest>, facts: &ProofFacts<'_>) -> Value {
    let mut verifier = json!({ "id": VERIFIER, "version": facts.version });
    if let Some(digest) = policy {
        verifier["policy"] = json!({ "name": view.policy, "digest": { "sha256": digest } });
    }
    let passed = standing(view).into_iter().filter(|gate| gate.go);
    let properties: Vec<String> = passed.map(|gate| property(gate.phase.as_str())).collect();
    let time = view.ended.unwrap_or(facts.now);
    json!({ "verifier": verifier, "timeCreated": time, "properties": properties })
}

/// The name of a passed gate in a simple verification result.
fn property(phase: &str) -> String {
    format!("BOSUN_GATE_{}", phase.to_uppercase())
}

/// The last verdict of each gate, which replaces earlier ones.
fn standing(view: &RunView) -> Vec<&GateView> {
    let mut last: Vec<&GateView> = Vec::new();
    for gate in &view.gates {
        last.retain(|one| one.phase != gate.phase);
        last.push(gate);
    }
    last
}

fn predicate(
    view: &RunView,
    lines: &[Envelope],
    policy: Option<&Digest>,
    facts: &ProofFacts<'_>,
) -> Value {
    let heads = facts
        .logs
        .iter()
        .map(|log| json!({ "log": log.log, "lines": log.lines, "head": { "sha256": log.head } }));
    json!({
        "bosun": { "version": facts.version },
        "run": {
            "id": view.run,
            "goal": view.goal,
            "status": view.status,
            "startedOn": view.started,
            "finishedOn": view.ended,
            "provenOn": facts.now,
        },
        "base": { "gitCommit": view.base },
        "result": { "branch": view.branch, "gitCommit": view.head, "gitTree": facts.tree },
        "policy": { "name": view.policy, "digest": { "sha256": policy } },
        "logs": heads.collect::<Vec<_>>(),
        "models": models(lines),
        "sandbox": view.isolation.as_ref().map(|isolation| isolation.level),
        "tasks": view.tasks.iter().map(task).collect::<Vec<_>>(),
        "gates": standing(view).into_iter().map(gate).collect::<Vec<_>>(),
        "questions": questions(view),
    })
}

/// Every model that replied, in order of first reply.
fn models(lines: &[Envelope]) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for line in lines {
        if let Event::ModelReplied { model, .. } = &line.event {
            let model = model.to_string();
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    models
}

fn task(task: &TaskView) -> Value {
    json!({
        "id": task.id,
        "title": task.title,
        "stage": task.stage,
        "attempts": task.attempts,
        "gitCommit": task.commit,
        "evidence": task.evidence,
        "accepted": task.accepted_doubt(),
    })
}

fn gate(gate: &GateView) -> Value {
    let verdict = gate.card.as_ref().map(|card| card.verdict);
    let otherwise = if gate.go { Verdict::Go } else { Verdict::NoGo };
    json!({
        "phase": gate.phase,
        "go": gate.go,
        "verdict": verdict.unwrap_or(otherwise).as_str(),
        "score": gate.card.as_ref().map(|card| card.score),
        "rule": gate.decision.rule,
        "reason": gate.decision.reason,
    })
}

/// Questions answered by people; answers by the policy are excluded.
fn questions(view: &RunView) -> Vec<Value> {
    let answered = view.questions.iter().filter_map(|question| {
        let by = question.by.as_deref().filter(|by| *by != Answer::POLICY)?;
        Some(json!({
            "id": question.id,
            "rule": question.rule,
            "question": question.text,
            "choice": question.choice,
            "answer": question.answer.as_ref()?,
            "by": by,
        }))
    });
    answered.collect()
}

#[cfg(test)]
mod tests;
