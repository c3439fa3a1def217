//! Tests of a repository shared by several processes, and of differences between its commits.

use super::*;

/// Two processes on one repository: each has its own handle, and only one of them can access the list of worktrees.
#[tokio::test]
async fn only_one_of_several_processes_is_at_the_list_of_worktrees() {
    let fixture = fixture(&[("a", "1")]).await;
    let other = Repo::discover(fixture.repo.root()).await.expect("the same repository");
    let alone = fixture.repo.alone().await.expect("nobody else is there");
    tokio::select! {
        biased;
        _ = other.alone() => panic!("both are alone"),
        () = tokio::task::yield_now() => {}
    }
    drop(alone);
    other.alone().await.expect("the other one is gone");
}

#[tokio::test]
async fn a_diff_has_only_what_was_asked_for_and_no_lines_around() {
    let fixture = fixture(&[("tests/a.py", "one\ntwo\nthree\n"), ("b", "1\n")]).await;
    let tree = fixture.worktree("t").await;
    put(&tree, "tests/a.py", "one\n2\nthree\n");
    put(&tree, "b", "2\n");
    let sealed = fixture.seal(&tree).await;
    let path = "tests/a.py".parse().expect("a path");
    let diff = fixture.repo.diff(&fixture.start, &sealed.commit, &[path]).await.expect("a diff");
    let lines: Vec<&str> = diff.lines().filter(|line| !line.starts_with("index")).collect();
    assert_eq!(
        lines,
        [
            "diff --git a/tests/a.py b/tests/a.py",
            "--- a/tests/a.py",
            "+++ b/tests/a.py",
            "@@ -2 +2 @@ one",
            "-two",
            "+2",
        ]
    );
    assert_eq!(fixture.repo.diff(&fixture.start, &sealed.commit, &[]).await.expect("none"), "");
}

/// Commits that a user put on a run's branch are kept.
#[tokio::test]
async fn a_branch_is_taken_back_or_removed_only_from_where_it_was_left() {
    let fixture = fixture(&[("a", "1")]).await;
    let (repo, start) = (&fixture.repo, &fixture.start);
    let [one, two] = [0, 1].map(|_| commit(repo.root(), &[]));
    let end = || git(repo.root(), &["for-each-ref", "--format=%(objectname)", "refs/heads/run"]);
    repo.take_off("run", &two, &one).await.expect("there is none");
    repo.drop_branch("run", &one).await.expect("there is none");
    repo.point_branch("run", &two).await.expect("a branch");
    repo.take_off("run", start, &one).await.expect("it ends elsewhere");
    assert_eq!(end(), two.0);
    repo.take_off("run", &two, &one).await.expect("it ended there");
    assert_eq!(end(), one.0);
    let refused = repo.drop_branch("run", &two).await.expect_err("it ends elsewhere").to_string();
    assert!(refused.contains(&one.0) && refused.contains("run"), "{refused}");
    assert_eq!(end(), one.0);
    repo.drop_branch("run", &one).await.expect("it ends there");
    assert_eq!(end(), "");
}

/// The user's own worktree may be on a disk that is temporarily unavailable.
#[tokio::test]
async fn the_persons_own_worktrees_stay_registered_while_their_folders_are_away() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let own = fixture.dir.path().join("own");
    git(fixture.repo.root(), &["worktree", "add", "--detach", &own.to_string_lossy()]);
    std::fs::remove_dir_all(&own).expect("it can be removed");
    let tree = fixture.worktree("T1.1").await;
    fixture.repo.remove_worktree(&tree).await.expect("it can be removed");
    let listed = git(fixture.repo.root(), &["worktree", "list", "--porcelain"]);
    assert!(listed.contains("/own"), "{listed}");
    assert!(!listed.contains("T1.1"), "{listed}");
}

/// A power failure may leave empty files, which keep git from creating worktrees.
#[tokio::test]
async fn registrations_that_a_crash_has_torn_are_forgotten() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let tree = fixture.worktree("T1.1").await;
    let list = fixture.repo.common_dir().join("worktrees");
    std::fs::write(list.join("T1.1/commondir"), "").expect("it can be written");
    std::fs::create_dir(list.join("half")).expect("a folder");
    let below = tree.parent().expect("a folder").to_owned();
    assert_eq!(fixture.repo.forget_worktrees(&below).await.expect("it can be read"), 2);
    fixture.repo.add_worktree(&tree, &fixture.start).await.expect("it can be made anew");
    assert_eq!(fixture.repo.forget_worktrees(&below).await.expect("it can be read"), 0);
}

#[tokio::test]
async fn a_list_of_worktrees_that_a_crash_has_left_empty_is_removed() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let list = fixture.repo.common_dir().join("worktrees");
    std::fs::create_dir(&list).expect("a folder");
    let below = fixture.dir.path();
    assert_eq!(fixture.repo.forget_worktrees(below).await.expect("it can be read"), 0);
    assert!(!list.exists(), "nothing is left");
}

#[tokio::test]
async fn a_registration_with_a_pipe_or_a_device_is_neither_waited_for_nor_forgotten() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let list = fixture.repo.common_dir().join("worktrees");
    for name in ["pipe", "endless"] {
        std::fs::create_dir_all(list.join(name)).expect("a folder");
    }
    let (pipe, kind) = (list.join("pipe/gitdir"), rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    std::os::unix::fs::symlink("/dev/zero", list.join("endless/gitdir")).expect("a link");
    let below = fixture.dir.path();
    assert_eq!(fixture.repo.forget_worktrees(below).await.expect("it can be read"), 0);
}

#[tokio::test]
async fn a_registration_whose_content_a_power_cut_lost_stands_in_nobodys_way() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let own = fixture.dir.path().join("own");
    git(fixture.repo.root(), &["worktree", "add", "--detach", &own.to_string_lossy()]);
    let tree = fixture.worktree("T1.1").await;
    let list = fixture.repo.common_dir().join("worktrees");
    for name in ["own", "T1.1"] {
        let link = list.join(name).join("gitdir");
        let length = std::fs::read(&link).expect("it can be read").len();
        std::fs::write(&link, vec![0; length]).expect("it can be written");
    }
    std::fs::write(list.join("T1.1/commondir"), "").expect("it can be written");
    let below = tree.parent().expect("a folder");
    assert_eq!(fixture.repo.forget_worktrees(below).await.expect("it can be read"), 1);
    fixture.repo.add_worktree(&tree, &fixture.start).await.expect("it can be made anew");
    git(&own, &["worktree", "repair"]);
    let listed = git(fixture.repo.root(), &["worktree", "list", "--porcelain"]);
    assert!(listed.contains("/own"), "{listed}");
}

/// Git holds a lock with this word while it creates a worktree, and writes the index last.
#[tokio::test]
async fn a_worktree_that_git_was_making_at_a_power_cut_is_forgotten() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let list = fixture.repo.common_dir().join("worktrees");
    let names = ["locked", "lost-lock", "no-index", "of-a-person", "without-reason"];
    for name in names {
        let dir = fixture.dir.path().join(name);
        git(fixture.repo.root(), &["worktree", "add", "--detach", &dir.to_string_lossy()]);
        let link = list.join(name).join("gitdir");
        let length = std::fs::read(&link).expect("it can be read").len();
        std::fs::write(&link, vec![0; length]).expect("it can be written");
    }
    let lock = |name: &str, reason: &str| {
        std::fs::write(list.join(name).join("locked"), reason).expect("it can be written");
    };
    lock("locked", "initializing\n");
    lock("lost-lock", "\0\0\0\0\0\0\0\0\0\0\0\0\n");
    lock("of-a-person", "on a disk that is away\n");
    lock("without-reason", "");
    std::fs::remove_file(list.join("no-index/index")).expect("it can be removed");
    let below = fixture.dir.path().join("elsewhere");
    assert_eq!(fixture.repo.forget_worktrees(&below).await.expect("it can be read"), 3);
    let left: Vec<bool> = names.iter().map(|name| list.join(name).exists()).collect();
    assert_eq!(left, [false, false, false, true, true]);
}

#[tokio::test]
async fn the_lock_of_a_git_command_that_was_killed_does_not_stop_a_branch() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let heads = fixture.repo.common_dir().join("refs/heads/bosun");
    std::fs::create_dir_all(&heads).expect("a folder");
    std::fs::write(heads.join("x.lock"), "").expect("it can be written");
    fixture.repo.point_branch("bosun/x", &fixture.start).await.expect("a branch");
    let packed = fixture.repo.common_dir().join("packed-refs.lock");
    std::fs::write(&packed, "").expect("it can be written");
    fixture.repo.clear_packed_refs_lock().await.expect("it can be removed");
    assert!(!packed.exists());
}
