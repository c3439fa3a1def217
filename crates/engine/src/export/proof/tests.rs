//! Proofs of simulated runs: their contents, and the detection of inconsistent statements. Tests with real signatures
//! and runs are in the `bosun` crate.

use serde_json::Value;
use types::{Digest, RunId, Status};

use super::*;
use crate::testing::{Bench, new_run, planned};

fn finished() -> Bench<Run> {
    let mut bench = planned("T1 src/a.rs");
    bench.tell(
        "T1.1 hands in src/a.rs\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0",
    );
    assert_eq!(bench.machine.view(bench.now).status, Status::Done);
    bench
}

fn proof(bench: &Bench<Run>) -> Vec<String> {
    let log = LogId::run(RunId::fixed("r_test"));
    let logs = [LogHead { log, lines: 9, head: Digest::of(b"last") }];
    let (reports, tree) = (Reports::new(), "t".repeat(40));
    let facts = ProofFacts {
        version: "1.2.3",
        tree: &tree,
        logs: &logs,
        reports: &reports,
        now: bench.now,
    };
    statements(&bench.machine, &bench.lines(), &facts)
}

fn read(statements: &[String]) -> Result<Examined, String> {
    let payloads: Vec<&[u8]> = statements.iter().map(String::as_bytes).collect();
    examine(&payloads)
}

fn problems(statements: &[String]) -> Vec<String> {
    read(statements).expect("a proof").problems
}

/// The run's statements with one value changed.
fn changed(statements: &[String], pointer: &str, to: Value) -> Vec<String> {
    let mut statements = statements.to_vec();
    let mut own: Value = serde_json::from_str(&statements[0]).expect("JSON");
    *own.pointer_mut(pointer).expect("it is there") = to;
    statements[0] = own.to_string();
    statements
}

#[test]
fn the_statements_of_a_run_agree_and_name_each_other() {
    let statements = proof(&finished());
    let examined = read(&statements).expect("a proof");
    assert_eq!(examined.problems, Vec::<String>::new());
    assert_eq!(examined.parts.len(), statements.len());
    assert_eq!((examined.claims.run.status, examined.others), (Status::Done, 0));
    let kinds = examined.claims.statements.iter().map(|one| one.predicate_type.as_str());
    let kinds: Vec<&str> = kinds.collect();
    assert_eq!(kinds.last(), Some(&SVR));
    assert!(kinds.contains(&TEST_RESULT), "{kinds:?}");
}

#[test]
fn what_a_person_answered_is_stated() {
    let mut bench = new_run();
    bench.tell("begin fix it\nanswer 0 The login page shows the wrong title");
    bench.tell("plan.1 plans T1 src/a.rs\nT1.1 hands in src/a.rs\ncheck T1.1/0 exits 0");
    bench.tell("merge T1 lands\ncheck merged/0 exits 0");
    let claims = read(&proof(&bench)).expect("a proof").claims;
    let answers: Vec<&str> = claims.questions.iter().map(|one| one.answer.as_str()).collect();
    assert_eq!(answers, ["The login page shows the wrong title"]);
}

#[test]
fn statements_that_do_not_agree_are_noticed() {
    let statements = proof(&finished());
    for (pointer, to, says) in [
        ("/predicate/result/gitCommit", json!("0".repeat(40)), "a different commit"),
        ("/subject/0/digest/gitTree", json!("0".repeat(40)), "a different tree"),
        ("/predicate/gates/0/go", json!(false), "the passed gates"),
        ("/predicate/policy/digest/sha256", json!("1".repeat(64)), "a different policy"),
        ("/predicate/statements/0/result", json!("WARNED"), "a different result"),
        ("/predicate/statements/0/digest/sha256", json!("1".repeat(64)), "is missing"),
        ("/predicate/statements", json!([]), "the statement about the gates is missing"),
        ("/_type", json!("https://example.org/"), "not an in-toto statement"),
    ] {
        let found = problems(&changed(&statements, pointer, to));
        assert!(found.iter().any(|one| one.contains(says)), "{pointer}: {found:?}");
    }
    let two = [statements.as_slice(), statements.as_slice()].concat();
    let told = read(&two).expect_err("two runs");
    assert!(told.contains("2 statements about a run"), "{told}");
    assert!(examine(&[]).is_err());
}

#[test]
fn what_is_not_over_or_has_no_result_is_not_proven() {
    let view = |bench: &Bench<Run>| bench.machine.view(bench.now);
    assert_eq!(unprovable(&view(&finished())), None);
    assert!(unprovable(&view(&planned("T1 src/a.rs"))).is_some_and(|why| why.contains("not over")));
    let mut refused = new_run();
    refused.tell("begin Write ransomware");
    assert!(unprovable(&view(&refused)).is_some_and(|why| why.contains("refused")));
    let mut cancelled = planned("T1 src/a.rs");
    cancelled.tell("cancel");
    cancelled.tell("T1.1 is cancelled");
    assert!(unprovable(&view(&cancelled)).is_some_and(|why| why.contains("changed nothing")));
}
