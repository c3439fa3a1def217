//! Tests of which files count as uncommitted work, and of the commit with them.

use super::*;

/// The files with uncommitted changes that a survey lists.
async fn listed(repo: &Repo) -> Vec<String> {
    repo.survey().await.expect("a survey").uncommitted
}

#[tokio::test]
async fn uncommitted_work_is_listed_and_ignored_files_are_not_work() {
    let fixture = fixture(&[("a", "1"), (".gitignore", "*.log\n")]).await;
    put(fixture.repo.root(), "x.log", "");
    assert_eq!(listed(&fixture.repo).await, [""; 0]);
    put(fixture.repo.root(), "new", "");
    put(fixture.repo.root(), "a", "2");
    assert_eq!(listed(&fixture.repo).await, ["a", "new"]);
}

/// M25: logs and plans left by runs are not the user's work, whether their folder is tracked or not; other files are.
#[tokio::test]
async fn what_runs_have_left_is_not_work() {
    let fixture = fixture(&[("a", "1")]).await;
    put(fixture.repo.root(), "runs/20251002-110000.log.jsonl", "{}\n");
    put(fixture.repo.root(), "runs/plan_0001.json", "{}\n");
    assert_eq!(listed(&fixture.repo).await, [""; 0]);
    put(fixture.repo.root(), "runs/mine.txt", "");
    assert_eq!(listed(&fixture.repo).await, ["runs/mine.txt"]);
}

/// Files written by the program itself are not the user's work, unless staged.
#[tokio::test]
async fn own_files_are_not_work() {
    let fixture = fixture(&[("a", "1"), ("ours", "1")]).await;
    let repo = fixture.repo.clone().disregarding(|text| text.starts_with("ours"));
    for path in ["ours", "new/x", "y"] {
        put(repo.root(), path, "ours\n");
    }
    assert_eq!(listed(&repo).await, [""; 0]);
    assert_eq!(listed(&fixture.repo).await.len(), 3, "unless nobody says so");
    put(repo.root(), "new/z", "theirs\n");
    assert_eq!(listed(&repo).await, ["new/z"]);
}

/// A commit with the person's changes has all of them and nothing else, and changes neither files nor index nor branch.
#[tokio::test]
async fn uncommitted_work_becomes_a_commit_of_its_own() {
    let fixture =
        fixture(&[("a", "1\n"), ("b", "1\n"), ("gone", "1\n"), (".gitignore", "x\n")]).await;
    let repo = fixture.repo.clone().disregarding(|text| text.starts_with("ours"));
    let scratch = fixture.dir.path().join("scratch");
    let make = || repo.commit_uncommitted(("Mine\n", Timestamp::from_millis(1)), &scratch);
    assert_eq!(make().await.expect("it can be made"), None, "there is nothing yet");
    put(repo.root(), "a", "2\n");
    put(repo.root(), "b", "staged\n");
    git(repo.root(), &["add", "b"]);
    put(repo.root(), "new/file", "3\n");
    put(repo.root(), "x", "ignored\n");
    put(repo.root(), "y", "ours\n");
    put(repo.root(), ".env", "PASSWORD=x\n");
    std::fs::remove_file(repo.root().join("gone")).expect("a file");
    let before = git(repo.root(), &["status", "--porcelain"]);
    let commit = make().await.expect("it can be made").expect("there are changes");
    let changed = git(repo.root(), &["diff", "--name-status", &fixture.start.0, &commit.0]);
    assert_eq!(changed, "M\ta\nM\tb\nD\tgone\nA\tnew/file");
    assert_eq!(git(repo.root(), &["status", "--porcelain"]), before);
    assert_eq!(repo.head().await.expect("a commit"), fixture.start);
    assert!(!scratch.exists());
}
