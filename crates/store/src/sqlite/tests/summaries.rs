//! Summaries are valid exactly as long as their writer confirms them; and a journal of version 1 is migrated to version
//! 2, with a copy kept.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn summary(text: &str) -> Summary {
    Summary { form: 1, text: text.to_owned(), whole: Some(format!("whole {text}")) }
}

async fn stored(journal: &SqliteJournal) -> Vec<Option<Summary>> {
    let found = journal.summaries(true).await.expect("summaries");
    found.into_iter().map(|(_, summary)| summary).collect()
}

/// Appends lines, confirming a summary.
async fn vouch(
    journal: &SqliteJournal,
    lease: &Lease,
    expect: u64,
    lines: usize,
    new: Option<&str>,
) {
    let events: Vec<Clean> = (0..lines).flat_map(|n| said(format!("line {n}"))).collect();
    let batch = Batch { expect, at: Timestamp::from_millis(0), events: &events, taken: None };
    let appended = journal.append_summarized(lease, batch, new.map(summary)).await;
    assert_eq!(appended.expect("an append").len(), lines);
}

#[tokio::test]
async fn a_summary_holds_as_long_as_somebody_vouches_for_it() {
    let (_folder, path) = folder();
    let journal = open(&path).await;
    let lease = journal.lease(&log("r_ab")).await.expect("a lease");
    vouch(&journal, &lease, 0, 1, Some("one")).await;
    assert_eq!(stored(&journal).await, [Some(summary("one"))]);
    // With one line, with several, and with many.
    vouch(&journal, &lease, 1, 2, None).await;
    vouch(&journal, &lease, 3, 40, None).await;
    assert_eq!(stored(&journal).await, [Some(summary("one"))]);
    vouch(&journal, &lease, 43, 40, Some("two")).await;
    assert_eq!(stored(&journal).await, [Some(summary("two"))]);
    append(&journal, &lease, 83, "nobody vouches").await.expect("an append");
    assert_eq!(stored(&journal).await, [None]);
    journal.put_summary(&log("r_ab"), 83, summary("late")).await.expect("it is not stored");
    assert_eq!(stored(&journal).await, [None]);
    journal.put_summary(&log("r_ab"), 84, summary("right")).await.expect("it is stored");
    assert_eq!(stored(&journal).await, [Some(summary("right"))]);
    let short = journal.summaries(false).await.expect("summaries");
    assert_eq!(short[0].1.as_ref().and_then(|summary| summary.whole.clone()), None);
    filled(&journal, &log("r_ab/T1.1"), 2).await;
    assert_eq!(stored(&journal).await.len(), 1, "attempts are not listed");
}

#[tokio::test]
async fn an_older_journal_is_upgraded_and_a_copy_of_it_is_kept() {
    let (folder, path) = folder();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../bosun/tests/fixtures/journals/v1/journal.db");
    std::fs::copy(fixture, &path).expect("a copy");
    let (here, there) = tokio::join!(open(&path), open(&path));
    let copies: Vec<&Path> =
        [&here, &there].into_iter().filter_map(|one| one.kept_copy()).collect();
    let copy = folder.path().join("journal.v1.db");
    assert_eq!(copies, [copy.as_path()], "one of them upgrades it");
    let mode = std::fs::metadata(&copy).expect("the copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!folder.path().join("journal.v1.part").exists());
    let logs = here.logs(None).await.expect("the logs");
    assert_eq!(logs.len(), 12);
    for log in &logs {
        assert_eq!(here.verify(&log.log).await.expect("an intact log"), *log);
    }
    assert!(stored(&here).await.iter().all(Option::is_none), "none was made yet");
    drop((here, there));
    assert_eq!(open(&path).await.kept_copy(), None, "it is done once");
    // The copy is a journal too.
    let restored = open(&copy).await;
    assert_eq!(restored.logs(None).await.expect("the logs"), logs);
}
