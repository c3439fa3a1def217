//! A bundle is verified without its journal, and every manipulation is detected.

use std::sync::Arc;

use serde_json::{Value, json};
use store::{Journal as _, MemoryJournal};
use types::{Digest, LogId, RunId, Timestamp};

use super::{Anchor, AuditError, Held, anchors, compare, export, held, read_anchors, verify};
use crate::{Bosun, Config, NewSession};

const SCRIPT: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "two\n" }
[[attempt.reply]]
say = "It is written."
"#;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// The journal and the bundle of a short conversation.
async fn bundle() -> (Arc<MemoryJournal>, RunId, Vec<Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("a folder");
    let journal = Arc::new(MemoryJournal::new());
    let bosun = Bosun::new(Config::new(journal.clone(), folder.path().join("state")));
    let model = bosun.keep_script(SCRIPT).await.expect("a script");
    let new = NewSession::new(&work, model).expect("the preset");
    let session = bosun.open(new).await.expect("a session");
    session.submit("Write two to a.txt").await.expect("it is idle");
    session.rest().await;
    session.abort().await.expect("it is closed");
    let run = session.id().clone();
    let mut file = Vec::new();
    export(&*journal, &run, "a test", NOW, &mut file).await.expect("a bundle");
    let text = String::from_utf8(file).expect("text");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (journal, run, records.collect())
}

fn verified(records: &[Value]) -> Result<super::Verified, AuditError> {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    verify(text.as_bytes())
}

/// The lines of the only log, rehashed after changing one of them.
fn rehashed(records: &[Value], change: impl Fn(&mut Value)) -> Vec<Value> {
    let mut records = records.to_vec();
    let mut head = Digest::ZERO;
    let mut lines = 0;
    for record in records.iter_mut().filter(|record| record["line"].is_string()) {
        let mut line: Value =
            serde_json::from_str(record["line"].as_str().expect("a line")).expect("JSON");
        change(&mut line);
        line["prev"] = json!(head);
        let text = line.to_string();
        head = Digest::of(text.as_bytes());
        lines += 1;
        record["line"] = json!(text);
    }
    records[0]["logs"][0]["head"] = json!(head);
    records[0]["logs"][0]["lines"] = json!(lines);
    records
}

#[tokio::test]
async fn a_bundle_is_verified_and_replayed_without_a_journal() {
    let (_, run, records) = bundle().await;
    let verified = verified(&records).expect("it is whole");
    assert_eq!((&verified.run, verified.logs.len()), (&run, 1));
    assert_eq!(verified.report.difference, None);
    assert_eq!(verified.report.events as u64, verified.logs[0].lines);
    assert!(verified.blobs >= 2, "policy and script: {}", verified.blobs);
}

#[tokio::test]
async fn whatever_is_done_to_a_bundle_is_noticed() {
    let (_, _, records) = bundle().await;
    let lines = records.iter().filter(|record| record["line"].is_string()).count();
    for place in 1..=lines {
        let mut without = records.clone();
        without.remove(place);
        assert!(matches!(verified(&without), Err(AuditError::Changed(_))), "without {place}");
        let mut changed = records.clone();
        let line = changed[place]["line"].as_str().expect("a line").replace("\"v\":1", "\"v\": 1");
        changed[place]["line"] = json!(line);
        assert!(matches!(verified(&changed), Err(AuditError::Changed(_))), "changed {place}");
    }
    for place in lines + 1..records.len() {
        let mut without = records.clone();
        without.remove(place);
        let found = verified(&without).expect_err("a blob is missing");
        assert!(matches!(found, AuditError::Changed(_) | AuditError::Policy(_)), "{found}");
        let mut changed = records.clone();
        changed[place]["base64"] = json!("AAAA");
        assert!(matches!(verified(&changed), Err(AuditError::Changed(_))), "changed {place}");
    }
}

#[tokio::test]
async fn a_log_that_was_made_up_and_hashed_anew_is_decided_otherwise() {
    let (_, _, records) = bundle().await;
    let same = rehashed(&records, |_| {});
    assert_eq!(verified(&same).expect("it is whole").report.difference, None);
    let forged = rehashed(&records, |line| {
        if line["event"] == "tool.started" {
            line["data"]["decision"]["reason"] = json!("the boss said so");
        }
    });
    let found = verified(&forged).expect("its chain is whole").report.difference;
    let fields = found.expect("a difference").fields();
    assert_eq!(fields[0].name, "decision.reason");
    assert_eq!(fields[0].recorded.as_deref(), Some("\"the boss said so\""));
}

#[tokio::test]
async fn what_is_no_bundle_is_called_that() {
    let (_, _, records) = bundle().await;
    let of = |bytes: &[u8]| verify(bytes).map(|_| ()).expect_err("it is none");
    assert!(matches!(of(b""), AuditError::NotABundle { .. }));
    assert!(matches!(of(b"PK\x03\x04\xff\xfe"), AuditError::NotABundle { .. }));
    assert!(matches!(of(b"{\"format\":7}\n"), AuditError::NotABundle { .. }));
    assert!(matches!(of(b"{\"format\":\"bosun.audit/9\"}\n"), AuditError::OtherFormat { .. }));
    let long = vec![b'x'; super::MAX_RECORD_BYTES + 10];
    assert!(matches!(of(&long), AuditError::NotABundle { .. }));
    let with = |record: Value| {
        let mut records = records.clone();
        records.push(record);
        verified(&records).map(|_| ()).expect_err("it is none")
    };
    let foreign = json!({"log": "r_other", "line": "{}"});
    assert!(matches!(with(foreign), AuditError::Record { .. }));
    assert!(matches!(with(json!({"path": "/etc/passwd"})), AuditError::Record { .. }));
    let mut twice = records.clone();
    twice[0]["logs"] = json!([records[0]["logs"][0], records[0]["logs"][0]]);
    assert!(matches!(verified(&twice), Err(AuditError::NotABundle { .. })));
}

#[tokio::test]
async fn an_anchor_shows_a_log_that_was_written_anew() {
    let (journal, run, records) = bundle().await;
    let made = anchors(&*journal, &run, NOW).await.expect("anchors");
    let text: String =
        made.iter().map(|one| serde_json::to_string(one).expect("JSON") + "\n\n").collect();
    let read = read_anchors(&text).expect("anchors");
    assert_eq!(read, made);
    let anchor: &Anchor = &read[0];
    let whole = verified(&records).expect("it is whole");
    assert_eq!(compare(anchor, whole.held(&anchor.log, anchor.lines)), None);
    let now = held(&*journal, &anchor.log, anchor.lines).await.expect("a line");
    assert_eq!(compare(anchor, now), None);
    let forged = rehashed(&records, |line| line["by"] = json!("engine"));
    let forged = verified(&forged).expect("its chain is whole");
    let wrong = compare(anchor, forged.held(&anchor.log, anchor.lines)).expect("it differs");
    assert!(wrong.contains("when it was anchored"), "{wrong}");
    let longer = Anchor { lines: anchor.lines + 1, ..anchor.clone() };
    let now = held(&*journal, &longer.log, longer.lines).await.expect("an answer");
    assert_eq!(now, Held::Shorter(anchor.lines));
    let other = LogId::run(RunId::fixed("r_other"));
    assert_eq!(held(&*journal, &other, 1).await.expect("an answer"), Held::NoLog);
    assert!(read_anchors("not an anchor").is_err());
    assert_eq!(journal.logs(None).await.expect("logs").len(), 1, "nothing was written");
}
