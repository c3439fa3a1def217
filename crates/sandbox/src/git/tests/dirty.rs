//! Tests of which files count as uncommitted work.

use super::*;

#[tokio::test]
async fn uncommitted_work_is_refused_and_ignored_files_are_not_work() {
    let fixture = fixture(&[("a", "1"), (".gitignore", "*.log\n")]).await;
    put(fixture.repo.root(), "x.log", "");
    fixture.repo.survey().await.expect("an ignored file does not count");
    put(fixture.repo.root(), "new", "");
    put(fixture.repo.root(), "a", "2");
    match fixture.repo.survey().await {
        Err(GitError::Dirty { paths, count: 2 }) => assert_eq!(paths, ["a", "new"]),
        other => panic!("{other:?}"),
    }
}

/// M25: logs and plans left by runs are not the user's work, whether their folder is tracked or not; other files are.
#[tokio::test]
async fn what_runs_have_left_is_not_work() {
    let fixture = fixture(&[("a", "1")]).await;
    put(fixture.repo.root(), "runs/20251002-110000.log.jsonl", "{}\n");
    put(fixture.repo.root(), "runs/plan_0001.json", "{}\n");
    fixture.repo.survey().await.expect("records do not count");
    put(fixture.repo.root(), "runs/mine.txt", "");
    match fixture.repo.survey().await {
        Err(GitError::Dirty { paths, count: 1 }) => assert_eq!(paths, ["runs/mine.txt"]),
        other => panic!("{other:?}"),
    }
}

/// Files written by the program itself are not the user's work, unless staged.
#[tokio::test]
async fn own_files_are_not_work() {
    let fixture = fixture(&[("a", "1"), ("ours", "1")]).await;
    let repo = fixture.repo.clone().disregarding(|text| text.starts_with("ours"));
    for path in ["ours", "new/x", "y"] {
        put(repo.root(), path, "ours\n");
    }
    repo.survey().await.expect("they do not count");
    assert!(fixture.repo.survey().await.is_err(), "unless nobody says so");
    put(repo.root(), "new/z", "theirs\n");
    match repo.survey().await {
        Err(GitError::Dirty { paths, count: 1 }) => assert_eq!(paths, ["new/z"]),
        other => panic!("{other:?}"),
    }
}
