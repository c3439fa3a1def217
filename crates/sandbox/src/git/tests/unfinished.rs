//! Accepting a result after an interrupted call: finished if only the move itself is incomplete, refused otherwise.

use super::*;

/// A repository with a commit that is ahead of the branch by a new file and a changed one.
async fn ahead() -> (Fixture, CommitId) {
    let fixture = fixture(&[("a", "1\n")]).await;
    let tree = fixture.worktree("t").await;
    put(&tree, "a", "2\n");
    put(&tree, "sub/b", "new text\n");
    let sealed = fixture.seal(&tree).await;
    (fixture, sealed.commit)
}

fn status(repo: &Repo) -> String {
    git(repo.root(), &["status", "--porcelain"])
}

#[tokio::test]
async fn a_move_that_was_cut_off_is_finished() {
    for being_written in ["new", "", "new text\n", "\0\0\0 text\n"] {
        let (fixture, result) = ahead().await;
        let repo = &fixture.repo;
        repo.note_move(&fixture.start, &result).expect("a note");
        std::fs::create_dir(repo.root().join("sub")).expect("a folder");
        std::fs::write(repo.root().join("sub/b"), being_written).expect("a file");
        std::fs::write(repo.common_dir().join("index.lock"), "").expect("a lock of the dead");
        repo.take(&result, None).await.expect("it is finished");
        assert_eq!(repo.head().await.expect("a commit"), result);
        assert_eq!(status(repo), "", "{being_written:?}");
        assert!(!repo.common_dir().join("bosun-accept").exists());
    }
}

/// A crash while a move is finished must not lose a file that the move does not change, so that file is not rewritten.
#[tokio::test]
async fn finishing_a_move_leaves_other_files_alone() {
    use std::os::unix::fs::MetadataExt as _;
    let fixture = fixture(&[("a", "1\n"), ("other", "as it was\n")]).await;
    let tree = fixture.worktree("t").await;
    put(&tree, "a", "2\n");
    let result = fixture.seal(&tree).await.commit;
    let repo = &fixture.repo;
    let other = repo.root().join("other");
    // Its modification time differs from the index.
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = std::fs::File::options().write(true).open(&other).expect("a file");
    file.set_modified(long_ago).expect("another time");
    let before = std::fs::metadata(&other).expect("a file");
    repo.note_move(&fixture.start, &result).expect("a note");
    std::fs::write(repo.root().join("a"), "2\n").expect("a file");
    repo.take(&result, None).await.expect("it is finished");
    let after = std::fs::metadata(&other).expect("a file");
    assert_eq!((after.ino(), after.mtime()), (before.ino(), before.mtime()));
    assert_eq!(status(repo), "");
}

#[tokio::test]
async fn work_of_the_persons_own_is_never_taken_for_half_a_move() {
    for (name, text) in [("sub/b", "mine"), ("a", "3\n")] {
        let (fixture, result) = ahead().await;
        let repo = &fixture.repo;
        repo.note_move(&fixture.start, &result).expect("a note");
        std::fs::create_dir(repo.root().join("sub")).expect("a folder");
        std::fs::write(repo.root().join(name), text).expect("a file");
        let refused = repo.take(&result, None).await;
        assert!(matches!(refused, Err(GitError::Dirty { .. })), "{name}: {refused:?}");
        assert_eq!(std::fs::read_to_string(repo.root().join(name)).expect("a file"), text);
        assert_eq!(repo.head().await.expect("a commit"), fixture.start);
    }
}

/// Uncommitted changes in files that the move does not touch stay, staged or not, also where a move is finished.
#[tokio::test]
async fn a_move_takes_place_beside_uncommitted_work() {
    for cut_off in [false, true] {
        let fixture = fixture(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n"), ("gone", "1\n")]).await;
        let tree = fixture.worktree("t").await;
        put(&tree, "a", "2\n");
        std::fs::remove_file(tree.join("gone")).expect("a file");
        let result = fixture.seal(&tree).await.commit;
        let repo = &fixture.repo;
        put(repo.root(), "b", "mine\n");
        put(repo.root(), "c", "mine, staged\n");
        put(repo.root(), "new", "mine\n");
        git(repo.root(), &["add", "c"]);
        if cut_off {
            repo.note_move(&fixture.start, &result).expect("a note");
            put(repo.root(), "a", "2");
        }
        repo.take(&result, None).await.expect("it is finished");
        assert_eq!(repo.head().await.expect("a commit"), result);
        let lines = status(repo);
        assert_eq!(lines.lines().map(str::trim).collect::<Vec<_>>(), ["M b", "M  c", "?? new"]);
    }
}

/// Neither uncommitted changes in the same files are overwritten, nor untracked or ignored files in their place.
#[tokio::test]
async fn uncommitted_work_in_the_way_is_named_and_stays() {
    let cases = [("a", "mine\n"), ("sub", "mine\n"), ("sub/b", "mine\n"), ("a.log", "mine\n")];
    for (name, text) in cases {
        let fixture = fixture(&[("a", "1\n"), (".gitignore", "*.log\n")]).await;
        let tree = fixture.worktree("t").await;
        put(&tree, "a", "2\n");
        put(&tree, "sub/b", "new text\n");
        put(&tree, "a.log", "new text\n");
        git(&tree, &["add", "--all", "--force"]);
        git(&tree, &["commit", "--quiet", "--message=x"]);
        let result = CommitId(git(&tree, &["rev-parse", "HEAD"]));
        let repo = &fixture.repo;
        put(repo.root(), name, text);
        let refused = repo.take(&result, None).await.expect_err("it is in the way").to_string();
        assert!(refused.contains(name), "{name}: {refused}");
        assert_eq!(std::fs::read_to_string(repo.root().join(name)).expect("a file"), text);
        assert_eq!(repo.head().await.expect("a commit"), fixture.start);
        assert!(!repo.common_dir().join("bosun-accept").exists());
    }
}

/// Without a record nothing is changed, even if the files are those of the result.
#[tokio::test]
async fn only_a_move_that_was_noted_is_finished() {
    let (fixture, result) = ahead().await;
    let repo = &fixture.repo;
    std::fs::write(repo.root().join("a"), "2\n").expect("a file");
    let refused = repo.take(&result, None).await;
    assert!(matches!(refused, Err(GitError::Dirty { .. })), "{refused:?}");
}
